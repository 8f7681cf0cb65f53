"""Metrics that a user names: metrics of the summary, and shares of groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ackclock.errors import InputError
from ackclock.metrics.declared import Metric
from ackclock.metrics.shares import NAMES, GroupShare, metric_named
from ackclock.text.suggest import hint


def named(name: str) -> Metric:
    """Return a metric by name. Raises `InputError`."""
    if (metric := metric_named(name)) is None:
        raise InputError(f"no metric is called {name!r}; {hint(name, NAMES)}")
    return metric


def every_named(names: Iterable[str], groups: Sequence[str]) -> tuple[Metric, ...]:
    """Return metrics by name, each once. `groups` are the groups of flows.

    Raises `InputError`.
    """
    found = tuple(dict.fromkeys(map(named, names)))
    for metric in found:
        for group in metric.groups if isinstance(metric, GroupShare) else ():
            if group not in groups:
                raise InputError(f"{metric.name}: no flows are called {group!r}; {hint(group, groups)}")
    return found
