"""The ranked candidates of an evaluation. The core scores and ranks them.

The score is the mean regret over replicates, environments and metrics. Differences are paired by replicate.
`docs/learn/how-algorithms-are-compared.md` explains the rules.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ackclock import _core
from ackclock.errors import ArgumentValueError
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.score import METRICS as SCORED
from ackclock.evaluation.score import metrics_of
from ackclock.evaluation.suite import Suite
from ackclock.statistics.estimates import Estimate
from ackclock.text.suggest import hint

#: The default score, which combines all metrics that are shares.
SHARES = "shares"
#: The metrics that can define a score.
METRICS = (SHARES, *SCORED)
#: The metrics of the default score, each with a weight of 1 by default.
WEIGHTED = tuple(_core.weighted_metrics())
#: Those that every environment has.
_EVERYWHERE = ("efficiency", "loss_rate", "delay_score")


@dataclass(frozen=True)
class Objective:
    """The definition of a candidate's score. A lower score is better."""

    metric: str
    heading: str
    digits: int


def require_metric(suite: Suite, metric: str) -> None:
    """Raise `ArgumentValueError` for a metric that cannot define a score over a suite."""
    if metric not in METRICS:
        raise ArgumentValueError("metric", f"no metric is called {metric!r}; {hint(metric, METRICS)}")
    if metric != SHARES and not any(
        each.name == metric for environment in suite.environments for each in metrics_of(environment)
    ):
        raise ArgumentValueError("metric", f"no environment of suite {suite.name} has {metric}")


def require_weights(weights: Mapping[str, float], metric: str) -> None:
    """Raise `ArgumentValueError` for weights that cannot define a score."""
    if weights and metric != SHARES:
        raise ArgumentValueError("weights", f"belong to the default score, but the metric is {metric}")
    for name, weight in weights.items():
        if name not in WEIGHTED:
            raise ArgumentValueError("weights", f"contain {name!r}; {hint(name, WEIGHTED)}")
        if not (math.isfinite(weight) and weight >= 0):
            raise ArgumentValueError("weights", f"contain {name}={weight:g}, but a weight must be at least 0")
    if not any(weights.get(name, 1) for name in _EVERYWHERE):
        raise ArgumentValueError("weights", f"must leave one of these above 0: {', '.join(_EVERYWHERE)}")


@dataclass(frozen=True)
class Scored:
    """The score of an algorithm."""

    #: The score of each replicate.
    values: tuple[float, ...]
    value: Estimate
    #: The contribution of each environment to the score, by id.
    by_environment: Mapping[str, float]
    #: The environment with the largest contribution.
    worst: str


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
