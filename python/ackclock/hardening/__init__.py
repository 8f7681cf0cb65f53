"""Tuning against an adversary: turns of a search for parameters and of an attack on the best of them."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ackclock.arguments import texts, whole_number
from ackclock.attacks import Attack, attack, first_generation
from ackclock.attacks.families import families_of
from ackclock.attacks.finds import LEAST_REGRET
from ackclock.attacks.keeping import keep as keep_finds
from ackclock.attacks.objectives import NAMES as OBJECTIVES
from ackclock.errors import ArgumentValueError
from ackclock.evaluation.budget import Budget
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.regret import Regret
from ackclock.evaluation.storing import store_panel
from ackclock.evaluation.suite import Suite
from ackclock.running.executor import Executor
from ackclock.running.store import Store
from ackclock.running.warned import Warned, merged
from ackclock.tuning import DEFAULT_BUDGET, DEFAULT_METRIC, DEFAULT_REPLICATES, Finalist, Tuning, tune
from ackclock.tuning.bench import Bench
from ackclock.tuning.objective import Objective
from ackclock.tuning.search import Values

DEFAULT_TURNS = 3
DEFAULT_ATTACK_BUDGET = "1500"
#: The objective of the attacks: the metrics of the score, as in a suite.
_OBJECTIVE = OBJECTIVES[0]
#: The distance of the seed of the last attacks from the seed of the searches.
_LAST = 1000
#: The folder of the suites of finds, and their names.
_SUITES = "adversary"
_FINDS, _HELD_OUT = "finds", "held-out"


@dataclass(frozen=True)
class Turn:
    """A search for parameters, and the attack on the best of them."""

    number: int
    tuning: Tuning
    #: None in the last turn, if an earlier attack added finds.
    attack: Attack | None
    #: The ids of the finds that the attack added.
    kept: tuple[str, ...]

    def worst(self, suite: Suite) -> float | None:
        """Return the largest regret of the best parameters in environments of a suite. None without any."""
        regrets = self.tuning.best.regret.by_environment
        found = [regrets[each.id] for each in suite.environments if each.id in regrets]
        return max(found, default=None)


@dataclass(frozen=True)
class Comparison:
    """The default and the tuned parameters over a suite, with seeds that no search used."""

    suite: Suite
    default: Regret
    tuned: Regret


@dataclass(frozen=True)
class Hardening:
    """The result of all turns."""

    suite: Suite
    #: The finds of all turns. None without any.
    finds: Suite | None
    families: tuple[str, ...]
    #: The families of the finds that parameters are judged with, and that no turn saw.
    held_out: tuple[str, ...]
    threshold: float
    seed: int
    turns: tuple[Turn, ...]
    #: Attacks on the default and on the tuned parameters with the families that are held out.
    last_attacks: tuple[Attack, ...]
    #: Over the suite, and over the finds of the last attacks if there are any.
    comparisons: tuple[Comparison, ...]

    @property
    def values(self) -> Values:
        """The tuned parameters."""
        return self.turns[-1].tuning.best.values

    @property
    def candidate(self) -> Candidate:
        """The algorithm with the tuned parameters."""
        return self.turns[-1].tuning.best.candidate

    @cached_property
    def warnings(self) -> tuple[Warned, ...]:
        """The distinct warnings of the last search and of all attacks, with environments and networks."""
        attacks = (*(turn.attack for turn in self.turns if turn.attack is not None), *self.last_attacks)
        return merged([self.turns[-1].tuning.warnings, *(each.warnings for each in attacks)])

    @property
    def has_settled(self) -> bool:
        """Whether the last attack added no find."""
        return self.turns[-1].attack is not None


def harden(
    cc: str,
    *,
    suite: str = "core",
    turns: int = DEFAULT_TURNS,
    budget: str | int = DEFAULT_BUDGET,
    attack_budget: str | int = DEFAULT_ATTACK_BUDGET,
    families: Sequence[str] = (),
    held_out: Sequence[str] = (),
    threshold: float = LEAST_REGRET,
    over: Sequence[str] = (),
    metric: str = DEFAULT_METRIC,
    weights: Mapping[str, float] | None = None,
    constrained: bool = False,
    keep: Sequence[str] = (),
    replicates: int = DEFAULT_REPLICATES,
    check_replicates: int | None = None,
    checks: int | None = None,
    seed: int = 1,
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Hardening:
    """Search the parameters with the smallest worst-case regret over a suite and over the finds of attacks.

    Each turn tunes over the suite and the finds so far, then attacks the best parameters. Confirmed finds
    with a regret of at least `threshold` percent join the finds. The turns end without such a find, or after
    `turns` attacks and another search.

    - `budget`: the runs or the time of the first search. With finds, a number of runs grows in proportion to
      the environments.
    - `attack_budget`: the runs or the time of each attack.
    - `families`: the families of the attacks, by default all but the ones held out.
    - `held_out`: the families of the finds that judge the result, by default those that `families` leaves
      out. The last attacks use another seed.
    - `checks`: the fresh seeds of each find.
    - `out`: a folder for the runs and the suites of finds. The same search continues from it.
    - Others: as for `tune`.

    With budgets of runs, the result does not depend on `workers`. Raises `AckclockError`.
    """
    seed, turns = whole_number("seed", seed), whole_number("turns", turns, least=1)
    attacked, judged = _families(texts("families", families, "path"), texts("held_out", held_out, "acks"))
    loaded, limit = Suite.load(suite), Budget.parse(budget)
    # Mistakes in the options of attacks are reported before the first search.
    with _named("attack_budget"):
        for names in (attacked, judged):
            first_generation(Budget.parse(attack_budget), 1 + len(loaded.panel), len(names))
    with nullcontext(out) if out is not None else tempfile.TemporaryDirectory() as folder:
        field = _Field(loaded, Path(folder), attack_budget, checks, threshold, executor, workers, progress)

        def tuned() -> Tuning:
            return tune(
                cc,
                suite=suite,
                finds=field.finds(_FINDS),
                budget=field.scaled(limit),
                over=over,
                metric=metric,
                weights=weights,
                constrained=constrained,
                keep=keep,
                replicates=replicates,
                check_replicates=check_replicates,
                seed=seed,
                out=folder,
                executor=executor,
                workers=workers,
                progress=progress,
            )

        found: list[Turn] = []
        for number in range(1, turns + 1):
            tuning = tuned()
            made = field.attack(tuning.best.candidate, attacked, seed + number)
            kept = field.keep([made], _FINDS)
            found.append(Turn(number, tuning, made, kept))
            if not kept:
                break
        else:
            found.append(Turn(turns + 1, tuned(), None, ()))
        both = _distinct(found[-1].tuning.default, found[-1].tuning.best)
        last = tuple(field.attack(each.candidate, judged, seed + _LAST) for each in both)
        field.keep(last, _HELD_OUT)
        suites = [loaded, *(Suite.load(str(path)) for path in [field.finds(_HELD_OUT)] if path is not None)]
        objectives = [Objective.of(each, metric, weights or {}) for each in suites]
        count = check_replicates or loaded.replicates
        comparisons = tuple(field.compare(each, both, seed + _LAST, count) for each in objectives)
        path = field.finds(_FINDS)
        return Hardening(
            loaded,
            None if path is None else Suite.load(str(path)),
            attacked,
            judged,
            threshold,
            seed,
            tuple(found),
            last,
            comparisons,
        )


class _Field:
    """The suite, the suites of finds in a folder, and the runs of attacks and comparisons."""

    def __init__(
        self,
        suite: Suite,
        folder: Path,
        budget: str | int,
        checks: int | None,
        threshold: float,
        executor: Executor | None,
        workers: int | None,
        progress: Callable[[int, int], None],
    ) -> None:
        self._suite, self._folder, self._threshold = suite, folder, threshold
        self._budget, self._checks = budget, checks
        self._executor, self._workers, self._progress = executor, workers, progress
        self._suites = folder / _SUITES
        # The finds of an earlier search may have been made with other options.
        shutil.rmtree(self._suites, ignore_errors=True)

    def finds(self, name: str) -> Path | None:
        """Return the folder of a suite of finds, or None without any."""
        path = self._suites / name
        return path if path.is_dir() else None

    def scaled(self, budget: Budget) -> str:
        """Return the budget of a search over suite and finds, with the same runs for each environment."""
        path, count = self.finds(_FINDS), len(self._suite.environments)
        if budget.runs is None or path is None:
            return budget.text
        return str(math.ceil(budget.runs * (1 + len(Suite.load(str(path)).environments) / count)))

    def attack(self, candidate: Candidate, families: Sequence[str], seed: int) -> Attack:
        """Attack an algorithm, compared with the panel of the suite."""
        panel = [text for text in self._suite.panel if Candidate.parse(text).resolved != candidate.resolved]
        return attack(
            candidate.text,
            against=panel,
            budget=self._budget,
            families=families,
            checks=self._checks,
            seed=seed % 2**63,
            out=self._folder,
            executor=self._executor,
            workers=self._workers,
            progress=self._progress,
        )

    def keep(self, attacks: Sequence[Attack], name: str) -> tuple[str, ...]:
        """Add the finds above the threshold to a suite, and return their ids.

        A find in which the algorithm fails has no regret, and is left out.
        """
        kept: list[str] = []
        for made in attacks:
            large = (each for each in made.confirmed if each.regret.mean >= self._threshold)
            finds = tuple(each for each in large if not each.found.failure)
            kept += keep_finds(replace(made, finds=finds), self._suites / name, self._suite.panel)
        if kept:
            store_panel(
                Suite.load(str(self._suites / name)),
                out=self._folder,
                executor=self._executor,
                workers=self._workers,
                progress=self._progress,
            )
        return tuple(kept)

    def compare(
        self, objective: Objective, finalists: Sequence[Finalist], seed: int, replicates: int
    ) -> Comparison:
        """Run parameters over a suite. The first are the default, and the last are the tuned ones."""
        settings = [(each.values, each.candidate) for each in finalists]
        with Store(self._folder) as store:
            store.claim()
            bench = Bench(objective.suite, store, self._executor, self._workers, self._progress)
            regrets = [objective.regret(runs) for runs in bench.run(settings, seed % 2**63, replicates)]
        return Comparison(objective.suite, regrets[0], regrets[-1])


def _distinct(default: Finalist, best: Finalist) -> list[Finalist]:
    return [default] if best.is_default else [default, best]


@contextmanager
def _named(argument: str) -> Iterator[None]:
    """Give mistakes the name of an argument of `harden`."""
    try:
        yield
    except ArgumentValueError as error:
        raise ArgumentValueError(argument, error.args[1]) from None


def _families(families: Sequence[str], held_out: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the families of the turns and those held out. Raises `ArgumentValueError` if none remains."""
    every = [family.name for family in families_of((), _OBJECTIVE)]
    given = [family.name for family in families_of(families, _OBJECTIVE)] if families else []
    with _named("held_out"):
        judged = [family.name for family in families_of(held_out, _OBJECTIVE)] if held_out else []
    if not given and not judged:
        judged = every[1::2]
    attacked = given or [name for name in every if name not in judged]
    judged = judged or [name for name in every if name not in attacked]
    if both := [name for name in attacked if name in judged]:
        raise ArgumentValueError("held_out", f"{', '.join(both)}: is also in the families of the turns")
    if not attacked or not judged:
        raise ArgumentValueError("held_out", "at least one family must be attacked, and one held out")
    return tuple(attacked), tuple(judged)
