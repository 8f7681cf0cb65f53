"""The mean capacity of a link over the window, from the timetable of its scenario."""

from __future__ import annotations

import itertools
from typing import Any

from network import Network

_RATES = {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6}
_SIZES = {"B": 1, "kB": 1e3}
_TIMES = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def mean_capacity_bps(scenario: dict[str, Any], network: Network, name: str | None = None) -> float | None:
    """Mean capacity of a link, by default the bottleneck: 0 of a pure delay, none if it varies at random."""
    link = network.links[name or network.bottleneck]
    if not link.varies:
        return float(link.rate_bps or 0)
    varies = _varies(scenario, link.name)
    if varies["kind"] not in ("square", "steps"):
        return None
    total = 0.0
    for begin, end, rate in _pieces(varies, network.end_ns):
        total += rate * max(0, end - max(begin, network.begin_ns))
    return total / (network.end_ns - network.begin_ns)


def _varies(scenario: dict[str, Any], name: str) -> dict[str, Any]:
    """How the rate of a link varies, as the scenario says it."""
    base = name.removesuffix(".reverse")
    link = scenario["topology"] if "topology" in scenario else scenario["links"][base]
    found: dict[str, Any] = link["reverse"]["varies"] if name.endswith(".reverse") else link["varies"]
    return found


def _pieces(varies: dict[str, Any], end_ns: int) -> list[tuple[int, int, float]]:
    """Begin, end and rate of each piece of a timetable."""
    if varies["kind"] == "square":
        interval = _ns(varies["interval"])
        times, rates, period = [0, interval], [varies["high"], varies["low"]], 2 * interval
    else:
        times, rates = [_ns(time) for time in varies["times"]], varies["rates"]
        period = _ns(varies["repeat"]) if "repeat" in varies else end_ns
    marks = [
        (round_ns + time, bps(rate))
        for round_ns in range(0, end_ns, period)
        for time, rate in zip(times, rates, strict=True)
        if time < period
    ]
    marks = [(time, rate) for time, rate in marks if time < end_ns] + [(end_ns, 0.0)]
    return [(begin, end, rate) for (begin, rate), (end, _) in itertools.pairwise(marks)]


def bps(rate: str) -> float:
    """Bits per second."""
    number, unit = rate.split()
    return float(number) * _RATES[unit]


def _ns(time: str) -> int:
    number, unit = time.split()
    return round(float(number) * _TIMES[unit])


def size_bytes(size: str) -> int:
    """Bytes of a size."""
    number, unit = size.split()
    return round(float(number) * _SIZES[unit])
