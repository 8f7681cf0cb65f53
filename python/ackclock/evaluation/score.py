"""From stored runs to scores: every metric of every environment and candidate, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from ackclock.errors import InputError
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.regret import Regret, RegretBaseline, Scale, regrets
from ackclock.evaluation.suite import Environment, Suite, Watch
from ackclock.metrics.summary import BY_NAME
from ackclock.metrics.under_test import UnderTest, pooled
from ackclock.statistics.bootstrap import bootstrap_estimate
from ackclock.statistics.estimates import Estimate, estimate, paired_difference

Document = dict[str, Any]


@dataclass(frozen=True)
class Metric:
    """A number per run, and which way is better."""

    name: str
    #: What it is called, in a few characters.
    label: str
    unit: str
    better: str
    digits: int
    of: Callable[[Document], float]
    #: Whether values have a bound near which they lie, so that their means are not normal.
    bounded: bool = False

    @property
    def heading(self) -> str:
        """The label with its unit."""
        return f"{self.label} {self.unit}".rstrip()

    def text(self, value: float) -> str:
        """Return a value with its digits and unit."""
        return f"{value:.{self.digits}f} {self.unit}".rstrip()

    def cost(self, value: float) -> float:
        """Return how bad a value is: less is better, whatever the metric."""
        if self.better == "near-one":
            return abs(value - 1.0)
        if self.better == "reach-one":
            return max(0.0, 1.0 - value)
        return -value if self.better == "higher" else value


def _of(run: Document, name: str, idle: float | None = None) -> float:
    """Return a metric of the summary. `idle`: what it is for flows that sent nothing.

    Raises `InputError` where it does not apply.
    """
    metric = BY_NAME[name]
    value = metric.of(run)
    if value is None and run["flows"]:
        value = idle
    if value is None:
        raise InputError(f"{run['scenario']}: {metric.name} does not apply: {metric.absent}")
    return value


def _of_summary(name: str, key: str, label: str, digits: int, idle: float | None = None) -> Metric:
    """Return a metric of the summary, `key` being its name there."""
    declared = BY_NAME[key]
    of = partial(_scaled, key=key, idle=idle)
    return Metric(name, label, declared.unit, declared.better, digits, of, declared.bounded)


def _scaled(run: Document, key: str, idle: float | None) -> float:
    """Return a metric of the summary in the unit that is shown."""
    return BY_NAME[key].factor * _of(run, key, idle)


#: The metrics of every environment that the scoreboard shows, in its order.
COMMON = (
    _of_summary("efficiency", "efficiency", "efficiency", 2),
    _of_summary("loss_rate", "loss_rate", "segments lost", 2, 0.0),
    _of_summary("queue_delay", "queue_delay_mean", "queueing delay", 1, 0.0),
    _of_summary("jain_index", "jain_index", "Jain", 3),
)

#: The name of the metric that an environment watches beyond the common ones.
WATCH = "watch"
#: Efficiency times the rate of the bottleneck: stored and compared with a baseline, not shown twice.
GOODPUT = _of_summary("goodput", "goodput", "goodput", 3)


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
        if self.cost_difference is None or not self.cost_difference.excludes_zero:
            return ""
        return "worse" if self.cost_difference.mean > 0 else "better"


@dataclass(frozen=True)
class Result:
    """Results of an environment: scores by candidate, in the order of the candidates."""

    environment: Environment
    metrics: tuple[Metric, ...]
    scores: tuple[tuple[Score, ...], ...]
    #: Whether nothing is random in it, so that a single replicate says all.
    exact: bool = False


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
            regrets(costs, scale, self.regret_baseline, self.reference)
            for scale in scales_of([result.environment for result in self.results])
            if (costs := _costs(self.results, scale.name))
        ]
        return tuple(zip(*by_metric, strict=True))

    def mean_ratio(self, name: str, other: int) -> float | None:
        """Return the first candidate's metric over another's, as a geometric mean over environments.

        Environments in which one of the two is zero are left out.
        """
        logs = []
        for result in self.results:
            ours, theirs = (
                next(score.value.mean for score in result.scores[who] if score.metric.name == name)
                for who in (0, other)
            )
            if ours > 0 and theirs > 0:
                logs.append(math.log(ours / theirs))
        return math.exp(math.fsum(logs) / len(logs)) if logs else None


def metrics_of(environment: Environment) -> tuple[Metric, ...]:
    """Return the metrics that make sense in an environment."""
    shown = (metric for metric in COMMON if environment.fairness or metric.name != "jain_index")
    common = tuple(_in_company(metric, environment.scored) for metric in (*shown, GOODPUT))
    if environment.watch is None:
        return common
    watch = environment.watch
    watched = Metric(WATCH, watch.label, watch.unit, watch.better, 3, partial(_watched, watch), True)
    return (*common, watched)


#: What metrics are where others take part of the link.
_IN_COMPANY: dict[str, Callable[[UnderTest], float]] = {
    "efficiency": lambda flows: 100 * flows.goodput_fraction(),
    "loss_rate": lambda flows: 100 * flows.loss_rate,
    "queue_delay": lambda flows: 1e3 * flows.queue_delay_mean_s,
    "jain_index": lambda flows: flows.jain_index,
    "goodput": lambda flows: 1e-6 * math.fsum(flows.goodputs_bps),
}


def _in_company(metric: Metric, groups: tuple[str, ...]) -> Metric:
    """Return a metric of the flows of some groups; of all where there are no groups."""
    if not groups or metric.name not in _IN_COMPANY:
        return metric
    return replace(metric, of=partial(_of_groups, metric.name, groups))


def _of_groups(name: str, groups: tuple[str, ...], run: Document) -> float:
    value = _IN_COMPANY[name](UnderTest(run, groups))
    if math.isnan(value):
        raise InputError(f"{run['scenario']}: {name} does not apply: the bottleneck has no rate")
    return value


def score(
    environment: Environment, runs: Sequence[Sequence[Document]], reference: int, *, exact: bool = False
) -> Result:
    """Score `runs[candidate][replicate]` against the candidate at index `reference`.

    A single replicate is judged only where it is `exact`, nothing being random.
    """
    metrics = metrics_of(environment)
    base = [[metric.cost(metric.of(run)) for run in runs[reference]] for metric in metrics]
    scores = []
    for candidate, replicates in enumerate(runs):
        row = []
        for metric, reference_cost in zip(metrics, base, strict=True):
            values = tuple(metric.of(run) for run in replicates)
            difference = None
            if candidate != reference and (exact or len(values) > 1):
                difference = paired_difference([metric.cost(value) for value in values], reference_cost)
            value = (bootstrap_estimate if metric.bounded else estimate)(values)
            row.append(Score(metric, values, value, difference))
        scores.append(tuple(row))
    return Result(environment, metrics, tuple(scores), exact)


def scales_of(environments: Sequence[Environment]) -> list[Scale]:
    """Return the metrics of regret: those of every environment, and the watched ones as shares."""
    relative = frozenset(
        environment.id
        for environment in environments
        if (watch := environment.watch) is not None and watch.better in ("higher", "lower")
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


def _watched(watch: Watch, run: Document) -> float:
    if watch.metric in _OF_ROWS:
        rows = [row for part in _PARTS for row in run.get(part, ()) if row["group"] == watch.group]
        # A connection with answers has a row in both lists.
        kept = [row for row in rows if "traffic" not in row] or rows
        return watch.scale * _OF_ROWS[watch.metric](kept, run)
    flows = [flow for flow in run["flows"] if flow["group"] == watch.group]
    answers = watch.metric == "completion-time" and any(
        row["group"] == watch.group and row.get("traffic") != "transfer" for row in run.get("transfers", ())
    )
    # The rows of a web client's answers have their times, that of its connection has none.
    if answers or not flows:
        return watch.scale * _watched_transfers(watch, run)
    goodput_bps = math.fsum(flow["goodput_bps"] for flow in flows)
    match watch.metric:
        case "share":
            fair = run["summary"]["goodput_bps"] / len(run["flows"])
            value = goodput_bps / len(flows) / fair if fair else 0.0
        case "group-efficiency":
            total_bps = run["summary"]["goodput_bps"]
            value = _of(run, "efficiency") * goodput_bps / total_bps if total_bps else 0.0
        case "group-goodput":
            value = goodput_bps
        case "completion-time":
            # A transfer that did not end counts with the time it had, which is a lower bound.
            times = [
                flow["completion_time_s"] if flow["completion_time_s"] is not None else run["duration_s"]
                for flow in flows
            ]
            value = math.fsum(times) / len(times)
        case other:
            raise ValueError(f"unknown metric {other!r} in a suite")
    return value * watch.scale


def _queue_delay_s(rows: Sequence[Document], _run: Document) -> float:
    """Return the mean queueing delay of data packets, 0 where none arrived."""
    counts = [row["arrived"] if "arrived" in row else row["sent"] - row["lost"] for row in rows]
    delays = [row["queue_delay_mean_s"] for row in rows]
    known = [(count, delay) for count, delay in zip(counts, delays, strict=True) if delay is not None]
    total = sum(count for count, _ in known)
    return math.fsum(count * delay for count, delay in known) / total if total else 0.0


def _delay_p99_s(rows: Sequence[Document], run: Document) -> float:
    """Return the largest 99th percentile; where nothing arrived the length of the run, a lower bound."""
    known = (row["delay_p99_s"] for row in rows)
    return max(float(run["duration_s"] if delay_s is None else delay_s) for delay_s in known)


#: Where groups have their rows.
_PARTS = ("flows", "transfers", "datagrams")
#: Watched metrics that come of the rows of a group alone.
_OF_ROWS: dict[str, Callable[[Sequence[Document], Document], float]] = {
    "segments-sent": lambda rows, _: float(sum(row["sent"] for row in rows)),
    "packets-lost": lambda rows, _: float(sum(row["lost"] for row in rows)),
    "loss-rate": lambda rows, _: pooled(rows, "lost", "sent") or 0.0,
    "queue-delay": _queue_delay_s,
    "lost-or-late-rate": lambda rows, _: max(row["lost_or_late_rate"] or 0.0 for row in rows),
    "delay-p99": _delay_p99_s,
}


def _watched_transfers(watch: Watch, run: Document) -> float:
    """Return the watched metric of flow arrivals, which have no rows of their own in `flows`."""
    group = next((each for each in run.get("transfers", ()) if each["group"] == watch.group), None)
    match watch.metric, group:
        case "group-goodput", dict():
            return float(group["goodput_bps"])
        case "completion-time", dict():
            # None ended: the time they had is a lower bound.
            mean_s = group["fct_mean_s"]
            return float(run["duration_s"] if mean_s is None else mean_s)
        case metric, _:
            raise InputError(
                f"watch.metric: {metric} does not apply to {watch.group!r}, which is not a group of flows"
            )
