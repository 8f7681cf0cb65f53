"""What a study will cost, from a few of its runs."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from ackclock.running.executor import default_workers
from ackclock.running.job import Job, execute
from ackclock.running.store import Store
from ackclock.studies.grid import Grid, Point

#: Points that are tried, spread over the study.
_TRIED = 5


@dataclass(frozen=True)
class Forecast:
    """Runs, time and size of a study."""

    points: int
    #: Runs at the least; a stopping rule may want more.
    least_runs: int
    most_runs: int
    #: Of the least runs, how many are stored already.
    stored_runs: int
    workers: int
    #: Of the runs that are not stored, from the mean over those tried.
    least_time_s: float
    most_time_s: float
    least_bytes: int
    most_bytes: int


def forecast(grid: Grid, store: Store | None, *, least: int, workers: int | None = None) -> Forecast:
    """Try a few runs, which are not kept, and reckon what all of them take.

    `least`: replicates of a point that are run in any case.
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
    """Return seconds and bytes of a run, without samples: most replicates keep none."""
    started = time.perf_counter()
    outcome = execute(replace(job, samples=False))
    return time.perf_counter() - started, len(outcome.result_json) + len(outcome.histograms_json)


def _stored(grid: Grid, store: Store, least: int) -> int:
    return sum(
        store.has(job)
        for point in grid.points
        for _, job in zip(range(least), grid.jobs(point), strict=False)
    )
