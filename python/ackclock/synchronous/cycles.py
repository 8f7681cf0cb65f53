"""Cycles of the synchronous model, from one congestion event to the next, and the papers' algebra for them.

`docs/reference/synchronous-model.md` explains the conventions. Windows and loads are in segments, times in
RTTs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from ackclock.synchronous.model import trajectory

#: The name of an algorithm, or a table with `kind` and parameters.
Algorithm = str | Mapping[str, Any]


@dataclass(frozen=True)
class Cycle:
    """A cycle whose peak hits X_goal exactly."""

    #: Length k_m.
    rounds: float
    #: Packets of all users in its k_m + 1 RTTs. With straight ramps this is the sum over the RTTs.
    packets: float
    #: Load at its end, before the cut.
    peak: float
    #: Mean load over its length.
    mean_load: float


def cycles(
    cc: Algorithm,
    windows: Sequence[float],
    x_goal: float,
    duration: float | None = None,
    most: int | None = None,
) -> list[Cycle]:
    """Return the first cycles of users of one algorithm within `duration`, by default X_goal round trips.

    Cycles that halve end together within twice the first: all that is longer is more of the same.
    """
    users = [{"cc": cc, "window": float(window)} for window in windows]
    answer = trajectory(users, x_goal=x_goal, duration=x_goal if duration is None else duration, peak="exact")
    points = list(zip(answer["time"], answer["load"], strict=True))
    found, start, before = [], 0.0, 0.0
    for cycle in answer["cycles"][:most]:
        rounds = cycle["growing_time"] - before
        end, before = cycle["time"], cycle["growing_time"]
        if rounds > 0:
            # A peak and the load after its cut have the same time, and no width.
            ramps = (
                (right[0] - left[0]) * (left[1] + right[1]) / 2
                for left, right in pairwise(points)
                if start <= left[0] and right[0] <= end
            )
            mean_load = sum(ramps) / (end - start)
            found.append(Cycle(rounds, (1 + rounds) * mean_load, cycle["peak"], mean_load))
        start = end
    return found


def new_aimd_cycle(windows: Sequence[float], x_goal: float, number: int) -> tuple[float, float]:
    """Return k_m and the packets of cycle `number` of two New-AIMD flows.

    Equations 1 to 4 of jasem-efficiency-fairness define the cycles:
    `k_1 = (W - x_1 - x_2)/2`, `k_2 = (W - 2 k_1)/4` and `k_m = k_2/2^(m-2)`. A cycle contains
    `(1 + k_m)(W - k_m)` packets.
    """
    first = (x_goal - sum(windows)) / 2
    rounds = first if number == 1 else (x_goal - 2 * first) / 4 / 2 ** (number - 2)
    return rounds, (1 + rounds) * (x_goal - rounds)


def cycle_rows(
    cc: Algorithm, windows: Sequence[float], x_goal: float, count: int, duration: float
) -> list[dict[str, Any]]:
    """Return the first cycles as rows, for two New-AIMD users also with the paper's closed form."""
    rows = []
    is_of_the_paper = cc in ("new-aimd", _NEW_AIMD) and len(windows) == 2
    for number, cycle in enumerate(cycles(cc, windows, x_goal, duration, count), 1):
        closed = None
        if is_of_the_paper:
            rounds, packets = new_aimd_cycle(windows, x_goal, number)
            closed = {"rounds": rounds, "packets": packets}
        rows.append({"cycle": number, **asdict(cycle), "closed_form": closed})
    return rows


_NEW_AIMD = {"kind": "new-aimd", "increase": 1.0, "base": "slow-start"}


def aimd_totals(windows: Sequence[float], x_goal: float, count: int) -> list[dict[str, float]]:
    """Return the load of two AIMD(1, 0.5) flows at the end of each cycle: as printed, correct, and computed.

    jasem-efficiency-fairness, after eq. 4, prints `x/2^(m-1) + k_1 + k_2 + ... + 2 k_m` with `x = x_1 + x_2`.
    A congestion event halves the whole window, including the gains of earlier cycles. The correct terms are
    `2 k_i / 2^(m-i)`, and their sum is W. Both agree for m = 1 and 2.
    """
    computed = cycles("aimd", windows, x_goal, count * x_goal, count)
    lengths = [cycle.rounds for cycle in computed]
    rows = []
    for number, cycle in enumerate(computed, 1):
        old = sum(windows) / 2 ** (number - 1)
        *before, last = lengths[:number]
        gained = (2 * length / 2 ** (number - index) for index, length in enumerate(before, 1))
        rows.append(
            {
                "cycle": number,
                "rounds": last,
                "printed": old + sum(before) + 2 * last,
                "right": old + sum(gained) + 2 * last,
                "computed": cycle.peak,
            }
        )
    return rows


#: Increases of figure 1 and table 1 of psaras-mr-aimd. All halve the window.
_INCREASES = (0.5, 1.0, 1.5, 2.0)


def sawtooth(cc: Algorithm, x_goal: float, count: int = 16) -> dict[str, float]:
    """Return the mean window of one user and its congestion events per round trip, in the long run."""
    settled = cycles(cc, [x_goal / 2], x_goal, count * x_goal, count)[count // 2 :]
    time = sum(cycle.rounds for cycle in settled)
    mean = sum(cycle.mean_load * cycle.rounds for cycle in settled) / time
    return {"mean_window": mean, "events": len(settled) / time}


def increase_rows(x_goal: float = 100.0) -> list[dict[str, float]]:
    """Return the effect of AIMD's increase on one window, as in figure 1 of psaras-mr-aimd.

    The mean of a sawtooth from `b W` to `W` is `(1 + b) W/2` for every slope a. It has `a/((1 - b) W)`
    congestion events per RTT. The remaining share b is 1/2.
    """
    return [
        {
            "increase": increase,
            **sawtooth({"kind": "aimd", "increase": increase, "remaining": 0.5}, x_goal),
            "closed_mean_window": 0.75 * x_goal,
            "closed_events": 2 * increase / x_goal,
        }
        for increase in _INCREASES
    ]
