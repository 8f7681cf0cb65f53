"""Forecasts the cost of a study from a few of its runs."""

from __future__ import annotations

from dataclasses import dataclass

from ackclock.running.cost import spread, tried
from ackclock.running.executor import default_workers
from ackclock.running.store import Store
from ackclock.studies.grid import Grid


@dataclass(frozen=True)
class Forecast:
    """The number of runs, the time and the size of a study."""

    points: int
    #: The smallest number of runs. A stopping rule may add more.
    least_runs: int
    most_runs: int
    #: The number of stored runs among them.
    stored_runs: int
    workers: int
    #: The time and the size of the missing runs, from the mean of the tried runs.
    least_time_s: float
    most_time_s: float
    least_bytes: int
    most_bytes: int


def forecast(grid: Grid, store: Store | None, *, least: int, workers: int | None = None) -> Forecast:
    """Try a few runs without storing them, and estimate the total cost.

    `least`: the smallest number of replicates of a point.
    """
    count = workers or default_workers()
    least_runs = sum(min(least, point.most) for point in grid.points)
    most_runs = sum(point.most for point in grid.points)
    stored = 0 if store is None else _stored(grid, store, least)
    samples = [tried(next(grid.jobs(point))) for point in spread(grid.points)]
    seconds = sum(time_s for time_s, _ in samples) / len(samples)
    size = sum(size for _, size in samples) / len(samples)
    return Forecast(
        points=len(grid.points),
        least_runs=least_runs,
        most_runs=most_runs,
        stored_runs=stored,
        workers=count,
        least_time_s=seconds * (least_runs - stored) / count,
        most_time_s=seconds * (most_runs - stored) / count,
        least_bytes=round(size * (least_runs - stored)),
        most_bytes=round(size * (most_runs - stored)),
    )


def _stored(grid: Grid, store: Store, least: int) -> int:
    return sum(
        store.has(job)
        for point in grid.points
        for _, job in zip(range(least), grid.jobs(point), strict=False)
    )
