"""Runs the rounds of a race. The core decides which algorithms run, and when the race ends.

`docs/learn/how-algorithms-are-compared.md` explains the rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ackclock import _core
from ackclock.errors import ArgumentValueError, RunError
from ackclock.evaluation.budget import Budget
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.judging import algorithm_data, suite_data
from ackclock.evaluation.regret import RegretBaseline
from ackclock.evaluation.score import measured
from ackclock.evaluation.suite import Suite
from ackclock.running.backend import faults
from ackclock.running.executor import Executor
from ackclock.running.job import LINUX, SIM, Job, Outcome
from ackclock.running.store import Store
from ackclock.running.warned import Warned, gathered
from ackclock.running.work import Study, fill, run_study
from ackclock.scenario import Scenario

#: The largest number of replicates of a race with a budget.
MOST = 1000


@dataclass
class Runner:
    """An algorithm with the scenario of each environment."""

    candidate: Candidate
    scenarios: list[Scenario]
    backend: str
    #: The number of finished replicates.
    replicates: int = 0

    @cached_property
    def random(self) -> tuple[bool, ...]:
        """Whether each environment is random."""
        return tuple(scenario.is_random or self.backend == LINUX for scenario in self.scenarios)


@dataclass
class Found:
    """New runs: values by replicate and metric, and failures, by the places of environment and algorithm."""

    values: list[tuple[int, int, list[list[float]]]] = field(default_factory=list)
    failures: list[tuple[int, int, int, str]] = field(default_factory=list)
    #: The simulated events of the last run of each environment.
    events: dict[int, int] = field(default_factory=dict)


class Track:
    """Runs algorithms over a suite."""

    def __init__(
        self,
        suite: Suite,
        sets: Sequence[str],
        seed: int,
        store: Store,
        executor: Executor | None,
        workers: int | None,
        progress: Callable[[int, int], None],
        backend: str = SIM,
    ) -> None:
        self.suite, self.sets, self.seed, self.backend = suite, sets, seed, backend
        self._store, self._executor, self._workers, self._progress = store, executor, workers, progress
        #: The number of runs, and the number of emulated runs that missed their times.
        self.runs = self.invalid = 0

    def runner(self, candidate: Candidate) -> Runner:
        """Prepare an algorithm. Raises `AckclockError` if an environment does not accept it."""
        environments = self.suite.environments
        scenarios = [each.scenario(candidate.text, self.suite.subject, self.sets) for each in environments]
        return Runner(candidate, scenarios, self.backend)

    def jobs(self, runner: Runner, replicates: int, samples: bool) -> list[tuple[int, Job]]:
        """Return the missing runs up to a number of replicates, with the places of their environments."""
        found = []
        for place, scenario in enumerate(runner.scenarios):
            study = Study.of(
                scenario,
                seed=self.seed,
                replicates=replicates,
                samples=None if samples else False,
                backend=self.backend,
            )
            found += [(place, job) for job in study.jobs if job.replicate >= runner.replicates]
        return found

    def extend(
        self, runners: Iterable[tuple[int, Runner]], replicates: int, *, samples: bool, alone: bool = False
    ) -> Found:
        """Run the missing runs up to a number of replicates.

        `runners`: with the places of their algorithms. `samples`: whether to sample the first replicate.
        `alone`: whether a failed run raises `RunError`.
        """
        # Environments with the same scenario share their runs.
        places: dict[str, list[tuple[int, int, int]]] = {}
        jobs: list[Job] = []
        for algorithm, runner in runners:
            for place, job in self.jobs(runner, replicates, samples):
                places.setdefault(job.key, []).append((place, algorithm, job.replicate))
                jobs.append(job)
            runner.replicates = replicates
        rows: dict[tuple[str, int], list[float]] = {}
        found = Found()

        def keep(key: str, outcome: Outcome) -> None:
            document = json.loads(outcome.result_json)
            for place, _, _ in places[key]:
                rows[key, place] = measured(self.suite.environments[place], outcome.result_json)
                found.events[place] = document["events"]
            if self.backend == LINUX:
                self.invalid += bool(faults(document))

        def failed(job: Job, error: RunError) -> None:
            found.failures += [(*each, str(error)) for each in places[job.key]]

        before = self.runs
        fill(
            jobs,
            self._store,
            executor=self._executor,
            workers=self._workers,
            progress=lambda done, total: self._progress(before + done, before + total),
            keep=keep,
            failed=None if alone else failed,
        )
        self.runs += len(places)
        grouped: dict[tuple[int, int], list[list[float]]] = {}
        for key, entries in places.items():
            for place, algorithm, _ in entries:
                if (key, place) in rows:
                    grouped.setdefault((place, algorithm), []).append(rows[key, place])
        found.values = [(*where, each) for where, each in grouped.items()]
        return found

    def first(self, runners: Sequence[Runner]) -> tuple[tuple[tuple[Job, Outcome], ...], ...]:
        """Return the sampled first replicates, by environment and algorithm. Most are stored already."""
        jobs = [
            Study.of(runner.scenarios[place], seed=self.seed, backend=self.backend).jobs[0]
            for place in range(len(self.suite.environments))
            for runner in runners
        ]
        outcomes = run_study(
            Study(tuple(jobs)),
            self._store,
            executor=self._executor,
            workers=self._workers,
            progress=lambda done, total: self._progress(self.runs, self.runs) if done == total else None,
        )
        pairs, count = list(zip(jobs, outcomes, strict=True)), len(runners)
        return tuple(tuple(pairs[at : at + count]) for at in range(0, len(pairs), count))


@dataclass(frozen=True)
class Limits:
    """The limits of a race."""

    #: The largest number of replicates.
    most: int
    #: The number of replicates for the last remaining candidate.
    settled: int
    budget: Budget | None


class Race:
    """Candidates and a panel over a suite."""

    def __init__(
        self,
        track: Track,
        candidates: Sequence[Candidate],
        panel: Sequence[Candidate],
        baseline: RegretBaseline,
        metric: str,
        weights: Mapping[str, float],
        limits: Limits,
    ) -> None:
        self.track, self.panel, self._baseline = track, panel, baseline
        self._metric, self._weights, self._limits = metric, weights, limits
        #: The rows of `measured`, by the places of environment and algorithm.
        self._values: dict[tuple[int, int], list[list[float]]] = {}
        every = [*candidates, *panel]
        #: Each algorithm once.
        self.runners: list[Runner] = []
        for each in every:
            if all(each.resolved != other.candidate.resolved for other in self.runners):
                self.runners.append(track.runner(each))
        self._candidates = [self._place(each) for each in candidates]
        self._of_panel = {self._place(each) for each in panel}

    def _place(self, candidate: Candidate) -> int:
        places = (at for at, each in enumerate(self.runners) if each.candidate.resolved == candidate.resolved)
        return next(places)

    def run(self, *, samples: bool, alone: bool) -> dict[str, Any]:
        """Run all rounds, and return `document` and `overview` of the evaluation.

        `samples`: whether to sample the first replicates. `alone`: whether a failing candidate raises
        `RunError`. A failing algorithm of the panel always does.
        """
        race, failing = self._prepared(), set[int]()
        while (wanted := race.wanted()) is not None:
            replicates, algorithms = wanted
            taking_part = [(at, self.runners[at]) for at in algorithms]
            found = self.track.extend(taking_part, replicates, samples=samples, alone=alone)
            for _, algorithm, _, message in sorted(found.failures):
                if algorithm in self._of_panel:
                    raise RunError(f"the panel's {self.runners[algorithm].candidate.label}: {message}")
            race.add(found.values, found.failures)
            for place, algorithm, rows in found.values:
                self._values.setdefault((place, algorithm), []).extend(rows)
            failing |= {algorithm for _, algorithm, _, _ in found.failures}
        if not self.panel and failing >= set(self._candidates):
            raise RunError("every candidate failed, and there is no panel to show")
        notes = {
            "invalid": (self.track.invalid, self.track.runs),
            "warnings": [each.json("environments") for each in self.warnings],
        }
        evaluation: dict[str, Any] = json.loads(race.evaluation_json(json.dumps(notes)))
        return evaluation

    @property
    def values(self) -> dict[str, dict[str, tuple[tuple[float, ...], ...]]]:
        """The rows of `measured`, a row for each replicate, by id of the environment and label."""
        found: dict[str, dict[str, tuple[tuple[float, ...], ...]]] = {}
        for (place, algorithm), rows in self._values.items():
            of_environment = found.setdefault(self.track.suite.environments[place].id, {})
            of_environment[self.runners[algorithm].candidate.label] = tuple(map(tuple, rows))
        return found

    @cached_property
    def warnings(self) -> tuple[Warned, ...]:
        """The distinct warnings of scenarios, each with the ids of its environments."""
        return gathered(
            (environment.id, [text for runner in self.runners for text in runner.scenarios[place].warnings])
            for place, environment in enumerate(self.track.suite.environments)
        )

    def _prepared(self) -> _core.Race:
        """Return the race. Raises `ArgumentValueError` for a budget that the first round would exceed."""
        track, limits, budget = self.track, self._limits, self._limits.budget
        if budget is not None and not self.panel:
            raise ArgumentValueError("budget", "needs a panel, whose runs determine the cost of a run")
        suite = suite_data(track.suite, self.panel, self._baseline, track.sets)
        plan = {
            "build": _core.BUILD,
            "seed": track.seed,
            "sets": list(track.sets),
            "metric": self._metric,
            "weights": self._weights,
            "algorithms": [algorithm_data(runner.candidate) for runner in self.runners],
            "candidates": self._candidates,
            "random": [
                [runner.random[place] for runner in self.runners]
                for place in range(len(track.suite.environments))
            ],
            "limits": {
                "most": limits.most,
                "settled": limits.settled,
                "budget": budget
                and {"text": budget.text, "amount": budget.amount, "events": self._events(budget)},
            },
        }
        try:
            return _core.Race(json.dumps(suite), json.dumps(plan))
        except _core.BudgetError as error:
            assert budget is not None, "only a budget can be too small"
            raise ArgumentValueError(
                "budget",
                f"{budget.text!r}: is too small: the first round of {len(self._candidates)} candidates and "
                f"{len(self.panel)} of the panel takes {budget.shown(error.args[0])}",
            ) from None

    def _events(self, budget: Budget) -> list[int] | None:
        """Return the events of a run of the reference in each environment, for budgets of seconds."""
        if budget.time_s is None:
            return None
        reference = self.track.runner(self.panel[0])
        events = self.track.extend([(0, reference)], 1, samples=True, alone=True).events
        return [events[place] for place in range(len(self.track.suite.environments))]
