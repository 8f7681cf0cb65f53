"""The differences between two algorithms of a league: mean score, suites and environments.

Differences are paired: both algorithms have the same random draws in each replicate. Scores are regrets in
percent, so below zero the first algorithm is better.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ackclock import _core
from ackclock.evaluation.ranking import WEIGHTED, Entry
from ackclock.evaluation.score import Metric, metrics_of, specification
from ackclock.evaluation.suite import Environment
from ackclock.leagues.scores import AlgorithmScores, League, SuiteScores
from ackclock.statistics.estimates import Estimate, compared, estimate_json

#: A metric that explains less than this part of a difference is not named.
_LEAST_PART = 0.1


class Difference(NamedTuple):
    """A paired difference of scores in percent: the first algorithm's minus the second's."""

    value: Estimate
    #: Whether it is significant after Holm's correction for its family.
    is_significant: bool


@dataclass(frozen=True)
class SuiteDifference:
    """Two algorithms in a suite."""

    name: str
    first: Entry
    second: Entry
    #: None if a run of either failed. The family of Holm's correction is the suites of the pair.
    difference: Difference | None


@dataclass(frozen=True)
class Pair:
    """Two algorithms over all suites, in the order of their labels."""

    first: AlgorithmScores
    second: AlgorithmScores
    #: Of the mean scores. None if a run of either failed. The family of the correction is all pairs.
    difference: Difference | None
    suites: tuple[SuiteDifference, ...]

    @property
    def labels(self) -> tuple[str, str]:
        """The labels of both."""
        return self.first.label, self.second.label

    @property
    def document(self) -> dict[str, Any]:
        """Everything as JSON. Differences are in percent."""
        return {
            "first": self.first.label,
            "second": self.second.label,
            **_difference_json(self.difference),
            "suites": {each.name: _difference_json(each.difference) for each in self.suites},
        }


class Part(NamedTuple):
    """A metric that contributes to the difference of two algorithms in an environment."""

    metric: Metric
    #: The means of both algorithms, in the unit of the metric.
    first: float
    second: float
    #: The contribution to the difference of scores, in percent.
    difference: float


class EnvironmentDifference(NamedTuple):
    """Two algorithms in an environment."""

    board: EnvironmentBoard
    #: The scores of both in this environment: the mean regret in percent.
    first: float
    second: float
    #: The family of the correction is the environments of the pair.
    difference: Difference
    #: The metrics that contribute most, the largest contribution first.
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class EnvironmentBoard:
    """The scores of all algorithms in one environment, by replicate. Their mean is the score of the suite."""

    suite: SuiteScores
    environment: Environment
    metrics: tuple[Metric, ...]

    @classmethod
    def of(cls, suite: SuiteScores, environment: Environment) -> EnvironmentBoard:
        """Take an environment of a suite."""
        return cls(suite, environment, metrics_of(environment))

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """The algorithms with a score, by label."""
        return {each.candidate.label: each for each in self.suite.entries if each.score is not None}

    def score(self, label: str) -> float:
        """Return the score of an algorithm: its mean regret in percent."""
        score = self.entries[label].score
        assert score is not None, "invariant: entries have scores"
        return len(self.suite.suite.environments) * score.by_environment[self.environment.id]

    def is_exact(self, label: str) -> bool:
        """Whether nothing is random for an algorithm."""
        return self.environment.id in self.entries[label].exact

    @cached_property
    def costs(self) -> dict[str, list[list[float]]]:
        """The costs of each metric and replicate, by label."""
        rows = self.suite.evaluation.values[self.environment.id]
        return {
            label: [
                [metric.cost(row[place]) for row in rows[label]] for place, metric in enumerate(self.metrics)
            ]
            for label in self.entries
        }

    @cached_property
    def weights(self) -> list[float]:
        """The weight of a cost of each metric in the score, with the cap of the suite."""
        # The largest score determines the cap with the smallest rounding error.
        label = max(self.entries, key=self.score)
        regrets = self.entries[label].regrets[self.environment.id]
        names = [metric.name for metric in self.metrics]
        best = {name: _mean(row) - regrets[name] for name, row in zip(names, self.costs[label], strict=True)}
        found = dict(_core.share_weights(specification(self.environment), best, dict.fromkeys(WEIGHTED, 1.0)))
        whole = math.fsum(weight * regrets[name] for name, weight in found.items())
        cap = self.score(label) / whole if whole else 1.0
        return [cap * found.get(name, 0.0) for name in names]

    @cached_property
    def values(self) -> dict[str, list[float]]:
        """The weighted costs of each replicate, by label. Their differences are differences of scores."""
        return {
            label: [
                math.fsum(weight * cost for weight, cost in zip(self.weights, row, strict=True))
                for row in zip(*costs, strict=True)
            ]
            for label, costs in self.costs.items()
        }

    def parts(self, first: str, second: str) -> tuple[Part, ...]:
        """Return the metrics that contribute most to the difference of two algorithms."""
        ours, theirs = (self.entries[label].means[self.environment.id] for label in (first, second))
        costs = zip(self.metrics, self.weights, self.costs[first], self.costs[second], strict=True)
        found = [
            Part(metric, ours[metric.name], theirs[metric.name], weight * (_mean(row) - _mean(other)))
            for metric, weight, row, other in costs
        ]
        total = math.fsum(abs(part.difference) for part in found)
        kept = [part for part in found if abs(part.difference) > _LEAST_PART * total]
        return tuple(sorted(kept, key=lambda part: -abs(part.difference)))


def boards(league: League) -> tuple[EnvironmentBoard, ...]:
    """Return the environments of all suites. They are made once for all pairs."""
    return tuple(
        EnvironmentBoard.of(suite, environment)
        for suite in league.suites
        for environment in suite.suite.environments
    )


def pairs(league: League) -> tuple[Pair, ...]:
    """Return all pairs of algorithms, in the order of their labels."""
    ordered = sorted(league.algorithms, key=lambda each: (each.label.lower(), each.label))
    found = list(itertools.combinations(ordered, 2))
    overall = corrected([_overall(first, second) for first, second in found], counts=not league.is_quick)
    return tuple(
        Pair(first, second, difference, _suites(league, first, second))
        for (first, second), difference in zip(found, overall, strict=True)
    )


def environments(
    found: Sequence[EnvironmentBoard], first: str, second: str, *, counts: bool = True
) -> list[EnvironmentDifference]:
    """Return the environments of two algorithms, those in which the first is better by most first.

    `counts`: as for `corrected`.
    """
    shared = [board for board in found if first in board.entries and second in board.entries]
    differences = corrected(
        [
            difference_of(
                board.values[first],
                board.values[second],
                exact=board.is_exact(first) and board.is_exact(second),
            )
            for board in shared
        ],
        counts=counts,
    )
    rows = [
        EnvironmentDifference(
            board, board.score(first), board.score(second), difference, board.parts(first, second)
        )
        for board, difference in zip(shared, differences, strict=True)
        if difference is not None
    ]
    return sorted(rows, key=lambda row: row.difference.value.mean)


def difference_of(first: Sequence[float], second: Sequence[float], *, exact: bool) -> tuple[Estimate, bool]:
    """Return the mean difference of replicates, and whether it can be significant.

    A single random replicate cannot. If nothing is random (`exact`), it can.
    """
    found = compared(first, second, exact=exact)
    return (Estimate(first[0] - second[0], None, None, 1), False) if found is None else (found, True)


def corrected(
    found: Sequence[tuple[Estimate, bool] | None], *, counts: bool = True
) -> list[Difference | None]:
    """Return the differences of a family, with their significance after Holm's correction.

    `counts`: whether any of them can be significant. In a quick league none is.
    """
    if not counts:
        return [None if each is None else Difference(each[0], False) for each in found]
    family = [each[0] for each in found if each is not None and each[1]]
    significant = iter(_core.that_count([(value, 0.0) for value in family]))
    return [None if each is None else Difference(each[0], each[1] and next(significant)) for each in found]


def _overall(first: AlgorithmScores, second: AlgorithmScores) -> tuple[Estimate, bool] | None:
    if not first.values or not second.values:
        return None
    return difference_of(first.values, second.values, exact=first.is_exact and second.is_exact)


def _suites(league: League, first: AlgorithmScores, second: AlgorithmScores) -> tuple[SuiteDifference, ...]:
    names = [each.suite.name for each in league.suites]
    both = [(first.entries[name], second.entries[name]) for name in names]
    differences = corrected([_in_suite(*entries) for entries in both], counts=not league.is_quick)
    return tuple(
        SuiteDifference(name, *entries, difference)
        for name, entries, difference in zip(names, both, differences, strict=True)
    )


def _in_suite(first: Entry, second: Entry) -> tuple[Estimate, bool] | None:
    if first.score is None or second.score is None:
        return None
    exact = first.exact >= first.means.keys() and second.exact >= second.means.keys()
    return difference_of(first.score.values, second.score.values, exact=exact)


def _difference_json(found: Difference | None) -> Mapping[str, Any]:
    if found is None:
        return {"difference": None, "significant": False}
    return {"difference": estimate_json(found.value), "significant": found.is_significant}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
