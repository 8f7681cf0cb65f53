"""The metrics of a run's summary, and how they are shown. `docs/reference/metrics.md` has the definitions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ackclock.metrics.declared import METRICS

SUMMARY = tuple(metric for metric in METRICS["summary"].values() if metric.better != "given")
BY_NAME = {metric.name: metric for metric in SUMMARY}


#: The metrics that a run prints unless all are asked for.
HEADLINE = ("goodput", "utilization", "loss_rate", "queue_delay_mean", "queue_delay_p95", "jain_index")
_DIGITS = 3


def significant(value: float) -> str:
    """Return a number with three significant digits, and all digits of a larger integer part."""
    if value == 0:
        return "0"
    before = math.floor(math.log10(abs(value))) + 1
    return f"{value:.{max(_DIGITS - before, 0)}f}"


def headline(summary: Mapping[str, float | None]) -> Iterator[tuple[str, str, str]]:
    """Give label, value and unit of the headline metrics, for people."""
    for name in HEADLINE:
        metric = BY_NAME[name]
        value = summary[metric.key]
        if value is None:
            yield metric.label, "-", metric.absent or ""
        else:
            yield metric.label, significant(metric.factor * value), metric.unit


def shown(summary: Mapping[str, float | None], digits: int = 4) -> Iterator[tuple[str, str, str]]:
    """Give label, value and unit of each metric of a summary, or a dash with the reason."""
    for metric in SUMMARY:
        value = summary[metric.key]
        if value is None:
            yield metric.label, "-", metric.absent or ""
        else:
            yield metric.label, f"{metric.factor * value:.{digits}f}", metric.unit


def coverage(document: dict[str, Any]) -> str:
    """Return which flows the summary of a run covers, and which are in other tables."""
    count = len(document["flows"])
    flows = "no flows" if count == 0 else f"{count} flow{'s' * (count > 1)}"
    others = []
    # Only flow arrivals have a mean number of active flows. Flows of other groups are in `flows`.
    if any(group["active_mean"] is not None for group in document.get("transfers", ())):
        others.append("flow arrivals")
    if document.get("datagrams"):
        others.append("datagrams")
    if not others:
        return flows
    own = "tables of their own" if len(others) > 1 else "a table of their own"
    return f"{flows}; {' and '.join(others)} have {own}"
