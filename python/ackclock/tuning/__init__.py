"""Tuning: the parameters of an algorithm with the smallest worst-case regret over a suite."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ackclock.arguments import optional_number, texts, whole_number
from ackclock.errors import ArgumentValueError, InputError
from ackclock.evaluation.budget import Budget
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.constraints import Constraint, constraints
from ackclock.evaluation.ranking import SHARES
from ackclock.evaluation.regret import Regret
from ackclock.evaluation.suite import Suite
from ackclock.running.executor import Executor
from ackclock.running.store import Store
from ackclock.running.warned import Warned
from ackclock.tuning.bench import Bench, studies_of
from ackclock.tuning.objective import Objective
from ackclock.tuning.search import Search, Values, key_of
from ackclock.tuning.space import Space

#: Paired seeds per environment while searching.
DEFAULT_REPLICATES = 2
DEFAULT_BUDGET = "3000"
DEFAULT_METRIC = SHARES
#: The best of the search, which are run again with seeds that it did not use.
_FINALISTS = 3
#: With fewer settings per searched parameter, a search cannot show that no setting is better. The number is
#: the rule of Loeppky, Sacks & Welch (2009, "Choosing the Sample Size of a Computer Experiment").
_SETTINGS_PER_PARAMETER = 10


@dataclass(frozen=True)
class Trial:
    """Parameters and their results."""

    number: int
    values: Values
    candidate: Candidate
    regret: Regret
    #: The number of its runs.
    runs: int

    @property
    def rank(self) -> tuple[float, float]:
        """Worst-case regret, then total: less is better."""
        return self.regret.worst_case.mean, self.regret.total.mean


@dataclass(frozen=True)
class Finalist:
    """Parameters with seeds that the search did not use, and every metric."""

    values: Values
    candidate: Candidate
    #: One regret per metric. The search minimised the first.
    regrets: tuple[Regret, ...]
    constraints: tuple[Constraint, ...]
    is_default: bool

    @property
    def regret(self) -> Regret:
        """The regret in the metric that was minimised."""
        return self.regrets[0]


@dataclass(frozen=True)
class Tuning:
    """The result of a search."""

    space: Space
    objective: Objective
    budget: Budget
    seed: int
    replicates: int
    check_replicates: int
    #: Each setting once, in the order of their trials, the default first.
    trials: tuple[Trial, ...]
    #: By worst-case regret, then total.
    finalists: tuple[Finalist, ...]
    #: Whether the search ended before the budget did.
    converged: bool
    generations: int
    #: Settings of a generation.
    population: int
    #: The runs of the check.
    check_runs: int

    @property
    def runs(self) -> int:
        """The runs of the search."""
        return sum(trial.runs for trial in self.trials)

    @property
    def is_telling(self) -> bool:
        """Whether the search was large enough to conclude from it that no setting is better."""
        return self.converged or self.generations >= self._telling_generations

    @property
    def telling_runs(self) -> int:
        """The number of runs of a conclusive search and its check, whether it converges or not."""
        check = self.check_runs // len(self.finalists) * (_FINALISTS + 1)
        return self.trials[0].runs * (1 + self._telling_generations * self.population) + check

    @property
    def _telling_generations(self) -> int:
        return math.ceil(_SETTINGS_PER_PARAMETER * len(self.space.axes) / self.population)

    @property
    def best(self) -> Finalist:
        """The least total regret of those within the interval of the least worst case."""
        allowed = [each for each in self.finalists if self.space.allows(each.values)] or [self.default]
        first = allowed[0].regret.worst_case
        most = first.mean if first.high is None else first.high
        tied = [each for each in allowed if each.regret.worst_case.mean <= most]
        return min(tied, key=lambda each: each.regret.total.mean)

    @property
    def default(self) -> Finalist:
        """The default parameters with the same seeds."""
        return next(finalist for finalist in self.finalists if finalist.is_default)

    @cached_property
    def warnings(self) -> tuple[Warned, ...]:
        """The distinct warnings of scenarios with the finalists, each with the ids of its environments."""
        return self.objective.suite.warnings(each.candidate for each in self.finalists)

    @property
    def front(self) -> tuple[Trial, ...]:
        """The Pareto front: trials that no other beats in both worst case and total, by worst case."""
        found: list[Trial] = []
        for trial in sorted(self.trials, key=lambda trial: trial.rank):
            if not found or trial.regret.total.mean < found[-1].regret.total.mean:
                found.append(trial)
        return tuple(found)


def tune(
    cc: str,
    *,
    suite: str = "core",
    budget: str | int = DEFAULT_BUDGET,
    over: Sequence[str] = (),
    metric: str = DEFAULT_METRIC,
    weights: Mapping[str, float] | None = None,
    constrained: bool = False,
    keep: Sequence[str] = (),
    replicates: int = DEFAULT_REPLICATES,
    check_replicates: int | None = None,
    seed: int = 1,
    finds: str | Path | None = None,
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Tuning:
    """Search the parameters of an algorithm for the smallest worst-case regret of a metric over a suite.

    Total regret breaks ties. `metric` is `shares`, the default score with its `weights`, or a single metric.

    `cc` is the same as for `evaluate`, and parameters given with it stay fixed. `budget` is a number of runs
    (`2000`) or a time (`10 min`), including the check of the best with new seeds. `over` is a text
    `PARAM=lo..hi`. `constrained` applies the constraints that Reddy et al. print. `keep` lists relations
    between parameters that all settings obey, such as `alpha < beta`. `replicates` is the number of paired
    seeds per environment in the search. `check_replicates` is the same for the check, by default the suite's
    number. `finds` is another suite whose environments count as well, with the same panel, such as the finds
    of attacks. `out` is a folder for the runs, and the same search continues from it. Raises `AckclockError`.
    The budget must suffice for the default, a first generation of settings and the check.
    """
    replicates = whole_number("replicates", replicates, least=1)
    check_replicates = optional_number("check_replicates", check_replicates, least=1)
    seed = whole_number("seed", seed)
    over = texts("over", over, "increase=0.5..3")
    loaded = Suite.load(suite)
    space = Space.of(cc, over, constrained=constrained, keep=texts("keep", keep, "alpha < beta"))
    objective = Objective.of(loaded, metric, weights or {})
    if finds is not None:
        objective = objective.joined(Objective.of(Suite.load(str(finds)), metric, weights or {}))
        loaded = objective.suite
    limit = Budget.parse(budget)
    count = check_replicates or loaded.replicates
    search = Search(space, seed)
    # The check runs so many settings at the most: the best, and the default.
    reserve = (_FINALISTS + 1) * _runs_of(loaded, space, (seed + 1) % 2**63, count)
    _require_generation(loaded, space, search, limit, seed, replicates, reserve)
    with Store(out) as store:
        store.claim()
        bench = Bench(loaded, store, executor, workers, progress)
        bench.expected = limit.runs or 0
        trials, converged, generations = _search(
            space, objective, search, bench, limit, seed, replicates, reserve
        )
        searched = bench.runs
        finalists = _check(space, objective, bench, trials, (seed + 1) % 2**63, count)
    return Tuning(
        space,
        objective,
        limit,
        seed,
        replicates,
        count,
        trials,
        finalists,
        converged,
        generations,
        search.population,
        bench.runs - searched,
    )


def _runs_of(suite: Suite, space: Space, seed: int, replicates: int) -> int:
    """Return the runs of a setting."""
    studies = studies_of(suite, space.candidate(space.default), seed, replicates)
    return sum(len(study.jobs) for study in studies.values())


def _require_generation(
    suite: Suite, space: Space, search: Search, budget: Budget, seed: int, replicates: int, reserve: int
) -> None:
    """Raise `InputError` where a budget of runs does not suffice for default, generation and check."""
    runs = _runs_of(suite, space, seed, replicates)
    least = runs * (1 + search.population) + reserve
    if budget.runs is not None and budget.runs < least:
        raise ArgumentValueError(
            "budget",
            f"{budget.text!r}: is too small; use {least} or more. Suite {suite.name} takes {runs} runs per "
            f"setting. The default and a generation are {1 + search.population} settings, and the check "
            f"takes up to {reserve} runs",
        )


def _search(
    space: Space,
    objective: Objective,
    search: Search,
    bench: Bench,
    budget: Budget,
    seed: int,
    replicates: int,
    reserve: int,
) -> tuple[tuple[Trial, ...], bool, int]:
    """Try the default, then generations until the budget is used up but for the `reserve` of the check.

    Return whether they converged, how many.

    Raises `InputError` where nothing but the default was tried.
    """
    found: dict[tuple[float, ...], Trial] = {}

    def run(settings: Sequence[Values]) -> None:
        new = {key_of(values): values for values in settings if key_of(values) not in found}
        named = [(values, space.candidate(values)) for values in new.values()]
        for (values, candidate), runs in zip(named, bench.run(named, seed, replicates), strict=True):
            count = sum(map(len, runs.values()))
            trial = Trial(len(found), values, candidate, objective.regret(runs), count)
            found[key_of(values)] = trial

    started, generations = time.monotonic(), 0
    run([space.default])
    cost = bench.runs
    while not search.converged:
        asked = search.ask()
        allowed = [values for values in asked if space.allows(values)]
        if not allowed and not generations:
            raise InputError(f"{space.text}: none of the settings drawn is allowed")
        new = {key_of(values) for values in allowed} - found.keys()
        elapsed_s = time.monotonic() - started
        # A time is foreseen by the runs so far.
        more = cost * len(new) + reserve
        if not budget.allows(bench.runs + more, elapsed_s * (1 + more / bench.runs)):
            if not generations:
                raise ArgumentValueError(
                    "budget",
                    f"{budget.text!r}: is too small: the default alone took {elapsed_s:.2g} s. "
                    f"A generation of {len(new)} and the check need about "
                    f"{elapsed_s * (1 + more / bench.runs):.2g} s in all",
                )
            break
        run(allowed)
        generations += 1
        search.tell([found[key_of(values)].rank if values in allowed else None for values in asked])
    if len(found) == 1:
        raise InputError(f"{space.text}: contains only the default; give wider ranges with --over")
    return tuple(found.values()), search.converged, generations


def _check(
    space: Space, objective: Objective, bench: Bench, trials: Sequence[Trial], seed: int, replicates: int
) -> tuple[Finalist, ...]:
    """Run the best of the search and the default with other seeds: the best of many trials is biased."""
    default = space.default
    wanted = [trial for trial in trials if space.allows(trial.values)]
    best = [trial.values for trial in sorted(wanted, key=lambda trial: trial.rank)[:_FINALISTS]]
    named = [(values, space.candidate(values)) for values in [*best, *([default] * (default not in best))]]
    objectives = [objective, *objective.others]
    bench.expected = 0
    finalists = [
        Finalist(
            values,
            candidate,
            tuple(each.regret(runs) for each in objectives),
            constraints(candidate.resolved),
            values == default,
        )
        for (values, candidate), runs in zip(named, bench.run(named, seed, replicates), strict=True)
    ]
    return tuple(
        sorted(
            finalists,
            key=lambda each: (each.regret.worst_case.mean, each.regret.total.mean, not each.is_default),
        )
    )
