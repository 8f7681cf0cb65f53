"""From stored runs to scores: every metric of every environment and candidate, with intervals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import Any

from ackclock import _core
from ackclock.errors import InputError
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.regret import Regret, RegretBaseline, Scale, regrets
from ackclock.evaluation.suite import Environment, Suite
from ackclock.statistics.estimates import Estimate


@dataclass(frozen=True)
class Metric:
    """A number per run, and which way is better."""

    name: str
    #: What it is called, in a few characters.
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
        """Return how bad a value is: less is better, whatever the metric."""
        return _core.cost(self.better, value)


def _common() -> tuple[tuple[Metric, ...], Metric]:
    common, goodput = map(json.loads, _core.common_metrics_json())
    return tuple(Metric(**row) for row in common), Metric(**goodput)


#: The metrics of every environment that the scoreboard shows, in its order; and efficiency times the rate of
#: the bottleneck, which is stored and compared with a baseline, not shown twice.
COMMON, GOODPUT = _common()

#: The name of the metric that an environment watches beyond the common ones.
WATCH = "watch"


@dataclass(frozen=True)
class Score:
    """One metric of one candidate in one environment."""

    metric: Metric
    values: tuple[float, ...]
    value: Estimate
    #: Paired difference of costs to the reference: above zero is worse. None for the
    #: reference, and where nothing can be said.
    cost_difference: Estimate | None

    @property
    def costs(self) -> tuple[float, ...]:
        """The cost of each replicate."""
        return tuple(self.metric.cost(value) for value in self.values)

    @property
    def judgement(self) -> str:
        """`better`, `worse` or nothing, where the interval of the difference leaves it open."""
        return "" if self.cost_difference is None else self.cost_difference.judgement


@dataclass(frozen=True)
class Result:
    """Results of an environment: scores by candidate, in the order of the candidates."""

    environment: Environment
    metrics: tuple[Metric, ...]
    scores: tuple[tuple[Score, ...], ...]
    #: Whether nothing is random in it, so that a single replicate says all.
    exact: bool = False

    @property
    def heading(self) -> str:
        """The title of the environment, with a word where nothing is random in it."""
        return f"{self.environment.title} (fixed)" if self.exact else self.environment.title


@dataclass(frozen=True)
class Scoreboard:
    """All results of an evaluation: the candidate first, then the panel, whose first is the reference.

    `Evaluation` says what is in it.
    """

    suite: Suite
    seed: int
    candidates: tuple[Candidate, ...]
    reference: int
    results: tuple[Result, ...]
    sets: tuple[str, ...] = ()
    regret_baseline: RegretBaseline | None = None

    @cached_property
    def regrets(self) -> tuple[tuple[Regret, ...], ...]:
        """Regret by candidate, one per metric; none without a baseline."""
        if self.regret_baseline is None:
            return tuple(() for _ in self.candidates)
        by_metric = [
            regrets(costs, scale, self.regret_baseline, self.reference, self.seed)
            for scale in scales_of([result.environment for result in self.results])
            if (costs := _costs(self.results, scale.name))
        ]
        return tuple(zip(*by_metric, strict=True))


def specification(environment: Environment) -> str:
    """Return what the core needs to know of an environment, as JSON."""
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
    """Return the metrics that make sense in an environment."""
    return tuple(Metric(**row) for row in json.loads(_core.metrics_of_json(specification(environment))))


def values_of(environment: Environment, document: str) -> list[float]:
    """Return the value of each metric in a run, whose document is JSON.

    Raises `InputError` where one does not apply.
    """
    try:
        return _core.values_of_run(specification(environment), document)
    except ValueError as error:
        raise InputError(str(error)) from None


def score(
    environment: Environment, runs: Sequence[Sequence[str]], reference: int, *, exact: bool = False
) -> Result:
    """Score the documents `runs[candidate][replicate]` against the candidate at index `reference`.

    A single replicate is judged only where it is `exact`, nothing being random.
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
    """Return the metrics of regret: those of every environment, and the watched ones as shares."""
    relative = frozenset(
        environment.id for environment in environments if _core.is_relative(specification(environment), WATCH)
    )
    return [
        *(Scale(metric.name, metric.heading, metric.digits) for metric in COMMON),
        Scale(WATCH, "watched metric", 3, relative),
    ]


def _costs(results: Sequence[Result], name: str) -> dict[str, list[tuple[float, ...]]]:
    """Return the costs per replicate of a metric, by environment and candidate."""
    return {
        result.environment.id: [scores[index].costs for scores in result.scores]
        for result in results
        for index, metric in enumerate(result.metrics)
        if metric.name == name
    }
