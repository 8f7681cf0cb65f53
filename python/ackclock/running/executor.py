"""Where runs go: threads of this process, or anything else that takes chunks of them."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, Self

from ackclock import _core
from ackclock.arguments import optional_number
from ackclock.running.job import Job, Outcome, execute

#: Chunks in hand for each thread: enough to keep it busy.
_AHEAD = 4


@dataclass(frozen=True)
class Chunk:
    """What came of some jobs: outcomes of the first so many, the others were not run."""

    outcomes: tuple[Outcome, ...]
    #: How long they took, in seconds of a clock on the wall.
    busy_s: float


class Executor(Protocol):
    """Runs chunks of jobs, several at one time, in any order. Only its user writes a store."""

    #: Seconds of work that a chunk should hold; at zero each holds one run.
    chunk_s: float

    def capacity(self) -> int:
        """Return how many chunks to have under way; it may change."""

    def submit(self, jobs: Sequence[Job]) -> Future[Chunk]:
        """Start a chunk. The future raises what the first of the jobs raised, or `ClusterError`."""

    def stop(self) -> None:
        """Make the chunks under way end soon, and all later ones at once, with what they have."""


class Threads:
    """Threads: the engine is native and runs without the GIL."""

    chunk_s = 0.0

    def __init__(self, workers: int | None = None) -> None:
        self._workers = optional_number("workers", workers, least=1) or default_workers()
        self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="ackclock")
        self._cancel = _core.Cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def capacity(self) -> int:
        """Return how many chunks to have under way."""
        return _AHEAD * self._workers

    def submit(self, jobs: Sequence[Job]) -> Future[Chunk]:
        """Start a chunk."""
        return self._pool.submit(execute_chunk, jobs, self._cancel)

    def stop(self) -> None:
        """End what is under way."""
        self._cancel.set()


def default_workers() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def execute_chunk(jobs: Sequence[Job], cancel: _core.Cancel, most_s: float = 0.0) -> Chunk:
    """Run jobs one after another, the first in any case, until `most_s` seconds have passed.

    What a job other than the first raises ends the chunk with what it has: that job comes again as a first
    one, and nothing that was finished is lost.
    """
    started = time.perf_counter()
    outcomes: list[Outcome] = []
    for job in jobs:
        if outcomes and (cancel.is_set() or time.perf_counter() - started >= most_s):
            break
        try:
            outcomes.append(execute(job, cancel))
        except Exception:
            if not outcomes:
                raise
            break
    return Chunk(tuple(outcomes), time.perf_counter() - started)
