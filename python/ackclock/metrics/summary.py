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
    #: Whether values lie near a bound, so that intervals are resampled.
    bounded: bool = False
    #: Why a run has no value.
    absent: str = ""

    def of(self, document: dict[str, Any]) -> float | None:
        """Return the value of a run, in the unit of the key; none where the metric does not apply."""
        value = document["summary"][self.key]
        return None if value is None else float(value)


_NO_FLOWS = "no flows"
_NOTHING_SENT = "nothing sent"
_NO_ARRIVALS = "no arrivals"
_NO_RATE = "no rate"


def _delay(name: str, label: str) -> tuple[SummaryMetric, SummaryMetric]:
    """Return mean and 95th percentile of a queueing delay."""
    mean, p95 = (
        SummaryMetric(f"{name}_{key}", f"{name}_{key}_s", f"{label}, {words}", 1e3, "ms", absent=_NO_ARRIVALS)
        for key, words in (("mean", "mean"), ("p95", "95 %"))
    )
    return mean, p95


SUMMARY = (
    SummaryMetric("goodput", "goodput_bps", "goodput", 1e-6, "Mbit/s", True, _NO_FLOWS),
    SummaryMetric("throughput", "throughput_bps", "throughput", 1e-6, "Mbit/s", True, _NO_FLOWS),
    SummaryMetric("utilization", "utilization", "utilization (bottleneck)", 100, "%", True, _NO_RATE),
    SummaryMetric(
        "efficiency", "efficiency", "efficiency", 100, "%", True, "no flow crosses a bottleneck with a rate"
    ),
    SummaryMetric("delivery_ratio", "delivery_ratio", "delivery ratio", 100, "%", True, _NOTHING_SENT),
    SummaryMetric("loss_rate", "loss_rate", "loss rate", 100, "%", True, _NOTHING_SENT),
    SummaryMetric("retransmit_rate", "retransmit_rate", "retransmit rate", 100, "%", True, _NOTHING_SENT),
    SummaryMetric("drop_rate", "drop_rate", "drop rate (bottleneck)", 100, "%", True, _NO_ARRIVALS),
    SummaryMetric("mark_rate", "mark_rate", "mark rate (bottleneck)", 100, "%", True, _NO_ARRIVALS),
    SummaryMetric("jain_index", "jain_index", "Jain index", 1, "", True, _NO_FLOWS),
    SummaryMetric("spread", "spread", "spread", 1, "", True, _NO_FLOWS),
    *_delay("queue_delay", "queueing delay"),
    *_delay("reverse_queue_delay", "queueing delay of ACKs"),
    *_delay("bottleneck_queue_delay", "queueing delay (bottleneck)"),
)
BY_NAME = {metric.name: metric for metric in SUMMARY}


def shown(summary: Mapping[str, float | None], digits: int = 4) -> Iterator[tuple[str, str, str]]:
    """Give label, value and unit of each metric of a summary, for people; or a dash and why there is none."""
    for metric in SUMMARY:
        value = summary[metric.key]
        if value is None:
            yield metric.label, "-", metric.absent
        else:
            yield metric.label, f"{metric.factor * value:.{digits}f}", metric.unit


def coverage(document: dict[str, Any]) -> str:
    """Return which flows the summary of a run covers, and which are in other tables."""
    count = len(document["flows"])
    flows = "no flows" if count == 0 else f"{count} flow{'s' * (count > 1)}"
    others = []
    # Only flow arrivals have a mean number of active flows; the flows of others are in `flows`.
    if any(group["active_mean"] is not None for group in document.get("transfers", ())):
        others.append("flow arrivals")
    if document.get("datagrams"):
        others.append("datagrams")
    if not others:
        return flows
    own = "tables of their own" if len(others) > 1 else "a table of their own"
    return f"{flows}; {' and '.join(others)} have {own}"
