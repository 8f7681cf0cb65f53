"""A race gives candidates more and more replicates, and drops those that are clearly worse.

`docs/learn/how-algorithms-are-compared.md` explains the rule.

All decisions follow from results that do not depend on the machine: a budget counts simulated events.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ackclock import _core
from ackclock.errors import ArgumentValueError, RunError
from ackclock.evaluation.budget import Budget
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.ranking import (
    ALPHA,
    BEST,
    DROPPED,
    FAILED,
    PANEL,
    TIED,
    WORSE,
    Costs,
    Difference,
    Entry,
    Failure,
    Measure,
    Objective,
    Ranking,
    Round,
    Scored,
    difference,
)
from ackclock.evaluation.regret import RegretBaseline
from ackclock.evaluation.score import Metric, metrics_of, values_of
from ackclock.evaluation.suite import Suite
from ackclock.running.executor import Executor
from ackclock.running.job import LINUX, SIM, Job, Outcome
from ackclock.running.store import Store
from ackclock.running.work import Study, fill, run_study
from ackclock.scenario import Scenario

#: The number of replicates in the first round. With fewer, intervals are too wide to drop candidates.
_FIRST = 4
#: The largest number of replicates of a race with a budget.
MOST = 1000
#: A round that the budget shortens must still add this share of replicates.
_LEAST_GROWTH = 0.5
#: The number of simulated events that count as one second of one core.
EVENTS_PER_S = 4e6


@dataclass
class Runner:
    """An algorithm with the results of its runs so far."""

    candidate: Candidate
    #: The scenario of each environment.
    scenarios: list[Scenario]
    #: Values per replicate, by environment and metric.
    values: dict[str, dict[str, list[float]]]
    #: The failed runs: place of the environment, replicate, message.
    failures: list[tuple[int, int, str]] = field(default_factory=list)
    #: The requested number of replicates.
    replicates: int = 0
    #: The backend of the runs.
    backend: str = SIM

    @cached_property
    def random(self) -> tuple[bool, ...]:
        """Whether each environment is random."""
        return tuple(scenario.is_random or self.backend == LINUX for scenario in self.scenarios)

    @property
    def is_random(self) -> bool:
        """Whether any environment is random."""
        return any(self.random)

    @property
    def whole(self) -> dict[str, dict[str, tuple[float, ...]]]:
        """The values of the environments without a failed run."""
        failed = {place for place, _, _ in self.failures}
        return {
            name: {metric: tuple(values) for metric, values in row.items()}
            for place, (name, row) in enumerate(self.values.items())
            if place not in failed
        }

    @property
    def exact(self) -> frozenset[str]:
        """The deterministic environments."""
        return frozenset(name for name, random in zip(self.values, self.random, strict=True) if not random)


class Track:
    """Runs algorithms over a suite, and stores the values of the metrics."""

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
        self.metrics: list[tuple[Metric, ...]] = [
            metrics_of(environment) for environment in suite.environments
        ]
        self._done = 0

    def runner(self, candidate: Candidate) -> Runner:
        """Prepare an algorithm. Raises `AckclockError` if an environment does not accept it."""
        environments = self.suite.environments
        return Runner(
            candidate,
            [each.scenario(candidate.text, self.suite.test_groups, self.sets) for each in environments],
            {
                environment.id: {metric.name: [] for metric in metrics}
                for environment, metrics in zip(environments, self.metrics, strict=True)
            },
            backend=self.backend,
        )

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
        self, runners: Iterable[Runner], replicates: int, *, samples: bool, alone: bool = False
    ) -> dict[int, int]:
        """Run the missing runs up to a number of replicates, and return the events of each environment.

        `samples`: whether to sample the first replicate. `alone`: whether a failed run raises `RunError`.
        Otherwise the algorithm records it.
        """
        places: dict[str, list[tuple[Runner, int, int]]] = {}
        jobs: list[Job] = []
        for runner in runners:
            for place, job in self.jobs(runner, replicates, samples):
                places.setdefault(job.key, []).append((runner, place, job.replicate))
                jobs.append(job)
            runner.replicates = replicates
        found: dict[tuple[int, int, int], tuple[float, ...]] = {}
        events: dict[int, int] = {}

        def keep(key: str, outcome: Outcome) -> None:
            for runner, place, replicate in places[key]:
                values = tuple(values_of(self.suite.environments[place], outcome.result_json))
                found[id(runner), place, replicate] = values
                events[place] = json.loads(outcome.result_json)["events"]

        def failed(job: Job, error: RunError) -> None:
            for runner, place, replicate in places[job.key]:
                runner.failures.append((place, replicate, str(error)))

        before = self._done
        fill(
            jobs,
            self._store,
            executor=self._executor,
            workers=self._workers,
            progress=lambda done, total: self._progress(before + done, before + total),
            keep=keep,
            failed=None if alone else failed,
        )
        self._done += len(places)
        for entries in places.values():
            for runner, place, replicate in entries:
                if (values := found.get((id(runner), place, replicate))) is not None:
                    row = runner.values[self.suite.environments[place].id]
                    for metric, value in zip(self.metrics[place], values, strict=True):
                        row[metric.name].append(value)
        return events

    def outcomes(self, study: Study) -> list[Outcome]:
        """Return the outcomes of runs in order. Most are stored already."""
        before = self._done
        return run_study(
            study,
            self._store,
            executor=self._executor,
            workers=self._workers,
            progress=lambda done, total: self._progress(before, before) if done == total else None,
        )

    def costs(self, runner: Runner) -> Costs:
        """Return the costs of all runs of an algorithm."""
        return {
            environment.id: {
                metric.name: [metric.cost(value) for value in runner.values[environment.id][metric.name]]
                for metric in metrics
            }
            for environment, metrics in zip(self.suite.environments, self.metrics, strict=True)
        }


@dataclass(frozen=True)
class Limits:
    """The limits of a race."""

    #: The largest number of replicates.
    most: int
    #: The number of replicates for the last remaining candidate.
    settled: int
    budget: Budget | None

    @property
    def first(self) -> int:
        """The number of replicates in the first round. Without a budget it is the only round."""
        return min(_FIRST, self.most) if self.budget is not None else self.most


class Race:
    """Runs the rounds of a race, and ranks the candidates."""

    def __init__(
        self,
        track: Track,
        candidates: Sequence[Candidate],
        panel: Sequence[Candidate],
        baseline: RegretBaseline,
        metric: str,
        limits: Limits,
        *,
        samples: bool,
        alone: bool,
    ) -> None:
        self.track, self.limits, self.metric = track, limits, metric
        self._baseline, self._samples, self._alone = baseline, samples, alone
        self.runners = [track.runner(candidate) for candidate in candidates]
        self.panel = [track.runner(candidate) for candidate in panel]
        self._alive = list(range(len(self.runners)))
        self._out: dict[int, tuple[int, str, Difference | None]] = {}
        self._rounds: list[Round] = []
        self._last: dict[int, Difference] = {}
        self._used = 0.0

    def run(self) -> Ranking:
        """Run all rounds. Raises `RunError` if the panel or the only candidate fails."""
        weights = self._weights()
        following: int | str = self.limits.first
        while isinstance(following, int):
            self._round(following, weights)
            following = self._next(following, weights)
        return self._ranking(following)

    def _weights(self) -> dict[int, float] | None:
        """Return the work of a run in each environment, if a budget counts it.

        The work of the panel's first algorithm counts, so that it is known in advance. Raises
        `ArgumentValueError` for a budget that the first round would exceed.
        """
        budget = self.limits.budget
        if budget is None:
            return None
        if not self.panel:
            raise ArgumentValueError("budget", "needs a panel, whose runs determine the cost of a run")
        weights = {place: 1.0 for place in range(len(self.track.suite.environments))}
        if budget.time_s is not None:
            reference = self.track.runner(self.panel[0].candidate)
            events = self.track.extend([reference], 1, samples=True, alone=True)
            weights = {place: count / EVENTS_PER_S for place, count in events.items()}
        work = self._work(self.limits.first, weights)
        if work > budget.amount:
            raise ArgumentValueError(
                "budget",
                f"{budget.text!r}: is too small: the first round, {self.limits.first} replicates of "
                f"{len(self.runners)} candidates and {len(self.panel)} of the panel, takes "
                f"{budget.shown(work)}",
            )
        return weights

    def _taking_part(self) -> list[Runner]:
        return [*(self.runners[index] for index in self._alive), *self.panel]

    def _work(self, replicates: int, weights: dict[int, float] | None) -> float:
        """Return the work of all participants up to a number of replicates."""
        if weights is None:
            return 0.0
        return math.fsum(
            weights[place] * max(0, (replicates if random else 1) - runner.replicates)
            for runner in self._taking_part()
            for place, random in enumerate(runner.random)
        )

    def _round(self, replicates: int, weights: dict[int, float] | None) -> None:
        """Run the remaining candidates, and drop failed and significantly worse ones."""
        work = self._work(replicates, weights)
        self._used += work
        took_part = list(self._alive)
        self.track.extend(self._taking_part(), replicates, samples=self._samples, alone=self._alone)
        for runner in self.panel:
            if runner.failures:
                raise RunError(f"the panel's {runner.candidate.label}: {self._failure(runner).message}")
        number = len(self._rounds) + 1
        failed = [index for index in took_part if self.runners[index].failures]
        self._out |= {index: (number, FAILED, None) for index in failed}
        self._alive = [index for index in took_part if index not in failed]
        # The levels of all rounds add up to at most ALPHA, as 1/2 + 1/6 + 1/12 + ... = 1.
        spent = ALPHA / (number * (number + 1)) if self.limits.budget is not None else ALPHA
        alpha = spent / max(1, len(self.runners) - 1)
        worse = self._worse(alpha)
        self._out |= {index: (number, DROPPED, found) for index, found in worse.items() if found.is_clear}
        self._alive = [index for index in self._alive if index not in self._out]
        dropped = tuple(index for index, found in worse.items() if found.is_clear)
        self._rounds.append(Round(replicates, len(took_part), alpha, work, dropped, tuple(failed)))
        self._last = worse

    def _worse(self, alpha: float) -> dict[int, Difference]:
        """Return the difference of each other candidate to the leader."""
        if not self._alive:
            return {}
        measure = self._measure()
        scores = {index: Scored.of(self.track.costs(self.runners[index]), measure) for index in self._alive}
        leader = min(scores, key=lambda index: (scores[index].value.mean, index))
        first = self.runners[leader]
        return {
            index: difference(
                scores[index].values,
                scores[leader].values,
                first.candidate.label,
                alpha,
                exact=not (first.is_random or self.runners[index].is_random),
            )
            for index in self._alive
            if index != leader
        }

    def _measure(self) -> Measure:
        """Return the definition of scores, and the best scores from the store or from this panel."""
        stored = self._baseline
        if not stored.stored:
            whole = self.panel or [runner for runner in self.runners if not runner.failures]
            costs = [self.track.costs(runner) for runner in whole]
            best, worst = _core.best_costs(costs), _core.worst_costs(costs)
            return Measure(Objective.of(self.track.suite, self.metric, best, worst), best)
        objective = Objective.of(self.track.suite, self.metric, stored.best, stored.worst)
        if not stored.best_costs:
            return Measure(objective, stored.best)
        parts = list(objective.by_environment(stored.best_costs, stored.best).values())
        return Measure(objective, stored.best, parts, stored.seed == self.track.seed)

    def _next(self, replicates: int, weights: dict[int, float] | None) -> int | str:
        """Return the number of replicates of the next round, or the reason for the end of the race."""
        limits, budget = self.limits, self.limits.budget
        if not self._alive:
            return "all candidates failed"
        taking_part = self._taking_part()
        if not any(runner.is_random for runner in taking_part):
            return "nothing is random, so one replicate is enough"
        most = limits.settled if len(self._alive) == 1 else limits.most
        if budget is None or replicates >= most:
            alone = len(self._alive) == 1 and len(self.runners) > 1
            return "one candidate is left" if alone else "all replicates were run"
        wanted = min(2 * replicates, most)
        least = min(wanted, replicates + math.ceil(_LEAST_GROWTH * replicates))
        affordable = replicates + math.floor(
            (budget.amount - self._used) / self._work(replicates + 1, weights)
        )
        return min(wanted, affordable) if affordable >= least else "the budget is used up"

    def _failure(self, runner: Runner) -> Failure:
        place, replicate, message = min(runner.failures)
        return Failure(self.track.suite.environments[place].id, replicate, message)

    def _entry(self, index: int, runner: Runner, measure: Measure) -> Entry:
        """Return an algorithm with its score, and without a rank."""
        costs = self.track.costs(runner)
        whole = runner.whole
        entry = Entry(
            index,
            runner.candidate,
            PANEL,
            None,
            runner.replicates,
            None,
            values=whole,
            parts=measure.objective.by_environment({name: costs[name] for name in whole}, measure.best),
            exact=runner.exact,
            hashes=dict(zip(runner.values, (scenario.hash for scenario in runner.scenarios), strict=True)),
        )
        if runner.failures:
            return replace(entry, standing=FAILED, failure=self._failure(runner))
        means = {
            name: {metric: math.fsum(values) / len(values) for metric, values in row.items()}
            for name, row in runner.values.items()
        }
        regrets = {
            name: {
                metric: math.fsum(values) / len(values) - measure.best[metric][name]
                for metric, values in row.items()
            }
            for name, row in costs.items()
        }
        return replace(entry, score=Scored.of(costs, measure), means=means, regrets=regrets)

    def _ranking(self, ended: str) -> Ranking:
        """Return all candidates in order: by score in the last round, then earlier rounds."""
        measure = self._measure()
        last = len(self._rounds)
        placed = []
        for index, runner in enumerate(self.runners):
            entry = self._entry(index, runner, measure)
            number, standing, found = self._out.get(index, (None, TIED, self._last.get(index)))
            if standing == DROPPED and number == last:
                standing = WORSE
            placed.append(replace(entry, standing=standing, difference=found, round=number))
        placed.sort(key=lambda entry: self._place(entry, last))
        entries = []
        for rank, entry in enumerate(placed, 1):
            standing = BEST if rank == 1 and entry.score is not None else entry.standing
            entries.append(replace(entry, standing=standing, rank=None if entry.score is None else rank))
        panel = [self._entry(index, runner, measure) for index, runner in enumerate(self.panel)]
        panel.sort(key=lambda entry: entry.score.value.mean if entry.score is not None else math.inf)
        budget = self.limits.budget
        return Ranking(
            measure.objective,
            tuple(entries),
            tuple(panel),
            tuple(self._rounds),
            ALPHA,
            None if budget is None else budget.text,
            ended,
        )

    def _place(self, entry: Entry, last: int) -> tuple[int, float, int]:
        """Return the sort key of a candidate: its last round, then its score."""
        if entry.score is None:
            return 1, 0.0, entry.index
        reached = last + 1 if entry.standing in (TIED, WORSE) else (entry.round or 0)
        return -reached, entry.score.value.mean, entry.index
