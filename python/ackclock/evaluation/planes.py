"""Throughput against delay of the algorithms of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ackclock.evaluation.ranking import Entry
from ackclock.evaluation.score import GOODPUT
from ackclock.page.plane import Spot


def whole_plane(entries: Sequence[Entry], environments: Sequence[str]) -> list[Spot]:
    """Return efficiency and delay of each algorithm without failures, as means over the environments."""
    spots = []
    for entry in entries:
        if all(name in entry.values for name in environments):
            delays, shares = (
                _mean_by_replicate([entry.values[name][metric] for name in environments])
                for metric in ("queue_delay", "efficiency")
            )
            spots.append(Spot.of(entry.candidate.label, delays, shares))
    return spots


def environment_plane(entries: Sequence[Entry], environment: str) -> list[Spot]:
    """Return each algorithm's goodput and delay in one environment."""
    return [
        Spot.of(entry.candidate.label, row["queue_delay"], row[GOODPUT.name])
        for entry in entries
        if (row := entry.values.get(environment)) is not None
    ]


def _mean_by_replicate(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the means of rows per replicate. A single value counts for every replicate."""
    count = max(map(len, rows))
    return [math.fsum(row[at] if len(row) > 1 else row[0] for row in rows) / len(rows) for at in range(count)]
