"""The metrics of a run's summary: names, units, how they are shown. `docs/metrics.md` has the formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SummaryMetric:
    """One number of a summary."""

    #: What people write: the key without its unit.
    name: str
    #: Where it is in a summary; the unit of the value is at its end.
    key: str
    label: str
    #: From the value to `unit`.
    factor: float
    unit: str
    #: Whether values crowd at a bound, so that intervals are resampled.
    bounded: bool = False

    def of(self, document: dict[str, Any]) -> float:
        """Return the value of a run, in the unit of the key."""
        return float(document["summary"][self.key])


SUMMARY = (
    SummaryMetric("goodput", "goodput_bps", "goodput", 1e-6, "Mbit/s", True),
    SummaryMetric("throughput", "throughput_bps", "throughput", 1e-6, "Mbit/s", True),
    SummaryMetric("utilization", "utilization", "utilization", 100, "%", True),
    SummaryMetric("efficiency", "efficiency", "efficiency", 100, "%", True),
    SummaryMetric("delivery_ratio", "delivery_ratio", "delivery ratio", 100, "%", True),
    SummaryMetric("loss_rate", "loss_rate", "loss rate (senders)", 100, "%", True),
    SummaryMetric("drop_rate", "drop_rate", "drop rate (bottleneck)", 100, "%", True),
    SummaryMetric("mark_rate", "mark_rate", "mark rate (bottleneck)", 100, "%", True),
    SummaryMetric("jain_index", "jain_index", "Jain index", 1, "", True),
    SummaryMetric("spread", "spread", "spread", 1, "", True),
    SummaryMetric("queue_delay_mean", "queue_delay_mean_s", "queue delay, mean", 1e3, "ms"),
    SummaryMetric("queue_delay_p95", "queue_delay_p95_s", "queue delay, 95 %", 1e3, "ms"),
)
BY_NAME = {metric.name: metric for metric in SUMMARY}


def shown(summary: Mapping[str, float | None], digits: int = 4) -> Iterator[tuple[str, str, str]]:
    """Give label, value and unit of each metric of a summary, for people; a dash where there is no value."""
    for metric in SUMMARY:
        value = summary.get(metric.key)
        yield metric.label, "-" if value is None else f"{metric.factor * value:.{digits}f}", metric.unit
