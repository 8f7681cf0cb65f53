"""Scores candidates, ranks them, and tests their differences.

The score is the mean regret over replicates, environments and metrics. Differences are paired by replicate.
`docs/learn/how-algorithms-are-compared.md` explains the rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ackclock import _core
from ackclock.errors import ArgumentValueError
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.score import COMMON, GOODPUT, WATCH, metrics_of, specification
from ackclock.evaluation.suite import Suite
from ackclock.statistics.estimates import Estimate, estimate
from ackclock.text.suggest import hint

#: The default score, which combines all metrics that are shares.
SHARES = "shares"
#: The metrics that can define a score.
METRICS = (SHARES, *(metric.name for metric in COMMON), GOODPUT.name, WATCH)
#: The probability, over all rounds of an evaluation, that the best candidate is dropped.
ALPHA = 0.05

#: Costs per replicate, by environment and metric. A deterministic environment has one replicate.
Costs = Mapping[str, Mapping[str, Sequence[float]]]
#: The least mean cost, by metric and environment.
Best = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Objective:
    """The definition of a candidate's score. A lower score is better."""

    metric: str
    heading: str
    digits: int
    #: The weight of regret in the score of a replicate, by environment and metric.
    weights: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, suite: Suite, metric: str, best: Best, worst: Best) -> Objective:
        """Take a metric of the suite. The weights are capped by `worst`, the largest costs of the panel."""
        environments = [specification(environment) for environment in suite.environments]
        heading, digits, weights = _core.objective(environments, metric, best, worst)
        return cls(metric, heading, digits, {name: dict(row) for name, row in weights})

    @property
    def least_difference(self) -> float:
        """The smallest difference of scores that the verdict mentions."""
        return _core.least_difference(self.metric)

    def by_environment(self, costs: Costs, best: Best) -> dict[str, tuple[float, ...]]:
        """Return the contribution of each environment with costs to the score, per replicate."""
        weights = [(name, list(row.items())) for name, row in self.weights.items()]
        return {name: tuple(values) for name, values in _core.score_parts(weights, costs, best)}


def require_metric(suite: Suite, metric: str) -> None:
    """Raise `ArgumentValueError` for a metric that cannot define a score over a suite."""
    if metric not in METRICS:
        raise ArgumentValueError("metric", f"no metric is called {metric!r}; {hint(metric, METRICS)}")
    if metric != SHARES and not any(
        each.name == metric for environment in suite.environments for each in metrics_of(environment)
    ):
        raise ArgumentValueError("metric", f"no environment of suite {suite.name} has {metric}")


@dataclass(frozen=True)
class Measure:
    """The definition of scores, and their baseline."""

    objective: Objective
    best: Best
    #: The contribution of the stored best scores per replicate, by environment. None without stored scores.
    stored: list[tuple[float, ...]] | None = None
    #: Whether the stored replicates use the same random draws as the scored ones.
    paired: bool = False


@dataclass(frozen=True)
class Scored:
    """The score of an algorithm."""

    #: The score of each replicate.
    values: tuple[float, ...]
    value: Estimate
    #: The contribution of each environment to the score, by id.
    by_environment: Mapping[str, float]

    @classmethod
    def of(cls, costs: Costs, measure: Measure) -> Scored:
        """Score the costs of an algorithm."""
        parts = measure.objective.by_environment(costs, measure.best)
        values, value, means = _core.scored(list(parts.values()), measure.stored, paired=measure.paired)
        return cls(tuple(values), value, dict(zip(parts, means, strict=True)))

    @property
    def worst(self) -> str:
        """The environment with the largest contribution."""
        return max(self.by_environment, key=lambda name: self.by_environment[name])


@dataclass(frozen=True)
class Difference:
    """The paired difference between a score and the leader's score."""

    mean: float
    #: The lower confidence bound of the difference. None for a single random replicate.
    low: float | None
    #: The label of the leader.
    leader: str

    @property
    def is_clear(self) -> bool:
        """Whether the candidate is significantly worse."""
        return self.low is not None and self.low > 0


def difference(
    ours: Sequence[float], theirs: Sequence[float], leader: str, alpha: float, *, exact: bool
) -> Difference:
    """Return the paired difference of two scores, with its one-sided lower bound at level `alpha`.

    `exact`: whether nothing is random, so that one replicate is enough.
    """
    count = max(len(ours), len(theirs))
    # The single replicate of a deterministic candidate counts for every replicate.
    ours, theirs = (row if len(row) == count else [*row] * count for row in (ours, theirs))
    values = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    # A two-sided interval at 1 - 2 alpha has a one-sided lower bound at alpha.
    found = estimate(values, 1 - 2 * alpha)
    if count == 1:
        return Difference(found.mean, found.mean if exact else None, leader)
    return Difference(found.mean, found.low, leader)


@dataclass(frozen=True)
class Failure:
    """The first failed run of a candidate, in the order of environments and replicates."""

    environment: str
    replicate: int
    message: str


#: The standing of a candidate. `tied` is not significantly worse than the best. `dropped` was significantly
#: worse before the last round.
BEST, TIED, WORSE, DROPPED, FAILED = "best", "tied", "worse", "dropped", "failed"
#: The standing of an algorithm of the panel, which has no rank.
PANEL = "panel"


@dataclass(frozen=True)
class Entry:
    """A candidate in the ranking, or an algorithm of the panel."""

    #: The place in the given list, from 0.
    index: int
    candidate: Candidate
    #: The standing: `best`, `tied`, `worse`, `dropped`, `failed`, or `panel` for the panel.
    standing: str
    #: The rank, from 1. None for failed candidates and the panel.
    rank: int | None
    #: The number of replicates.
    replicates: int
    #: The score. None if a run failed.
    score: Scored | None
    #: The difference to the leader of the round. None for the best, the panel and failed candidates.
    difference: Difference | None = None
    #: The round, from 1, in which the candidate was dropped or failed.
    round: int | None = None
    failure: Failure | None = None
    #: Means of metrics, by environment and metric, in their units.
    means: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    #: Regret of metrics, by environment and metric, in their units.
    regrets: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    #: Values per replicate, by environment and metric, of environments without a failed run.
    values: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict, repr=False)
    #: The contribution of each of these environments to the score, per replicate.
    parts: Mapping[str, tuple[float, ...]] = field(default_factory=dict, repr=False)
    #: The deterministic environments, for which one replicate is enough.
    exact: frozenset[str] = field(default=frozenset(), repr=False)
    #: The hash of each environment's scenario, by which a store finds its runs.
    hashes: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Round:
    """One round of a race."""

    #: The number of replicates, including earlier rounds.
    replicates: int
    #: The number of participating candidates.
    candidates: int
    #: The significance level of each comparison with the leader.
    alpha: float
    #: The work of the round, in the unit of the budget.
    work: float
    #: The places of the dropped and the failed candidates in the list of candidates.
    dropped: tuple[int, ...]
    failed: tuple[int, ...]


@dataclass(frozen=True)
class Ranking:
    """The ranked candidates of an evaluation."""

    objective: Objective
    #: The candidates by rank, failed ones last.
    entries: tuple[Entry, ...]
    #: The panel, by score.
    panel: tuple[Entry, ...]
    rounds: tuple[Round, ...]
    #: The probability that the best candidate is neither `best` nor `tied` is at most this.
    alpha: float
    #: The budget, if there was one, and the reason for the end of the race.
    budget: str | None
    ended: str

    @property
    def best(self) -> Entry | None:
        """The candidate with the best score, or None if all failed."""
        return self.entries[0] if self.entries and self.entries[0].score is not None else None

    @property
    def rest_of_panel(self) -> tuple[Entry, ...]:
        """The panel without the candidates among it."""
        ranked = [entry.candidate.resolved for entry in self.entries]
        return tuple(entry for entry in self.panel if entry.candidate.resolved not in ranked)
