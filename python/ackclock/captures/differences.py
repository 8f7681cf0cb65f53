"""The figures of a capture and of its replay, and their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Row(NamedTuple):
    """A figure of both."""

    key: str
    label: str
    unit: str
    #: Factor from the observed value to the unit.
    factor: float
    digits: int


ROWS = (
    Row("goodput_bps", "goodput", "Mbit/s", 1e-6, 4),
    Row("segments", "segments sent", "", 1, 0),
    Row("retransmissions", "retransmissions", "", 1, 0),
    Row("spurious", "spurious retransmissions", "", 1, 0),
    Row("lost", "transmissions lost", "", 1, 0),
    Row("recoveries", "fast recoveries", "", 1, 0),
    Row("timeouts", "timeouts", "", 1, 0),
    Row("duplicate_acks", "duplicate ACKs", "", 1, 0),
    Row("in_flight_mean_bytes", "mean in flight", "kB", 1e-3, 2),
    Row("in_flight_max_bytes", "most in flight", "kB", 1e-3, 2),
    Row("rtt_min_s", "min RTT", "ms", 1e3, 2),
    Row("rtt_mean_s", "mean RTT", "ms", 1e3, 2),
    Row("rtt_max_s", "max RTT", "ms", 1e3, 2),
)


#: Of a measurement by other tools.
MEASURED_ROWS = (
    *(row for row in ROWS if row.key in ("goodput_bps", "segments", "retransmissions")),
    *(row for row in ROWS if row.key.startswith("rtt_")),
    Row("window_mean_bytes", "mean window", "kB", 1e-3, 2),
    Row("window_max_bytes", "largest window", "kB", 1e-3, 2),
)


def differences(
    capture: Mapping[str, Any], replay: Mapping[str, Any], rows: Sequence[Row] = ROWS
) -> list[dict[str, Any]]:
    """Return each figure of both in its unit, with the difference of the replay from the capture."""

    def row(each: Row) -> dict[str, Any]:
        before, after = (_scaled(side[each.key], each.factor) for side in (capture, replay))
        difference = None if before is None or after is None else after - before
        return {
            "metric": each.key,
            "unit": each.unit,
            "capture": before,
            "replay": after,
            "difference": difference,
            "relative": difference / before if difference is not None and before else None,
        }

    return [row(each) for each in rows]


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
