"""Forecasts the cost of a study from a few of its runs."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from ackclock.running.executor import default_workers
from ackclock.running.job import Job, execute
from ackclock.running.store import Store
from ackclock.studies.grid import Grid, Point

#: The number of tried points, spread over the study.
_TRIED = 5


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
    tried = [_try(next(grid.jobs(point))) for point in _spread(grid.points)]
    seconds = sum(time_s for time_s, _ in tried) / len(tried)
    size = sum(size for _, size in tried) / len(tried)
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


def _spread(points: tuple[Point, ...]) -> list[Point]:
    last = len(points) - 1
    return [
        points[number] for number in sorted({round(last * step / (_TRIED - 1)) for step in range(_TRIED)})
    ]


def _try(job: Job) -> tuple[float, int]:
    """Return seconds and bytes of a run without samples, as most replicates store none."""
    started = time.perf_counter()
    outcome = execute(replace(job, samples=False))
    return time.perf_counter() - started, len(outcome.result_json) + len(outcome.histograms_json)


def _stored(grid: Grid, store: Store, least: int) -> int:
    return sum(
        store.has(job)
        for point in grid.points
        for _, job in zip(range(least), grid.jobs(point), strict=False)
    )
