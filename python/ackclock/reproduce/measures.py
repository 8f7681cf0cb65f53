"""Ways to measure a claim: from runs, from the synchronous model, from what is printed.

A measure is named by `kind` in `claims.toml`; its other keys are the arguments of the
function registered here.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.reproduce.metrics import metric as metric_of
from ackclock.reproduce.paper import Alternative, Grid, Paper, Values, members
from ackclock.reproduce.runs import Runs
from ackclock.stats import Estimate, estimate


@dataclass(frozen=True)
class Part:
    """A number of a measurement; a claim holds if it holds of all parts."""

    label: str
    #: None where there is nothing to measure; `reason` says why.
    value: Estimate | None
    #: True for what has no luck in it: it needs no interval.
    exact: bool = False
    reason: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval, of width zero for what is exact; None where there is none."""
        if self.value is None:
            return None
        if self.value.low is not None and self.value.high is not None:
            return self.value.low, self.value.high
        return (self.value.mean, self.value.mean) if self.exact else None


Measure = Callable[..., Sequence[Part]]
MEASURES: dict[str, Measure] = {}


def measure(kind: str) -> Callable[[Measure], Measure]:
    """Register a way to measure."""

    def register(function: Measure) -> Measure:
        MEASURES[kind] = function
        return function

    return register


def take(runs: Runs, spec: Values) -> Sequence[Part]:
    """Measure what `spec` asks for. Raises `ValueError` or `KeyError` for what there is not."""
    function, fields = _function(spec)
    return function(runs, **fields)


def check(paper: Paper, spec: Values) -> None:
    """Raise `ValueError`, `KeyError` or `TypeError` for what `take` would not understand, before any run."""
    function, fields = _function(spec)
    inspect.signature(function).bind(None, **fields)
    if "metric" in fields:
        metric_of(fields["metric"])
        for grid in grids_of(paper, spec):
            for selection in (fields.get("at", {}), fields.get("minus", {})):
                grid.check(selection)
            if "along" in fields:
                grid.check({fields["along"]: list(fields.get("order", ()))})
    if "table" in fields:
        _ = paper.printed[fields["table"]].columns[fields["column"]]


def grids_of(paper: Paper, spec: Values) -> list[Grid]:
    """Return the grids that a measure takes runs from; none for what needs no run. Raises `KeyError`."""
    if "metric" not in spec:
        return []
    return [paper.grid(name) for name in spec.get("grids", [spec.get("grid")])]


def is_run(paper: Paper, spec: Values, *, extended: bool = False, instead: Alternative | None = None) -> bool:
    """Whether the cells that a measure takes are run."""
    for grid in grids_of(paper, spec):
        if grid.extended and not extended:
            return False
        if instead is not None and instead.at:
            if grid.name not in instead.at:
                return False
            at = spec.get("at", {})
            for taken in (at, {**at, **spec.get("minus", {})}):
                for name, wanted in instead.at[grid.name].items():
                    if not set(members(taken.get(name, grid.axis(name).values))) <= set(members(wanted)):
                        return False
    return True


def _function(spec: Values) -> tuple[Measure, dict[str, Any]]:
    fields = dict(spec)
    kind = fields.pop("kind")
    if kind not in MEASURES:
        raise ValueError(f"no measure is called {kind!r}; there are: {', '.join(sorted(MEASURES))}")
    return MEASURES[kind], fields


def exact(value: float, label: str = "") -> Part:
    """Return a part in which nothing is random."""
    return Part(label, Estimate(value, None, None, 1), exact=True)


def replicate_values(
    runs: Runs, metric: str, at: Values, grid: str | None = None
) -> tuple[list[float], bool]:
    """Return a metric of each replicate, the mean over all selected cells, and whether it is exact."""
    function = metric_of(metric)
    cells = runs.select(at, grid)
    count = max(len(cell.runs) for cell in cells)
    columns = [[function(run) for run in cell.runs] * (count if len(cell.runs) == 1 else 1) for cell in cells]
    means = [math.fsum(row) / len(row) for row in zip(*columns, strict=True)]
    return means, all(cell.exact for cell in cells)


def _part(values: Sequence[float], is_exact: bool, label: str = "") -> Part:
    return Part(label, estimate(values), is_exact and len(values) == 1)


@measure("mean")
def _mean(runs: Runs, *, metric: str, at: Values, grid: str | None = None) -> list[Part]:
    """Mean over replicates and over all cells at `at`."""
    return [_part(*replicate_values(runs, metric, at, grid))]


@measure("difference")
def _difference(
    runs: Runs,
    *,
    metric: str,
    at: Values,
    minus: Values,
    relative: bool = False,
    along: str | None = None,
    greatest: bool = False,
    grid: str | None = None,
) -> list[Part]:
    """Mean difference between `at` and `at` changed by `minus`, on the same luck; `relative` in percent.

    One part per value of the axis `along`, if given, or only the `greatest` of them.
    """
    parts = []
    for value in [None] if along is None else _values(runs, along, at, grid):
        there = at if along is None else {**at, along: value}
        ours, is_exact = replicate_values(runs, metric, there, grid)
        theirs, also = replicate_values(runs, metric, {**there, **minus}, grid)
        differences = [
            100 * (mine / other - 1) if relative else mine - other
            for mine, other in zip(ours, theirs, strict=True)
        ]
        parts.append(_part(differences, is_exact and also, "" if along is None else f"{along} {value}"))
    if greatest:
        return [max(parts, key=lambda part: -math.inf if part.value is None else part.value.mean)]
    return parts


@measure("log-error")
def _log_error(
    runs: Runs, *, metric: str, table: str, column: str, at: Values, grid: str | None = None
) -> list[Part]:
    """Root mean square, over the rows of a printed table, of the logarithm of measured over printed."""
    printed = runs.paper.printed[table].columns
    axes = [axis.name for axis in runs.paper.grid(grid).axes if axis.name in printed]
    squares, exacts = [], []
    for index, number in enumerate(printed[column]):
        place = {name: printed[name][index] for name in axes}
        values, is_exact = replicate_values(runs, metric, {**at, **place}, grid)
        squares.append([math.log(value / number) ** 2 for value in values])
        exacts.append(is_exact)
    errors = [math.sqrt(math.fsum(row) / len(row)) for row in zip(*squares, strict=True)]
    return [_part(errors, all(exacts))]


@measure("each")
def _each(runs: Runs, *, metric: str, along: str, at: Values, grid: str | None = None) -> list[Part]:
    """One part per value of the axis `along`."""
    return [
        _part(*replicate_values(runs, metric, {**at, along: value}, grid), f"{along} {value}")
        for value in _values(runs, along, at, grid)
    ]


@measure("steps")
def _steps(
    runs: Runs,
    *,
    metric: str,
    along: str,
    at: Values,
    order: Sequence[Any] = (),
    falling: bool = False,
    grid: str | None = None,
) -> list[Part]:
    """How much the metric rises from one value of `along` to the next, or falls; above zero if it does."""
    values = list(order) or _values(runs, along, at, grid)
    parts = []
    for before, after in itertools.pairwise(values):
        first, is_exact = replicate_values(runs, metric, {**at, along: before}, grid)
        second, also = replicate_values(runs, metric, {**at, along: after}, grid)
        sign = -1 if falling else 1
        steps = [sign * (there - here) for here, there in zip(first, second, strict=True)]
        parts.append(_part(steps, is_exact and also, f"{along} {before} to {after}"))
    return parts


@measure("spread")
def _spread(runs: Runs, *, metric: str, along: str, at: Values, grid: str | None = None) -> list[Part]:
    """Largest minus smallest value along an axis, percent of the mean."""
    columns, exacts = zip(
        *(
            replicate_values(runs, metric, {**at, along: value}, grid)
            for value in _values(runs, along, at, grid)
        ),
        strict=True,
    )
    return [_part([spread_percent(row) for row in zip(*columns, strict=True)], all(exacts))]


@measure("printed")
def _printed(
    runs: Runs, *, table: str, column: str, reduce: str, times: str | None = None, scale: float = 1.0
) -> list[Part]:
    """What the printed table itself gives: mean, least, greatest or spread of a column, times another."""
    columns = runs.paper.printed[table].columns
    factors = columns[times] if times is not None else [1.0] * len(columns[column])
    values = [scale * value * factor for value, factor in zip(columns[column], factors, strict=True)]
    reductions: dict[str, Callable[[Sequence[float]], float]] = {
        "mean": lambda numbers: math.fsum(numbers) / len(numbers),
        "min": min,
        "max": max,
        "spread": spread_percent,
    }
    if reduce not in reductions:
        raise ValueError(f"reduce: {reduce!r} is none of {', '.join(reductions)}")
    return [exact(reductions[reduce](values))]


def spread_percent(values: Sequence[float]) -> float:
    """Return largest minus smallest, percent of the mean."""
    mean = math.fsum(values) / len(values)
    return 100 * (max(values) - min(values)) / mean if mean else 0.0


def _values(runs: Runs, along: str, at: Values, grid: str | None) -> list[Any]:
    """Return the values of an axis, those that `at` names if it names any."""
    return list(members(at.get(along, runs.paper.grid(grid).axis(along).values)))
