"""The metrics of a run's summary, and how they are shown. `docs/reference/metrics.md` has the definitions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ackclock.metrics.declared import METRICS, Metric

SUMMARY = tuple(metric for metric in METRICS["summary"].values() if metric.better != "given")
BY_NAME = {metric.name: metric for metric in SUMMARY}


_HEADLINE = ("goodput", "utilization", "loss_rate", "queue_delay_mean", "queue_delay_p95", "jain_index")
#: The metrics that a run prints unless others are asked for.
HEADLINE = tuple(BY_NAME[name] for name in _HEADLINE)
#: Decimals where every metric is shown, and significant digits elsewhere.
DIGITS, _SIGNIFICANT = 4, 3


def significant(value: float) -> str:
    """Return a number with three significant digits, and all digits of a larger integer part."""
    if value == 0:
        return "0"
    before = math.floor(math.log10(abs(value))) + 1
    return f"{value:.{max(_SIGNIFICANT - before, 0)}f}"


def cells(metric: Metric, value: float | None, digits: int | None = None) -> tuple[str, str, str]:
    """Return label, value and unit of a metric, or a dash with the reason.

    `digits`: after the decimal point. By default, the value has three significant digits.
    """
    if value is None:
        return metric.label, "-", metric.absent or ""
    value *= metric.factor
    return metric.label, significant(value) if digits is None else f"{value:.{digits}f}", metric.unit


def shown(document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Give label, value and unit of each metric of a run's summary, or a dash with the reason."""
    return (cells(metric, metric.of(document), DIGITS) for metric in SUMMARY)


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
