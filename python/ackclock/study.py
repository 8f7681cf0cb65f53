"""A study is a list of runs; running it fills a store. Every command builds a study and renders its store.

What is run next may depend on results: `work_off` asks a `Work` for jobs until it has no more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from ackclock.errors import StoreError
from ackclock.job import Job, Outcome, cancel_all, execute, reset_cancel
from ackclock.scenario import Scenario
from ackclock.store import Store

#: Jobs handed to an executor ahead of its workers, per worker: enough to keep them busy.
_AHEAD = 4
#: How long Ctrl-C may go unnoticed. Polars handles SIGINT in a way that does not wake a thread that waits.
_SIGNAL_CHECK_S = 0.2


@dataclass(frozen=True)
class Study:
    """Runs in an order that has nothing to do with when each ends."""

    jobs: tuple[Job, ...]

    @classmethod
    def of(
        cls, scenario: Scenario, *, seed: int | None = None, replicates: int = 1, samples: bool | None = None
    ) -> Study:
        """Replicates of one scenario; a scenario with nothing random runs once.

        `samples`: of every replicate, of none, or (by default) of the first only.
        """
        count = replicates if scenario.is_random else 1
        return cls(
            tuple(
                Job(
                    name=scenario.name,
                    scenario_json=scenario.resolved_json,
                    scenario_hash=scenario.hash,
                    seed=scenario.seed if seed is None else seed,
                    replicate=replicate,
                    samples=replicate == 0 if samples is None else samples,
                )
                for replicate in range(count)
            )
        )

    def __add__(self, other: Study) -> Study:
        return Study(self.jobs + other.jobs)


class Work(Protocol):
    """Where jobs come from, and where outcomes go."""

    def next(self) -> Job | None:
        """Return the next job; nothing if there is none, at least before a job under way ends."""

    def finished(self, job: Job, outcome: Outcome) -> None:
        """Take the outcome of a job, which is stored already."""


def default_workers() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def executor_for(workers: int | None = None) -> Iterator[Executor]:
    """Threads: the engine is native and runs without the GIL."""
    with ThreadPoolExecutor(workers or default_workers(), thread_name_prefix="ackclock") as executor:
        yield executor


def run_study(
    study: Study,
    store: Store,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Outcome]:
    """Run what the store does not hold, and return all outcomes in the order of the study.

    `executor`: anything with the interface of `concurrent.futures`; only this process writes the store.
    `progress` is called with the number of finished runs and of all runs. On Ctrl-C the runs under way are
    given up, finished ones are kept, and KeyboardInterrupt goes on.
    """
    outcomes: dict[str, Outcome] = {}
    missing: dict[str, Job] = {}
    for job in study.jobs:
        if (stored := store.get(job)) is not None:
            outcomes[job.key] = stored
        else:
            missing.setdefault(job.key, job)
    total = len(outcomes) + len(missing)
    progress(len(outcomes), total)

    class Missing:
        def __init__(self) -> None:
            self._jobs = iter(missing.values())

        def next(self) -> Job | None:
            return next(self._jobs, None)

        def finished(self, job: Job, outcome: Outcome) -> None:
            outcomes[job.key] = outcome
            progress(len(outcomes), total)

    work_off(Missing(), store, executor=executor, workers=workers)
    return [outcomes[job.key] for job in study.jobs]


def work_off(
    work: Work, store: Store, *, executor: Executor | None = None, workers: int | None = None
) -> None:
    """Run and store the jobs of `work`, until it has none and none is under way; keeps no outcome.

    `executor` as for `run_study`. On Ctrl-C the runs under way are given up, finished ones are kept, and
    KeyboardInterrupt goes on.
    """
    count = workers or default_workers()
    if executor is not None:
        _work_off(work, store, executor, count)
        return
    with executor_for(count) as own:
        _work_off(work, store, own, count)


def _work_off(work: Work, store: Store, executor: Executor, workers: int) -> None:
    running: dict[Future[Outcome], Job] = {}
    try:
        while True:
            while len(running) < _AHEAD * workers and (job := work.next()) is not None:
                running[executor.submit(execute, job)] = job
            if not running:
                return
            done, _ = wait(running, timeout=_SIGNAL_CHECK_S, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda future: running[future].key):
                job = running.pop(future)
                outcome = future.result()
                store.put(job, outcome)
                work.finished(job, outcome)
    except BaseException as error:
        cancel_all()
        for future in running:
            future.cancel()
        wait(running)
        reset_cancel()
        if not isinstance(error, StoreError):
            _keep_finished(running, store)
        raise


def _keep_finished(futures: Mapping[Future[Outcome], Job], store: Store) -> None:
    """Store the runs that ended while another failed, or while Ctrl-C was on its way."""
    for future, job in futures.items():
        if not future.cancelled() and future.exception() is None:
            store.put(job, future.result())
