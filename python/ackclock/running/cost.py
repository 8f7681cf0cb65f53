"""Estimates the time and the size of runs from a few of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ackclock.running.executor import default_workers
from ackclock.running.job import Job, execute
from ackclock.running.store import Store

_Item = TypeVar("_Item")

#: The number of tried runs, spread over all of them.
TRIED = 5


@dataclass(frozen=True)
class Cost:
    """The cost of runs that a store does not contain."""

    runs: int
    #: The number of runs that are stored already.
    stored: int
    workers: int
    time_s: float


def cost_of(jobs: Sequence[Job], store: Store, workers: int | None = None) -> Cost:
    """Try a few of the missing runs without storing them, and estimate the cost of all."""
    distinct = list({job.key: job for job in jobs}.values())
    missing = [job for job in distinct if not store.has(job)]
    count = workers or default_workers()
    seconds = [tried(job)[0] for job in spread(missing)]
    time_s = sum(seconds) / len(seconds) * len(missing) / count if seconds else 0.0
    return Cost(len(distinct), len(distinct) - len(missing), count, time_s)


def spread(items: Sequence[_Item]) -> list[_Item]:
    """Return a few items at equal distances, with the first and the last."""
    last = len(items) - 1
    places = sorted({round(last * step / (TRIED - 1)) for step in range(TRIED)}) if items else []
    return [items[place] for place in places]


def tried(job: Job) -> tuple[float, int]:
    """Return seconds and bytes of a run without samples, as most replicates store none."""
    started = time.perf_counter()
    outcome = execute(replace(job, samples=False))
    return time.perf_counter() - started, len(outcome.result_json) + len(outcome.histograms_json)
