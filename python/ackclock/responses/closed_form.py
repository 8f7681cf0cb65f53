"""Closed forms of the mean window under loss, and of the utilisation with a small buffer.

Each form assumes periodic loss, growth without delay, and no timeouts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

#: The parameters of an algorithm, by key.
Parameters = Mapping[str, Any]


def mean_window(parameters: Parameters, loss: float, rtt_s: float) -> float | None:
    """Return the mean window in segments at a loss rate, or None without a closed form."""
    form = _WINDOWS.get(str(parameters["kind"]))
    return None if form is None else form(parameters, loss, rtt_s)


def buffer_utilization(parameters: Parameters, buffer_bdp: float) -> float | None:
    """Return the utilisation of a single flow behind a drop-tail buffer, or None without a closed form."""
    law = _LINEAR.get(str(parameters["kind"]))
    if law is None:
        return None
    _, remaining = law(parameters)
    highest = 1 + buffer_bdp
    lowest = remaining * highest
    if lowest >= 1:
        return 1.0
    # The window grows by a constant per RTT. The RTT is 1 up to the BDP, and the window over the BDP above.
    sent = (highest**2 - lowest**2) / 2
    return sent / (1 - lowest + (highest**2 - 1) / 2)


def aimd_window(increase: float, remaining: float, loss: float) -> float:
    """Return the mean window of AIMD: a sawtooth of 1/p segments (Mathis et al. 1997, Yang and Lam 2000)."""
    return math.sqrt(increase * (1 + remaining) / (2 * (1 - remaining) * loss))


def _reno(parameters: Parameters) -> tuple[float, float]:
    return 1.0, 0.5


def _aimd(parameters: Parameters) -> tuple[float, float]:
    return float(parameters["increase"]), float(parameters["remaining"])


def _gaimd(parameters: Parameters) -> tuple[float, float]:
    remaining = float(parameters["remaining"])
    increase = parameters.get("increase")
    return 4 * (1 - remaining**2) / 3 if increase is None else float(increase), remaining


def _binomial(total: float) -> Callable[[Parameters, float, float], float]:
    """Return the form of small decreases for the sum of k and l (Bansal and Balakrishnan 2001)."""

    def window(parameters: Parameters, loss: float, rtt_s: float) -> float:
        ratio = float(parameters["increase"]) / float(parameters["decrease"])
        return float((ratio / loss) ** (1 / (total + 1)))

    return window


def _any_binomial(parameters: Parameters, loss: float, rtt_s: float) -> float:
    return _binomial(float(parameters["k"]) + float(parameters["l"]))(parameters, loss, rtt_s)


def _linear(parameters: Parameters, loss: float, rtt_s: float) -> float:
    return aimd_window(*_LINEAR[str(parameters["kind"])](parameters), loss)


def _mimd(parameters: Parameters, loss: float, rtt_s: float) -> float:
    """Return 1/p segments over the round trips of a cycle."""
    round_trips = math.log(1 / float(parameters["remaining"])) / math.log1p(float(parameters["increase"]))
    return 1 / (loss * round_trips)


def _cubic(parameters: Parameters, loss: float, rtt_s: float) -> float:
    """Return equation 5 of RFC 9438, or the window of the Reno-friendly region."""
    beta, c = float(parameters["remaining"]), float(parameters["c"])
    cubic: float = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25 * (rtt_s / loss) ** 0.75
    increase = 3 * (1 - beta) / (1 + beta)
    return max(cubic, aimd_window(increase, beta, loss)) if parameters["reno_friendly"] else cubic


def _scalable(parameters: Parameters, loss: float, rtt_s: float) -> float:
    """Return the window of MIMD, or Reno's below `low_window`."""
    law = {"increase": parameters["increase"], "remaining": 1 - parameters["decrease"]}
    window = _mimd(law, loss, rtt_s)
    return window if window > parameters["low_window"] else aimd_window(1.0, 0.5, loss)


def _highspeed(parameters: Parameters, loss: float, rtt_s: float) -> float:
    """Return RFC 3649's response function: a line in logarithms between two windows."""
    low_p, low_window = float(parameters["low_p"]), float(parameters["low_window"])
    if loss >= low_p:
        return aimd_window(1.0, 0.5, loss)
    slope = math.log(parameters["high_window"] / low_window) / math.log(parameters["high_p"] / low_p)
    return low_window * float((loss / low_p) ** slope)


def _compound(parameters: Parameters, loss: float, rtt_s: float) -> float:
    """Return the window of a cycle with growth by `alpha w^k` (draft-sridharan-tcpm-ctcp-02), or Reno's."""
    alpha, k, rest = float(parameters["alpha"]), float(parameters["k"]), 1 - float(parameters["beta"])
    reno = aimd_window(1.0, 0.5, loss)
    if alpha == 0 or k == 1:
        return reno
    peak = (alpha * (2 - k) / (loss * (1 - rest ** (2 - k)))) ** (1 / (2 - k))
    round_trips = peak ** (1 - k) * (1 - rest ** (1 - k)) / (alpha * (1 - k))
    return max(reno, float(1 / (loss * round_trips)))


#: Increase in segments per RTT, and the part of the window that remains after a loss.
_LINEAR: dict[str, Callable[[Parameters], tuple[float, float]]] = {
    "reno": _reno,
    "aimd": _aimd,
    "gaimd": _gaimd,
}
_WINDOWS: dict[str, Callable[[Parameters, float, float], float]] = {
    **dict.fromkeys(_LINEAR, _linear),
    "mimd": _mimd,
    "cubic": _cubic,
    "scalable": _scalable,
    "highspeed": _highspeed,
    "compound": _compound,
    "binomial": _any_binomial,
    "sqrt": _binomial(1),
    "iiad": _binomial(1),
}
