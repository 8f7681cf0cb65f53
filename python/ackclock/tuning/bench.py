"""Runs of settings over a suite, kept in a store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.suite import Suite
from ackclock.running.executor import Executor
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.tuning.objective import Runs, runs_of
from ackclock.tuning.search import Values


def studies_of(suite: Suite, candidate: Candidate, seed: int, replicates: int) -> dict[str, Study]:
    """Return the runs of an algorithm over a suite, by environment. Raises `AckclockError`."""
    return {
        environment.id: Study.of(
            environment.scenario(candidate.text, suite.subject),
            seed=seed,
            replicates=replicates,
            samples=False,
        )
        for environment in suite.environments
    }


class Bench:
    """Runs settings of an algorithm over a suite, all with the same random draws, and keeps the runs."""

    def __init__(
        self,
        suite: Suite,
        store: Store,
        executor: Executor | None,
        workers: int | None,
        progress: Callable[[int, int], None],
    ) -> None:
        self.suite = suite
        self._store, self._executor, self._workers, self._progress = store, executor, workers, progress
        #: Runs that are meant to be run, as far as that is known.
        self.expected = 0
        #: The points of the store, with the columns that `ackclock query` shows for each run.
        self._points: list[tuple[int, str, int, int, str]] = []
        #: Runs so far, stored ones included.
        self.runs = 0

    def run(self, settings: Sequence[tuple[Values, Candidate]], seed: int, replicates: int) -> Iterator[Runs]:
        """Run settings as one study, and give the runs of each."""
        rows = [studies_of(self.suite, candidate, seed, replicates) for _, candidate in settings]
        self._note(settings, rows, seed)
        everything = Study(tuple(job for row in rows for study in row.values() for job in study.jobs))
        before = self.runs
        self.runs += len(everything.jobs)
        # Runs that two settings share count for both in the budget, and once here.
        distinct = len({job.key for job in everything.jobs})
        end = max(self.runs, self.expected)

        def tell(done: int, _: int) -> None:
            self._progress(before + len(everything.jobs) - distinct + done, end)

        outcomes = iter(
            run_study(everything, self._store, executor=self._executor, workers=self._workers, progress=tell)
        )
        for row in rows:
            yield runs_of({name: [next(outcomes) for _ in study.jobs] for name, study in row.items()})

    def _note(
        self, settings: Sequence[tuple[Values, Candidate]], rows: Sequence[dict[str, Study]], seed: int
    ) -> None:
        for (values, _), row in zip(settings, rows, strict=True):
            for name, study in row.items():
                shown = json.dumps({"environment": name, **values})
                number, first = len(self._points), study.jobs[0]
                self._points.append((number, first.scenario_hash, seed, len(study.jobs), shown))
        self._store.set_points(f"tune-{self.suite.name}", self._points)
