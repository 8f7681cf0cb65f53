"""Runs the points of a response function, and reads their goodputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from ackclock.errors import RunError
from ackclock.running.executor import Executor
from ackclock.running.job import Job, Outcome
from ackclock.running.store import Store
from ackclock.running.work import fill
from ackclock.studies.grid import Grid


def goodputs(
    grid: Grid,
    out: str | Path | None,
    executor: Executor | None,
    workers: int | None,
    progress: Callable[[int, int], None],
    failed: Callable[[int, str], None],
) -> list[list[float]]:
    """Return the goodputs of each point in bit/s, by replicate. A point with a failed run has none."""
    jobs = [list(grid.jobs(point)) for point in grid.points]
    found: dict[str, float] = {}
    failures: dict[str, str] = {}

    def keep(key: str, outcome: Outcome) -> None:
        found[key] = json.loads(outcome.result_json)["summary"]["goodput_bps"]

    def note(job: Job, error: RunError) -> None:
        failures[job.key] = str(error)

    with Store(out) as store:
        every = [job for row in jobs for job in row]
        fill(every, store, executor=executor, workers=workers, progress=progress, keep=keep, failed=note)
    for number, row in enumerate(jobs):
        if message := next((failures[job.key] for job in row if job.key in failures), ""):
            failed(number, message)
    return [[found[job.key] for job in row] if all(job.key in found for job in row) else [] for row in jobs]
