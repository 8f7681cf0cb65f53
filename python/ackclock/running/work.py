"""Lists of runs that fill a store: every command makes such a list, and renders the results.

The next run may depend on results: `work_off` asks a `Work` for jobs until it has no more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Protocol

from ackclock.arguments import whole_number
from ackclock.errors import RunError, StoreError
from ackclock.running.chunks import ChunkSize
from ackclock.running.executor import Chunk, Executor, Threads
from ackclock.running.job import LINUX, SIM, Capture, Job, Outcome, Programs
from ackclock.running.store import Store
from ackclock.scenario import Scenario

#: How long Ctrl-C may go unnoticed. With the SIGINT handler of polars a blocked thread does not wake.
_SIGNAL_CHECK_S = 0.2
#: How long stopped chunks may take to return their outcomes.
_GRACE_S = 5.0


@dataclass(frozen=True)
class Study:
    """Runs in a fixed order, whichever ends first."""

    jobs: tuple[Job, ...]

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        *,
        seed: int | None = None,
        replicates: int = 1,
        samples: bool | None = None,
        capture: Capture | None = None,
        backend: str = SIM,
        programs: Programs | None = None,
    ) -> Study:
        """Return replicates of one scenario. Without random inputs only runs in real time are repeated.

        `samples`: of every replicate, of none, or (by default) of the first only. `capture`: packets to
        capture. `programs`: on the hosts of an emulation.
        """
        seed = scenario.seed if seed is None else whole_number("seed", seed)
        count = (
            whole_number("replicates", replicates, least=1) if scenario.is_random or backend == LINUX else 1
        )
        return cls(
            tuple(
                Job(
                    name=scenario.name,
                    scenario_json=scenario.resolved_json,
                    scenario_hash=scenario.hash,
                    seed=seed,
                    replicate=replicate,
                    samples=replicate == 0 if samples is None else samples,
                    capture=capture,
                    backend=backend,
                    programs=programs,
                )
                for replicate in range(count)
            )
        )

    def __add__(self, other: Study) -> Study:
        return Study(self.jobs + other.jobs)


class Work(Protocol):
    """Where jobs come from, and where outcomes go."""

    def next(self) -> Job | None:
        """Return the next job, or None if there is none until a running job ends."""

    def left(self) -> int:
        """Return about how many jobs are left."""

    def finished(self, job: Job, outcome: Outcome) -> None:
        """Take the outcome of a job, which is stored already."""

    def title(self, job: Job) -> str:
        """Return the name of a job in messages, or nothing."""


def run_study(
    study: Study,
    store: Store,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Outcome]:
    """Run the jobs that the store does not contain, and return all outcomes in the order of the study.

    The other arguments are as for `fill`.
    """
    outcomes: dict[str, Outcome] = {}
    fill(study.jobs, store, executor=executor, workers=workers, progress=progress, keep=outcomes.__setitem__)
    return [outcomes[job.key] for job in study.jobs]


def fill(
    jobs: Iterable[Job],
    store: Store,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    keep: Callable[[str, Outcome], object] = lambda key, outcome: None,
    failed: Callable[[Job, RunError], object] | None = None,
) -> None:
    """Run the jobs that the store does not contain. Equal jobs run once.

    `executor`: by default `workers` threads of this process. Only this process writes the store. `progress`
    is called with the number of finished runs and of all runs, `keep` with each key and outcome. On Ctrl-C
    running jobs are stopped, finished ones are kept, and KeyboardInterrupt is raised. `failed` takes each run
    that failed. Without it a `RunError` is raised, as by `work_off`.
    """
    done: set[str] = set()
    missing: dict[str, Job] = {}
    every: dict[str, Job] = {}
    for job in jobs:
        # A job with samples also serves an equal job without samples.
        if job.key not in every or job.samples:
            every[job.key] = job
    for job in every.values():
        if (stored := store.get(job)) is not None:
            done.add(job.key)
            keep(job.key, stored)
        else:
            missing[job.key] = job
    total = len(done) + len(missing)
    progress(len(done), total)

    class Missing:
        def __init__(self) -> None:
            self._jobs = deque(missing.values())

        def next(self) -> Job | None:
            return self._jobs.popleft() if self._jobs else None

        def left(self) -> int:
            return len(self._jobs)

        def finished(self, job: Job, outcome: Outcome) -> None:
            done.add(job.key)
            keep(job.key, outcome)
            progress(len(done), total)

        def title(self, job: Job) -> str:
            # One scenario needs no name.
            return job.name if len({other.name for other in every.values()}) > 1 else ""

    work_off(Missing(), store, executor=executor, workers=workers, failed=failed)


def work_off(
    work: Work,
    store: Store,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    failed: Callable[[Job, RunError], object] | None = None,
) -> None:
    """Run and store the jobs of `work`, until it has none and none is running. It keeps no outcome.

    `executor`, `workers` as for `fill`. On Ctrl-C running jobs are stopped, finished ones are kept, and
    KeyboardInterrupt is raised. Runs that fail do not stop the others. In the end one `RunError` is raised
    for all failures, or `failed` takes each.
    """
    if executor is not None:
        failures = _work_off(work, store, executor)
    else:
        with Threads(workers) as threads:
            failures = _work_off(work, store, threads)
    if failures and failed is None:
        raise _failure(work, store, failures)
    for job, error in failures:
        assert failed is not None, "failures are told one by one"
        failed(job, error)


def _work_off(work: Work, store: Store, executor: Executor) -> list[tuple[Job, RunError]]:
    """Run and store the jobs of `work`, and return those that failed."""
    running: dict[Future[Chunk], tuple[Job, ...]] = {}
    chunk_size = ChunkSize(executor.chunk_s)
    #: Jobs that an executor returned without running them.
    again: deque[Job] = deque()
    failed: list[tuple[Job, RunError]] = []

    def next_jobs() -> tuple[Job, ...]:
        size = chunk_size.next(work.left() + len(again), executor.capacity())
        jobs: list[Job] = []
        while len(jobs) < size and (job := again.popleft() if again else work.next()) is not None:
            jobs.append(job)
        return tuple(jobs)

    try:
        while True:
            while len(running) < executor.capacity() and (jobs := next_jobs()):
                running[executor.submit(jobs)] = jobs
            if not running:
                break
            done, _ = wait(running, timeout=_SIGNAL_CHECK_S, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda future: running[future][0].key):
                jobs = running[future]
                try:
                    chunk = future.result()
                except RunError as error:
                    # The error belongs to the first job. The others were not run.
                    failed.append((jobs[0], error))
                    again.extend(jobs[1:])
                    del running[future]
                    continue
                chunk_size.observe(len(chunk.outcomes), chunk.busy_s)
                again.extend(jobs[len(chunk.outcomes) :])
                for job, outcome in zip(jobs, chunk.outcomes, strict=False):
                    store.put(job, outcome)
                    work.finished(job, outcome)
                # Only after it is stored, because Ctrl-C may interrupt any line.
                del running[future]
    except BaseException as error:
        executor.stop()
        wait(running, timeout=_GRACE_S)
        for future in running:
            future.cancel()
        wait(running)
        if not isinstance(error, StoreError):
            _keep_finished(running, store)
        if isinstance(error, KeyboardInterrupt) and store.folder is not None:
            error.add_note(f"finished runs are kept in {store.folder}")
        raise
    return failed


def _failure(work: Work, store: Store, failed: Sequence[tuple[Job, RunError]]) -> RunError:
    """Return one error for runs that failed. It does not depend on their order."""
    job, error = min(failed, key=lambda each: each[0].key)
    others = len(failed) - 1
    more = [f"{others} other run{'s' * (others > 1)} failed this way"] if others else []
    kept = [f"finished runs are kept in {store.folder}"] if store.folder is not None else []
    # The lines of a traceback end with code.
    separator = "\n" if "\n" in str(error) else "; "
    title = work.title(job)
    return RunError(separator.join([f"{title}: {error}" if title else str(error), *more, *kept]))


def _keep_finished(futures: Mapping[Future[Chunk], Iterable[Job]], store: Store) -> None:
    """Store the runs that ended while another failed, or while Ctrl-C was handled."""
    for future, jobs in futures.items():
        if not future.cancelled() and future.exception() is None:
            for job, outcome in zip(jobs, future.result().outcomes, strict=False):
                store.put(job, outcome)
