"""Runs a league: every suite once, with all algorithms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.arguments import optional_number, whole_number
from ackclock.errors import ArgumentValueError, RunError
from ackclock.evaluation import Evaluation, evaluate
from ackclock.evaluation.candidate import Candidate, distinct
from ackclock.evaluation.ranking import Entry
from ackclock.evaluation.suite import Suite
from ackclock.leagues.roster import (
    COEXISTENCE,
    PROFILES,
    QUICK_REPLICATES,
    REPLICATES,
    SUITES,
    TEN,
    everyone,
    shortened,
)
from ackclock.running.backend import chosen
from ackclock.running.executor import Executor
from ackclock.running.job import SIM
from ackclock.running.warned import Warned, merged
from ackclock.scenario import Algorithm
from ackclock.statistics.estimates import Estimate, estimate, estimate_json
from ackclock.text.suggest import hint

#: The version of the data.
SCHEMA = 1


@dataclass(frozen=True)
class SuiteScores:
    """A suite with the scores of all algorithms."""

    suite: Suite
    evaluation: Evaluation

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The algorithms, best first and failed ones last."""
        return self.evaluation.ranking.entries

    def entry(self, label: str) -> Entry:
        """Return the entry of an algorithm."""
        return next(each for each in self.entries if each.candidate.label == label)


@dataclass(frozen=True)
class AlgorithmScores:
    """An algorithm over all suites."""

    label: str
    #: The mean of its scores over the suites. None if it failed in one of them.
    score: Estimate | None
    #: The entry in each suite, by name of the suite.
    entries: dict[str, Entry]
    #: The mean over the suites by replicate. Empty without a score.
    values: tuple[float, ...] = ()

    @property
    def candidate(self) -> Candidate:
        """The algorithm with its parameters."""
        return next(iter(self.entries.values())).candidate

    @property
    def index(self) -> int:
        """The place in the given order, from 0."""
        return next(iter(self.entries.values())).index

    @property
    def is_exact(self) -> bool:
        """Whether nothing is random, so that one replicate is enough."""
        return all(entry.exact >= entry.means.keys() for entry in self.entries.values())


@dataclass(frozen=True)
class League:
    """Scores of algorithms over suites."""

    suites: tuple[SuiteScores, ...]
    #: The algorithms, best first. Algorithms without a score are last.
    algorithms: tuple[AlgorithmScores, ...]
    seed: int
    is_quick: bool
    backend: str
    #: The largest number of replicates of an environment.
    replicates: int
    #: The name of each algorithm as it was given, by label. Classes of a session have none.
    given: dict[str, str]

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """The distinct warnings of scenarios, each with suites and environments."""
        return merged(
            [warned.within(each.suite.name) for warned in each.evaluation.warnings] for each in self.suites
        )

    @property
    def document(self) -> dict[str, Any]:
        """Everything as JSON. Scores are mean regrets in percent, and less is better."""
        return {
            "schema": SCHEMA,
            "build": _core.BUILD,
            "seed": self.seed,
            "quick": self.is_quick,
            "backend": self.backend,
            "suites": [
                {
                    "name": each.suite.name,
                    "version": each.suite.version,
                    "environments": [environment.id for environment in each.suite.environments],
                }
                for each in self.suites
            ],
            "algorithms": [
                {
                    "algorithm": place.label,
                    "cc": place.candidate.resolved,
                    "score": estimate_json(place.score),
                    "suites": {name: _entry(entry) for name, entry in place.entries.items()},
                }
                for place in self.algorithms
            ],
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give a row for each algorithm, environment and metric, with the mean over replicates."""
        for each in self.suites:
            for entry in each.entries:
                for environment, metrics in entry.means.items():
                    for metric, value in metrics.items():
                        yield {
                            "suite": each.suite.name,
                            "version": each.suite.version,
                            "environment": environment,
                            "algorithm": entry.candidate.label,
                            "metric": metric,
                            "mean": value,
                            "regret": entry.regrets[environment][metric],
                            "replicates": entry.replicates,
                            "scenario_hash": entry.hashes[environment],
                            "build": _core.BUILD,
                        }


def _entry(entry: Entry) -> dict[str, Any]:
    score, failure = entry.score, entry.failure
    return {
        "rank": entry.rank,
        "score": estimate_json(None if score is None else score.value),
        "worst": None if score is None else score.worst,
        "by_environment": {} if score is None else dict(score.by_environment),
        "failure": None if failure is None else f"{failure.environment}: {failure.message}",
    }


def league(
    *candidates: Algorithm,
    algorithms: Sequence[str] | None = None,
    suites: Sequence[str] | None = None,
    quick: bool = False,
    replicates: int | None = None,
    seed: int = 1,
    backend: str = SIM,
    kernel: str | None = None,
    out: str | Path = "ackclock-out/league",
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[str], AbstractContextManager[Callable[[int, int], None]]] | None = None,
) -> League:
    """Run all algorithms over all suites.

    - `candidates`: algorithms in addition to the roster, as for `evaluate`.
    - `algorithms`: the roster, by default every algorithm over TCP, or ten of them with `quick`.
    - `suites`: names, by default all suites of algorithms over TCP.
    - `quick`: ten algorithms, three environments of each suite, rates of at most 100 Mbit/s, two replicates.
    - `backend`, `kernel`: as for `evaluate`. A kernel runs its own algorithm of a name.
    - `out`: the folder of the runs. A second league reuses them.
    - `progress`: takes the name of a suite, and returns a context manager. That gives a function of finished
      runs and all runs.

    An algorithm that fails in a suite has no score there. Raises `AckclockError`.
    """
    replicates, seed = optional_number("replicates", replicates, least=1), whole_number("seed", seed)
    roster = list(algorithms if algorithms is not None else TEN if quick else everyone())
    for name in suites or ():
        if name not in SUITES and not Path(name).is_dir():
            raise ArgumentValueError("suites", f"contain {name!r}; {hint(name, SUITES)}")
    every_given = (*roster, *candidates)
    named = distinct([Candidate.parse(each) for each in every_given])
    for one, other in itertools.combinations(named, 2):
        if one.resolved == other.resolved:
            raise ArgumentValueError("candidates", f"contain {other.label}, which is in the league already")
    backend = chosen(backend, kernel)
    replicates = replicates or (QUICK_REPLICATES if quick else REPLICATES)
    every = [Suite.load(name) for name in suites or SUITES]
    for suite in every:
        if suite.name in (PROFILES, COEXISTENCE):
            raise ArgumentValueError(
                "suites", f"contain one called {suite.name!r}, but the league needs a folder of this name"
            )
    if quick:
        every = [shortened(suite) for suite in every]

    def scored(suite: Suite) -> SuiteScores:
        with nullcontext() if progress is None else progress(suite.name) as tell:
            found = evaluate(
                [each.text for each in named],
                against=[],
                suite=suite,
                replicates=replicates,
                seed=seed,
                # The best of all algorithms is the baseline of regret.
                within_table=True,
                backend=backend,
                out=Path(out) / suite.name,
                executor=executor,
                workers=workers,
                progress=tell,
            )
        if found.best is None:
            raise RunError(f"suite {suite.name}: every algorithm failed")
        return SuiteScores(suite, found)

    found = tuple(map(scored, every))
    places = [_overall(each.label, found) for each in named]
    places.sort(key=lambda each: (each.score is None, 0.0 if each.score is None else each.score.mean))
    given = {each.label: text for each, text in zip(named, every_given, strict=True) if isinstance(text, str)}
    return League(found, tuple(places), seed, quick, backend, replicates, given)


def _overall(label: str, suites: Sequence[SuiteScores]) -> AlgorithmScores:
    entries = {each.suite.name: each.entry(label) for each in suites}
    scores = [entry.score for entry in entries.values() if entry.score is not None]
    if len(scores) < len(entries):
        return AlgorithmScores(label, None, entries)
    # Replicates of different suites share their random draws, so each replicate has a mean over suites.
    # A suite without randomness has one replicate, which counts for all.
    count = max(len(score.values) for score in scores)
    rows = zip(*(score.values * (count // len(score.values)) for score in scores), strict=True)
    values = tuple(math.fsum(row) / len(row) for row in rows)
    return AlgorithmScores(label, estimate(values), entries, values)
