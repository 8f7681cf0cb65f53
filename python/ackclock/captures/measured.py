"""A transfer as a tool measured it: its figures, and its rate, RTT and window over time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

#: Intervals of a series that are kept.
POINTS = 900
#: Larger numbers in a file are damage.
_MOST = 1e18
#: The most characters of a number in a text.
_DIGITS = 32

#: Times in seconds since the beginning, and values.
Series = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Measured:
    """Figures of one sender. Figures that the file does not contain are None."""

    #: `iperf3`, `ss`, `Flent` or `qlog`.
    tool: str
    #: The stream or connection.
    name: str
    duration_s: float
    #: Payload that arrived, over the time that it took.
    goodput_bps: float | None = None
    #: Retransmitted segments. For QUIC, packets that were declared lost.
    retransmissions: int | None = None
    #: Segments or packets with data, retransmissions included.
    segments: int | None = None
    #: Payload of a full segment.
    mss: int | None = None
    #: The name of the congestion control, as the tool tells it.
    cc: str | None = None
    quic: bool = False
    ipv6: bool = False
    #: Least RTT that the sender knows of, where the tool tells more than its samples do.
    least_rtt_s: float | None = None
    #: Payload delivered in each interval, bit/s.
    rate: Series = ()
    rtt: Series = ()
    #: The congestion window, bytes.
    window: Series = ()
    #: Sentences for the reader.
    remarks: tuple[str, ...] = field(default=())

    def figures(self) -> dict[str, float | int | None]:
        """Return the figures that are compared, in bit/s, seconds and bytes."""
        rtts = [value for _, value in self.rtt]
        windows = [value for _, value in self.window]
        least = [*rtts, *([] if self.least_rtt_s is None else [self.least_rtt_s])]
        return {
            "goodput_bps": self.goodput_bps,
            "segments": self.segments,
            "retransmissions": self.retransmissions,
            "rtt_min_s": min(least, default=None),
            "rtt_mean_s": mean(self.rtt),
            "rtt_max_s": max(rtts, default=None),
            "window_mean_bytes": mean(self.window),
            "window_max_bytes": max(windows, default=None),
        }

    def drawn(self) -> dict[str, Any]:
        """Return the series as the drawing takes them: intervals with the least and the largest value."""
        return {
            "duration_s": self.duration_s,
            "in_flight": ranges(self.window, self.duration_s),
            "rtt": ranges(self.rtt, self.duration_s),
            "repairs": [],
        }


def mean(series: Series) -> float | None:
    """Return the mean over time of values that hold until the next one, or a single value itself."""
    if not series:
        return None
    held = [(after[0] - before[0], before[1]) for before, after in pairwise(series)]
    whole = sum(time for time, _ in held)
    return sum(time * value for time, value in held) / whole if whole > 0 else series[-1][1]


def ranges(series: Series, duration_s: float) -> list[dict[str, float]]:
    """Return at most `POINTS` intervals with the least and the largest value within each."""
    found: dict[int, tuple[float, float]] = {}
    for time, value in series:
        at = min(max(int(POINTS * time / duration_s), 0), POINTS - 1) if duration_s > 0 else 0
        low, high = found.get(at, (value, value))
        found[at] = (min(low, value), max(high, value))
    width = duration_s / POINTS
    return [
        {"time_s": (at + 0.5) * width, "low": low, "high": high} for at, (low, high) in sorted(found.items())
    ]


def number(table: Any, *keys: str) -> float | None:
    """Return the value of the first key with a finite number of 0 or more, also as text."""
    for key in keys:
        value = table.get(key) if isinstance(table, Mapping) else None
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            continue
        try:
            found = float(value if not isinstance(value, str) else value[:_DIGITS])
        except (ValueError, OverflowError):
            continue
        if math.isfinite(found) and 0 <= found < _MOST:
            return found
    return None


def whole(table: Any, *keys: str) -> int | None:
    """Return the same as a whole number."""
    value = number(table, *keys)
    return None if value is None else int(value)


def tables(value: Any, key: str | None = None) -> list[Mapping[str, Any]]:
    """Return the tables of a list, or of the list under a key. Empty if it is not a list."""
    items = value.get(key) if key is not None and isinstance(value, Mapping) else value
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def total(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known numbers, or None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
