"""One figure per candidate, and what of their order the replicates can show.

The score is regret as a mean: over replicates, over environments, and over the metrics that are shares of
something. Differences are taken replicate by replicate. `docs/learn/how-algorithms-are-compared.md`.
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

#: The metric of the score by default: all that are shares, put together.
SHARES = "shares"
#: What a score may be made of.
METRICS = (SHARES, *(metric.name for metric in COMMON), GOODPUT.name, WATCH)
#: How likely the best candidate may be lost: over all rounds of an evaluation together.
ALPHA = 0.05

#: Costs per replicate, by environment and metric; a single one where nothing is random.
Costs = Mapping[str, Mapping[str, Sequence[float]]]
#: The least mean cost, by metric and environment.
Best = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Objective:
    """What the score of a candidate is made of; less is better."""

    metric: str
    heading: str
    digits: int
    #: What a unit of regret adds to the score of a replicate, by environment and metric.
    weights: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, suite: Suite, metric: str, best: Best, worst: Best) -> Objective:
        """Take a metric that the suite has; `worst`, the largest costs of the panel, caps the weights."""
        environments = [specification(environment) for environment in suite.environments]
        heading, digits, weights = _core.objective(environments, metric, best, worst)
        return cls(metric, heading, digits, {name: dict(row) for name, row in weights})

    @property
    def least_difference(self) -> float:
        """The least difference of scores that a sentence is worth."""
        return _core.least_difference(self.metric)

    def by_environment(self, costs: Costs, best: Best) -> dict[str, tuple[float, ...]]:
        """Return what each environment that has costs adds to the score, per replicate."""
        weights = [(name, list(row.items())) for name, row in self.weights.items()]
        return {name: tuple(values) for name, values in _core.score_parts(weights, costs, best)}


def require_metric(suite: Suite, metric: str) -> None:
    """Raise `ArgumentValueError` for what cannot make up a score over a suite."""
    if metric not in METRICS:
        raise ArgumentValueError("metric", f"no metric is called {metric!r}; {hint(metric, METRICS)}")
    if metric != SHARES and not any(
        each.name == metric for environment in suite.environments for each in metrics_of(environment)
    ):
        raise ArgumentValueError("metric", f"no environment of suite {suite.name} has {metric}")


@dataclass(frozen=True)
class Measure:
    """What scores are made of, and what they are measured against."""

    objective: Objective
    best: Best
    #: What stored best scores add per replicate, by environment; None where the best is not stored.
    stored: list[tuple[float, ...]] | None = None
    #: Whether these replicates have the same random draws as those that are scored.
    paired: bool = False


@dataclass(frozen=True)
class Scored:
    """The score of an algorithm from so many replicates."""

    #: Per replicate.
    values: tuple[float, ...]
    value: Estimate
    #: What each environment adds to the score, by id.
    by_environment: Mapping[str, float]

    @classmethod
    def of(cls, costs: Costs, measure: Measure) -> Scored:
        """Score the costs of an algorithm."""
        parts = measure.objective.by_environment(costs, measure.best)
        values, value, means = _core.scored(list(parts.values()), measure.stored, paired=measure.paired)
        return cls(tuple(values), value, dict(zip(parts, means, strict=True)))

    @property
    def worst(self) -> str:
        """The environment that adds most."""
        return max(self.by_environment, key=lambda name: self.by_environment[name])


@dataclass(frozen=True)
class Difference:
    """How much worse a score is than that of the leader, replicate by replicate."""

    mean: float
    #: The bound that the true difference exceeds with confidence; None where one random replicate has none.
    low: float | None
    #: The label of the leader.
    leader: str

    @property
    def is_clear(self) -> bool:
        """Whether the candidate is worse beyond doubt."""
        return self.low is not None and self.low > 0


def difference(
    ours: Sequence[float], theirs: Sequence[float], leader: str, alpha: float, *, exact: bool
) -> Difference:
    """Return the paired difference of two scores, with its one-sided lower bound at level `alpha`.

    `exact`: nothing is random, so that one replicate says all.
    """
    count = max(len(ours), len(theirs))
    # Of a candidate for which nothing is random one replicate stands for all.
    ours, theirs = (row if len(row) == count else [*row] * count for row in (ours, theirs))
    values = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    # One-sided: half of what a two-sided interval leaves out lies below it.
    found = estimate(values, 1 - 2 * alpha)
    if count == 1:
        return Difference(found.mean, found.mean if exact else None, leader)
    return Difference(found.mean, found.low, leader)


@dataclass(frozen=True)
class Failure:
    """A run of a candidate that failed: the first of them, in the order of environments and replicates."""

    environment: str
    replicate: int
    message: str


#: The standing of a candidate that has the best score; of those that replicates cannot tell from it; of those
#: that are worse; of those that were found worse before the last round; of those of which a run failed.
BEST, TIED, WORSE, DROPPED, FAILED = "best", "tied", "worse", "dropped", "failed"
#: That of an algorithm of the panel, which has no place.
PANEL = "panel"


@dataclass(frozen=True)
class Entry:
    """A candidate in the ranking, or an algorithm of the panel beside it."""

    #: Its place in the list that was given, from 0.
    index: int
    candidate: Candidate
    #: `best`, `tied`, `worse`, `dropped` or `failed`; `panel` for the panel.
    standing: str
    #: From 1; None for what failed, and for the panel.
    rank: int | None
    #: How many replicates were run of it.
    replicates: int
    #: None where a run failed.
    score: Scored | None
    #: To the leader of the round; None for the best, the panel, and what failed.
    difference: Difference | None = None
    #: The round in which it was dropped or failed, from 1.
    round: int | None = None
    failure: Failure | None = None
    #: Means of metrics, by environment and metric, in their units.
    means: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    #: Regret of metrics, by environment and metric, in their units.
    regrets: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    #: Values of metrics per replicate, by environment and metric: of environments in which no run failed.
    values: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict, repr=False)
    #: What each of these environments adds to the score, per replicate.
    parts: Mapping[str, tuple[float, ...]] = field(default_factory=dict, repr=False)
    #: The environments in which nothing is random, so that a single replicate says all.
    exact: frozenset[str] = field(default=frozenset(), repr=False)
    #: The hash of the scenario of each environment, which finds it in a store.
    hashes: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Round:
    """Replicates that some candidates were tried on."""

    #: Replicates so far, this round included.
    replicates: int
    #: The candidates that took part.
    candidates: int
    #: The level of each comparison with the leader.
    alpha: float
    #: What the round took, in the unit of the budget.
    work: float
    #: Places in the list of candidates: those that were dropped after it, and those that failed in it.
    dropped: tuple[int, ...]
    failed: tuple[int, ...]


@dataclass(frozen=True)
class Ranking:
    """All candidates of an evaluation in their order."""

    objective: Objective
    #: By rank; what failed comes last.
    entries: tuple[Entry, ...]
    #: The panel, by score.
    panel: tuple[Entry, ...]
    rounds: tuple[Round, ...]
    #: How likely it is at most that the best candidate is not among `best` and `tied`.
    alpha: float
    #: The budget as given, if there was one, and why no further round followed.
    budget: str | None
    ended: str

    @property
    def best(self) -> Entry | None:
        """The candidate with the best score; None where all failed."""
        return self.entries[0] if self.entries and self.entries[0].score is not None else None

    @property
    def rest_of_panel(self) -> tuple[Entry, ...]:
        """The panel without those that are candidates, too."""
        ranked = [entry.candidate.resolved for entry in self.entries]
        return tuple(entry for entry in self.panel if entry.candidate.resolved not in ranked)
