"""Attacks: the network in which an algorithm is worst, compared with others that do better in it."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ackclock.arguments import optional_number, texts, whole_number
from ackclock.attacks.explanation import Explanation, explained
from ackclock.attacks.families import Family, context_of, families_of
from ackclock.attacks.finds import LEAST_REGRET, Find, grouped
from ackclock.attacks.islands import Island
from ackclock.attacks.networks import Network, Range, Trial, require_searchable
from ackclock.attacks.objectives import Objective, objective_of
from ackclock.attacks.shrinking import shrunk
from ackclock.errors import ArgumentValueError, InputError, RunError, ScenarioError
from ackclock.evaluation.budget import Budget
from ackclock.evaluation.candidate import Candidate, distinct
from ackclock.evaluation.suite import Suite
from ackclock.running.backend import chosen as chosen_backend
from ackclock.running.executor import Executor
from ackclock.running.job import execute
from ackclock.running.store import Store
from ackclock.running.warned import Warned, gathered
from ackclock.running.work import Study
from ackclock.statistics.estimates import estimate

DEFAULT_BUDGET = "5000"
DEFAULT_OBJECTIVE = "score"
#: Fresh seeds of the check.
CHECKS = 20
#: The largest number of finds.
MOST_FINDS = 5
#: The suite whose panel is the default of the references.
_SUITE = "core"
#: The least and the largest number of networks in the first generation of a family.
_FEW, _MANY = 4, 16
#: The parts of the budget after which a phase ends. The phases are the search in single families, the search
#: in pairs, and the check. Explanations use the rest.
_ALONE, _PAIRS, _CHECKED = 0.4, 0.55, 0.9
#: The best families, whose pairs are searched as well.
_COMBINED = 3
#: Replicates of each network while it shrinks, and the largest number of networks.
_SHRINK_REPLICATES, _SHRINK_NETWORKS = 2, 60
#: The largest number of runs that explain a find.
_EXPLAINED = 120


@dataclass(frozen=True)
class Attack:
    """The result of an attack."""

    candidate: Candidate
    references: tuple[Candidate, ...]
    objective: Objective
    families: tuple[Family, ...]
    budget: Budget
    seed: int
    checks: int
    #: The network without any setting.
    base: Trial
    #: Every network of the search once, in the order of the search.
    trials: tuple[Trial, ...]
    #: Confirmed or not, the largest regret first.
    finds: tuple[Find, ...]
    #: One for each confirmed find, in the same order.
    explanations: tuple[Explanation, ...]
    #: All runs, stored ones included.
    runs: int
    #: Whether the algorithm gives different results for the same network and seed.
    is_unstable: bool
    #: The other backend in which the finds ran, or none.
    backend: str | None

    @property
    def confirmed(self) -> tuple[Find, ...]:
        """The finds that fresh seeds confirm."""
        return tuple(find for find in self.finds if find.is_confirmed)

    @cached_property
    def warnings(self) -> tuple[Warned, ...]:
        """The distinct warnings of the network without changes and of the finds, each with its networks."""
        networks = dict.fromkeys([self.base.network, *(find.shrunk.network for find in self.finds)])
        every = (self.candidate, *self.references)
        return gathered(
            (each.text, [text for one in every for text in each.scenario(one).warnings]) for each in networks
        )


class _Limit:
    """The parts of a budget. The runs so far predict the time of more runs."""

    def __init__(self, budget: Budget, field: Range) -> None:
        self._budget, self._field, self._began = budget, field, time.monotonic()

    def allows(self, runs: int, part: float) -> bool:
        """Whether so many more runs stay within a part of the budget."""
        done = self._field.runs
        if self._budget.runs is not None:
            return done + runs <= part * self._budget.runs
        assert self._budget.time_s is not None, "a budget is a number of runs or a time"
        elapsed_s = time.monotonic() - self._began
        return elapsed_s * (1 + runs / max(1, done)) <= part * self._budget.time_s

    def most(self, runs: int, part: float, count: int) -> int:
        """Return how often so many runs stay within a part of the budget, at most `count`."""
        return max(each for each in range(count + 1) if not each or self.allows(each * runs, part))


def attack(
    cc: str,
    *,
    against: Sequence[str] = (),
    budget: str | int = DEFAULT_BUDGET,
    families: Sequence[str] = (),
    objective: str = DEFAULT_OBJECTIVE,
    sets: Sequence[str] = (),
    checks: int | None = None,
    confirm: str | None = None,
    seed: int = 1,
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Attack:
    """Search for the network in which an algorithm has the largest regret.

    The regret in a network is the difference to the best reference. A network in which no algorithm does well
    is therefore no find.

    - `cc`: an algorithm in a form that `evaluate` takes.
    - `against`: the references, by default the panel of `core`.
    - `budget`: a number of runs (`5000`) or a time (`10 min`) for search, shrinking, check and curves. With a
      number of runs, the result does not depend on `workers`.
    - `families`: the parts of the network that may change, by default all that fit the `objective`.
    - `sets`: changes to every scenario, such as `transport.profile=rfc`. They may not undo the settings
      of a family.
    - `checks`: the number of fresh seeds.
    - `confirm`: `kernel` or `linux`, a backend in which the confirmed finds also run once. These runs are not
      part of the budget.
    - `out`: the folder of the runs. The same attack continues from it.

    Raises `AckclockError`, also if the algorithm fails in the network without changes.
    """
    seed = whole_number("seed", seed)
    count = optional_number("checks", checks, least=2) or CHECKS
    target, limit = objective_of(objective), Budget.parse(budget)
    backend = None if confirm is None else chosen_backend(confirm)
    chosen = families_of(texts("families", families, "path"), objective)
    context, changes = context_of(objective), texts("sets", sets, "transport.profile=rfc")
    require_searchable(chosen, context, changes)
    candidate = Candidate.parse(cc)
    references = _references(candidate, texts("against", against, "cubic"))
    with Store(out) as store:
        store.claim()
        field = Range(candidate, references, target, store, executor, workers, progress)
        field.expected = limit.runs or 0
        first = first_generation(limit, field.cost_of(1), len(chosen))
        first_network = Network.of(context, {}, changes)
        base = field.run([first_network], seed)[0]
        if base.failure:
            raise RunError(f"{candidate.label} fails in the network without changes: {base.failure}")
        if not base.references:
            raise RunError("every reference fails in the network without changes")
        clock = _Limit(limit, field)
        trials = _search(field, clock, chosen, first_network, seed, first)
        finds = _finds(field, clock, trials, base.regret, seed, count)
        if backend is not None:
            finds = [
                replace(find, there=field.there(find.shrunk.network, seed, backend))
                if find.is_confirmed
                else find
                for find in finds
            ]
        explanations = _explanations(field, clock, finds, seed)
        is_unstable = candidate.is_foreign and _is_unstable(base.network, candidate, seed)
    return Attack(
        candidate,
        references,
        target,
        chosen,
        limit,
        seed,
        count,
        base,
        tuple(trials.values()),
        tuple(finds),
        explanations,
        field.runs,
        is_unstable,
        backend,
    )


def _references(candidate: Candidate, against: Sequence[str]) -> tuple[Candidate, ...]:
    """Return the references without the candidate. Raises `ArgumentValueError` if none remains."""
    every = [Candidate.parse(text) for text in against or Suite.load(_SUITE).panel]
    others = tuple(each for each in every if each.resolved != candidate.resolved)
    if against and len(others) < len(every):
        raise ArgumentValueError("against", f"{candidate.label} cannot be its own reference")
    return tuple(distinct([candidate, *others])[1:])


def first_generation(budget: Budget, cost: int, families: int) -> int:
    """Return the size of the first generation in each family. `cost`: the runs of a network.

    Raises `ArgumentValueError` for a small budget.
    """
    if budget.runs is None:
        return _MANY
    per_network = cost * families
    if budget.runs * _ALONE < per_network * _FEW + cost:
        least = int((per_network * _FEW + cost) / _ALONE) + 1
        raise ArgumentValueError(
            "budget",
            f"{budget.text!r}: is too small; use {least} or more, or fewer families. A first generation of "
            f"{_FEW} networks in each of {families} families takes {per_network * _FEW} runs",
        )
    return max(_FEW, min(_MANY, int(budget.runs * _ALONE / per_network / 2)))


def _search(
    field: Range,
    clock: _Limit,
    families: Sequence[Family],
    base: Network,
    seed: int,
    first: int,
) -> dict[Network, Trial]:
    """Search in each family, then in pairs of the best families, and return all trials.

    `base` has the families and changes that every network needs.
    """
    trials: dict[Network, Trial] = {}
    context, sets = base.families, base.sets
    alone = [Island([family], context, seed, first, sets=sets) for family in families]
    _evolve(field, clock, alone, trials, seed, _ALONE)
    # Each family with its worst network for the algorithm.
    worst = [(island, island.worst) for island in alone if island.worst is not None]
    ordered = sorted(worst, key=lambda pair: -pair[1].regret)[:_COMBINED]
    pairs = [
        Island(
            [*one.families, *other.families],
            context,
            seed,
            0,
            start={**first_worst.network.values, **other_worst.network.values},
            sets=sets,
        )
        for (one, first_worst), (other, other_worst) in itertools.combinations(ordered, 2)
    ]
    _evolve(field, clock, pairs, trials, seed, _PAIRS)
    return trials


def _evolve(
    field: Range,
    clock: _Limit,
    islands: Sequence[Island],
    trials: dict[Network, Trial],
    seed: int,
    part: float,
) -> None:
    """Run generations of all islands together, until the part of the budget is used or all have converged."""
    while active := [island for island in islands if not island.converged]:
        generations = [island.ask() for island in active]
        new = dict.fromkeys(network for row in generations for network in row if network not in trials)
        if not clock.allows(field.cost_of(len(new)), part) and trials:
            return
        trials.update(zip(new, field.run(list(new), seed), strict=True))
        for island, row in zip(active, generations, strict=True):
            island.tell([trials[network] for network in row])


def _finds(
    field: Range, clock: _Limit, trials: dict[Network, Trial], base: float, seed: int, checks: int
) -> list[Find]:
    """Shrink the worst networks, and run them with fresh seeds. `base` is the regret without changes."""
    per_check = field.cost_of(1, checks)
    # Half of this phase is for the checks.
    most = clock.most(per_check, _PAIRS + (_CHECKED - _PAIRS) / 2, MOST_FINDS)
    groups = grouped(trials.values(), max(0.0, base) + LEAST_REGRET, max(1, most))
    finds = []
    for number, (trial, similar) in enumerate(groups):
        best = [each for each in field.references if each.label == trial.best]
        per_network = _SHRINK_REPLICATES * (1 + len(best))
        part = _PAIRS + (_CHECKED - _PAIRS) * (number + 0.5) / len(groups)
        networks = clock.most(per_network, part, _SHRINK_NETWORKS)

        def run(network: Network, best: list[Candidate] = best) -> Trial | None:
            try:
                return field.run([network], seed, _SHRINK_REPLICATES, best)[0]
            except ScenarioError:
                # A shorter run may end before a flow starts.
                return None

        again = field.run([trial.network], seed, _SHRINK_REPLICATES, best)[0]
        small, _ = shrunk(again, run, networks - 1)
        checked = field.run([small.network], (seed + 1) % 2**63, checks)[0]
        finds.append(Find(trial, small, checked, estimate(checked.regrets), similar))
    return sorted(finds, key=lambda find: -find.regret.mean)


def _explanations(field: Range, clock: _Limit, finds: Sequence[Find], seed: int) -> tuple[Explanation, ...]:
    """Explain the confirmed finds with the rest of the budget."""
    confirmed = [find for find in finds if find.is_confirmed]
    found = []
    for number, find in enumerate(confirmed):
        part = _CHECKED + (1 - _CHECKED) * (number + 1) / len(confirmed)
        # Two runs have samples.
        found.append(explained(find, field, seed, clock.most(1, part, _EXPLAINED) - 2))
    return tuple(found)


def _is_unstable(network: Network, candidate: Candidate, seed: int) -> bool:
    """Whether two runs of the same network with the same seed differ."""
    (job,) = Study.of(network.scenario(candidate), seed=seed, samples=False).jobs

    def result() -> dict[str, object]:
        document: dict[str, object] = json.loads(execute(job).result_json)
        document.pop("engine_cpu_s", None)
        return document

    try:
        return result() != result()
    except (InputError, RunError):
        return False
