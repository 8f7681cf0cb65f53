"""Scores stored runs: every metric of every environment and candidate, with intervals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from ackclock import _core
from ackclock.errors import InputError
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.regret import Regret, RegretBaseline, Scale
from ackclock.evaluation.suite import Environment, Suite
from ackclock.statistics.estimates import Estimate


@dataclass(frozen=True)
class Metric:
    """A number per run, and the direction in which it improves."""

    name: str
    #: A short label.
    label: str
    unit: str
    better: str
    digits: int

    @property
    def heading(self) -> str:
        """The label with its unit."""
        return f"{self.label} {self.unit}".rstrip()

    def text(self, value: float) -> str:
        """Return a value with its digits and unit."""
        return f"{value:.{self.digits}f} {self.unit}".rstrip()

    def cost(self, value: float) -> float:
        """Return the cost of a value. A lower cost is better, for every metric."""
        return _core.cost(self.better, value)


def _common() -> tuple[tuple[Metric, ...], Metric, Metric]:
    common, (goodput, delay_score) = map(json.loads, _core.common_metrics_json())
    return tuple(Metric(**row) for row in common), Metric(**goodput), Metric(**delay_score)


#: The common metrics in the order of the scoreboard, then goodput and the delay score. The last two are
#: stored and compared with baselines. The scoreboard omits both. Goodput is efficiency times the rate of the
#: bottleneck. The delay score follows from the queueing delay.
COMMON, GOODPUT, DELAY_SCORE = _common()

#: The name of the metric that an environment watches in addition to the common ones.
WATCH = "watch"
#: The names of all metrics.
METRICS = (*(metric.name for metric in (*COMMON, GOODPUT, DELAY_SCORE)), WATCH)


@dataclass(frozen=True)
class Score:
    """One metric of one candidate in one environment."""

    metric: Metric
    values: tuple[float, ...]
    value: Estimate
    #: The paired difference of costs to the reference, positive if worse. None for the reference, and for a
    #: single random replicate.
    cost_difference: Estimate | None

    @property
    def costs(self) -> tuple[float, ...]:
        """The cost of each replicate."""
        return tuple(self.metric.cost(value) for value in self.values)

    @property
    def judgement(self) -> str:
        """`better`, `worse`, or an empty text if the difference is not significant."""
        return "" if self.cost_difference is None else self.cost_difference.judgement


@dataclass(frozen=True)
class Result:
    """Results of an environment: scores by candidate, in the order of the candidates."""

    environment: Environment
    metrics: tuple[Metric, ...]
    scores: tuple[tuple[Score, ...], ...]
    #: Whether the environment is deterministic, so that one replicate is enough.
    exact: bool = False

    @property
    def heading(self) -> str:
        """The title of the environment, with "(fixed)" if it is deterministic."""
        return f"{self.environment.title} (fixed)" if self.exact else self.environment.title


@dataclass(frozen=True)
class Scoreboard:
    """All results of an evaluation: the candidate, then the panel, whose first algorithm is the reference.

    `Evaluation` describes the contents.
    """

    suite: Suite
    seed: int
    candidates: tuple[Candidate, ...]
    reference: int
    results: tuple[Result, ...]
    sets: tuple[str, ...] = ()
    regret_baseline: RegretBaseline | None = None
    #: The regret by candidate and metric, empty without a baseline.
    regrets: tuple[tuple[Regret, ...], ...] = ()


def specification(environment: Environment) -> str:
    """Return the properties of an environment that the core needs, as JSON."""
    watch = None if environment.watch is None else asdict(environment.watch)
    told: dict[str, Any] = {
        "id": environment.id,
        "title": environment.title,
        "fairness": environment.fairness,
        "watch": watch,
        "scored": environment.scored,
    }
    return json.dumps(told)


@cache
def metrics_of(environment: Environment) -> tuple[Metric, ...]:
    """Return the metrics that apply to an environment."""
    return tuple(Metric(**row) for row in json.loads(_core.metrics_of_json(specification(environment))))


def values_of(environment: Environment, document: str) -> list[float]:
    """Return the value of each metric in the JSON document of a run.

    Raises `InputError` if a metric does not apply.
    """
    try:
        return _core.values_of_run(specification(environment), document)
    except ValueError as error:
        raise InputError(str(error)) from None


def measured(environment: Environment, document: str) -> list[float]:
    """Return the values of a run for a race: its metrics, then the queueing delay p95 in ms.

    Raises `InputError` if a metric does not apply.
    """
    try:
        return _core.measured_in_run(specification(environment), document)
    except ValueError as error:
        raise InputError(str(error)) from None


def score(
    environment: Environment, runs: Sequence[Sequence[str]], reference: int, *, exact: bool = False
) -> Result:
    """Score the documents `runs[candidate][replicate]` against the candidate at index `reference`.

    A single replicate is judged only if the environment is deterministic (`exact`).
    """
    metrics = metrics_of(environment)
    values = [[values_of(environment, run) for run in replicates] for replicates in runs]
    found = _core.scores(specification(environment), values, reference, exact)
    scores = tuple(
        tuple(
            Score(metric, tuple(each), value, difference)
            for metric, (each, value, difference) in zip(metrics, row, strict=True)
        )
        for row in found
    )
    return Result(environment, metrics, scores, exact)


def scales_of(environments: Sequence[Environment]) -> list[Scale]:
    """Return the metrics of regret: the common ones, and the watched ones relative to the best."""
    relative = frozenset(
        environment.id for environment in environments if _core.is_relative(specification(environment), WATCH)
    )
    return [
        *(Scale(metric.name, metric.heading, metric.digits) for metric in (*COMMON, DELAY_SCORE)),
        Scale(WATCH, "watched metric (relative)", 3, relative),
    ]
