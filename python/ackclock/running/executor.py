"""Executors, which run chunks of jobs: threads of this process, or a cluster."""

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

#: Chunks for each thread: enough to keep it busy.
_AHEAD = 4


@dataclass(frozen=True)
class Chunk:
    """The outcomes of the first jobs of a chunk. The other jobs were not run."""

    outcomes: tuple[Outcome, ...]
    #: How long they took, in seconds of wall-clock time.
    busy_s: float


class Executor(Protocol):
    """Runs chunks of jobs, several at one time, in any order. Only its user writes a store."""

    #: Seconds of work of a chunk. With zero the chunk size is one run.
    chunk_s: float

    def capacity(self) -> int:
        """Return the number of chunks to keep in flight, which may change."""

    def submit(self, jobs: Sequence[Job]) -> Future[Chunk]:
        """Start a chunk. The future raises the error of the first job, or `ClusterError`."""

    def stop(self) -> None:
        """Make running chunks end soon, and later ones at once, with the outcomes that they have."""


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
        """Return how many chunks to keep in flight."""
        return _AHEAD * self._workers

    def submit(self, jobs: Sequence[Job]) -> Future[Chunk]:
        """Start a chunk."""
        return self._pool.submit(execute_chunk, jobs, self._cancel)

    def stop(self) -> None:
        """End the running chunks."""
        self._cancel.set()


def default_workers() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def execute_chunk(jobs: Sequence[Job], cancel: _core.Cancel, most_s: float = 0.0) -> Chunk:
    """Run jobs one after another, the first in any case, until `most_s` seconds have passed.

    If a later job raises, the chunk ends with the outcomes before it. The job then becomes the first of
    another chunk, and no outcome is lost.
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
