"""Ways to measure a claim: from runs, from the synchronous model, and from printed tables.

`kind` in `claims.toml` names a measure. The other keys are the arguments of the function registered here.
"""

from __future__ import annotations

import collections.abc
import inspect
import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from ackclock.errors import AckclockError
from ackclock.files.declaration import Anything, Either, Flag, ListOf, MapOf, Number, Place, Table, Text, Type
from ackclock.reproduce.grids import CONTROL, Grid, Values, members, require_at
from ackclock.reproduce.metrics import METRICS, OF_SAMPLES
from ackclock.reproduce.paper import Paper
from ackclock.reproduce.paper_keys import SELECTION
from ackclock.reproduce.readings import CHOSEN, Reading
from ackclock.reproduce.runs import Runs
from ackclock.statistics.estimates import CONFIDENCE, Estimate, estimate


@dataclass(frozen=True)
class Part:
    """One number of a measurement. A claim holds if all its parts hold."""

    label: str
    #: None if there is nothing to measure, for the stated `reason`.
    value: Estimate | None
    #: True for a deterministic value, which needs no interval.
    exact: bool = False
    reason: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval, of width zero for an exact value, and None if there is no interval."""
        if self.value is None:
            return None
        if self.value.low is not None and self.value.high is not None:
            return self.value.low, self.value.high
        return (self.value.mean, self.value.mean) if self.exact else None


Measure = Callable[..., Sequence[Part]]


@dataclass(frozen=True)
class _Registered:
    """A measure with the types of its arguments."""

    function: Measure
    keys: Table


MEASURES: dict[str, _Registered] = {}

#: The number of scenarios of a search that other replicates judge.
_FINALISTS = 3


def measure(kind: str, **choices: Iterable[str]) -> Callable[[Measure], Measure]:
    """Register a measure. Its annotations define the arguments, and `choices` the allowed texts."""

    def register(function: Measure) -> Measure:
        parameters = list(inspect.signature(function).parameters.values())[1:]
        hints = get_type_hints(function)
        types = {
            each.name: Text(tuple(choices[each.name])) if each.name in choices else _type_of(hints[each.name])
            for each in parameters
        }
        required = {each.name for each in parameters if each.default is inspect.Parameter.empty}
        MEASURES[kind] = _Registered(
            function,
            Table(
                f"the measure {kind!r}",
                {name: type for name, type in types.items() if name in required},
                {name: type for name, type in types.items() if name not in required},
            ),
        )
        return function

    return register


def _type_of(hint: Any) -> Type:
    """Return the type that a claim may use for an argument of a measure."""
    if hint == Values:
        return SELECTION
    if hint in _TYPES:
        return _TYPES[hint]
    arguments = [each for each in get_args(hint) if each is not NoneType]
    match get_origin(hint):
        case collections.abc.Sequence:
            return ListOf(_type_of(arguments[0]))
        case collections.abc.Mapping:
            return MapOf(_type_of(arguments[1]))
        case _:
            types = tuple(map(_type_of, arguments))
            return types[0] if len(types) == 1 else Either(types)


_TYPES: dict[Any, Type] = {str: Text(), bool: Flag(), float: Number(), Any: Anything()}


def take(runs: Runs, spec: Values) -> Sequence[Part]:
    """Measure `spec` with the metrics of the interpretation. `check` must have accepted `spec`."""
    fields = _fields(spec)
    if "metric" in fields:
        fields["metric"] = runs.reading.metrics.get(fields["metric"], fields["metric"])
    return MEASURES[spec["kind"]].function(runs, **fields)


def check(paper: Paper, spec: Values, place: Place) -> None:
    """Raise `InputError` before any run for a `spec` that `take` cannot measure."""
    if "kind" not in spec:
        place.at("kind").fail("is missing: a text")
    place.at("kind").require(spec["kind"], sorted(MEASURES), "measure")
    fields = _fields(spec)
    MEASURES[spec["kind"]].keys.check(fields, place)
    if "table" in fields:
        require_column(paper, fields["table"], fields["column"], place)
        if "times" in fields:
            require_column(paper, fields["table"], fields["times"], place.at("times"))
    for index, pair in enumerate(fields.get("leads", ())):
        if len(pair) != 2:
            place.at("leads").item(index, pair).refuse(pair, "a list of two controls")
    names = [grid.name for grid in paper.grids]
    for name in fields.get("grids", [fields["grid"]] if "grid" in fields else []):
        place.at("grid").require(name, names, "grid")
    grids = grids_of(paper, spec)
    if not grids:
        _check_without_runs(paper, spec, place)
        return
    require_metric(fields["metric"], grids, place.at("metric"))
    for grid in grids:
        for key in ("at", "minus"):
            require_at(grid, fields.get(key, {}), place.at(key))
        if "along" in fields:
            require_at(grid, {fields["along"]: list(fields.get("order", ()))}, place.at("along"))
    for key, controls in (
        ("control", members(fields.get("control", ()))),
        ("among", fields.get("among", ())),
        ("leads", [control for pair in fields.get("leads", ()) for control in pair]),
        *((f"groups.{name}", group) for name, group in fields.get("groups", {}).items()),
    ):
        known = [
            value for grid in grids for axis in grid.axes if axis.name == CONTROL for value in axis.values
        ]
        for control in controls:
            place.at(key).require(control, known, "control")


def require_metric(name: str, grids: Iterable[Grid], place: Place) -> None:
    """Raise `InputError` for an unknown metric, or a metric whose samples are not kept."""
    place.require(name, METRICS, "metric")
    for grid in grids:
        if name in OF_SAMPLES and grid.samples is not True:
            place.fail(f'{name} is computed from samples: grid {grid.name} needs samples = "all"')


def require_metrics(paper: Paper, instead: Values, place: Place) -> None:
    """Raise `InputError` if no grid can measure a metric or its replacement."""
    sampled = [grid for grid in paper.grids if grid.samples is True]
    for name in [*instead, *instead.values()]:
        require_metric(name, sampled[:1] or paper.grids[:1], place)


def require_column(paper: Paper, table: str, column: str, place: Place) -> None:
    """Raise `InputError` for an unknown printed table or column."""
    place.require(table, paper.printed, "printed table")
    place.require(column, paper.printed[table].columns, f"column of {table}")


def _check_without_runs(paper: Paper, spec: Values, place: Place) -> None:
    """Measure a claim without runs, because only that finds all its mistakes."""
    try:
        take(Runs(paper, {}), spec)
    except AckclockError as error:
        place.fail(str(error))
    except (LookupError, ValueError, TypeError, ArithmeticError, StopIteration) as error:
        place.fail(f"cannot be measured: {error}")


def _fields(spec: Values) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key != "kind"}


def grids_of(paper: Paper, spec: Values) -> list[Grid]:
    """Return the grids whose runs a measure uses, none for a measure without runs. Raises `KeyError`."""
    if "metric" not in spec:
        return []
    return [paper.grid(name) for name in spec.get("grids", [spec.get("grid")])]


def cells_of(paper: Paper, spec: Values) -> list[tuple[str, Values]]:
    """Return the cells that a measure uses, by grid."""
    at = spec.get("at", {})
    taken = (at, {**at, **spec.get("minus", {})})
    return [(grid.name, each) for grid in grids_of(paper, spec) for each in taken]


def is_run(paper: Paper, spec: Values, *, extended: bool = False, reading: Reading = CHOSEN) -> bool:
    """Whether the cells that a measure uses are run."""
    return all(
        (extended or not paper.grid(name).extended)
        and any(_covers(paper.grid(name), selection, taken) for selection in reading.cells(paper.grid(name)))
        for name, taken in cells_of(paper, spec)
    )


def _covers(grid: Grid, selection: Values, taken: Values) -> bool:
    """Whether a selection contains all cells that a measure uses."""
    return all(
        set(members(taken.get(name, grid.axis(name).values))) <= set(members(wanted))
        for name, wanted in selection.items()
    )


def exact(value: float, label: str = "") -> Part:
    """Return a deterministic part."""
    return Part(label, Estimate(value, None, None, 1), exact=True)


def replicate_values(
    runs: Runs, metric: str, at: Values, grid: str | None = None
) -> tuple[list[float], bool]:
    """Return a metric of each replicate, averaged over the selected cells, and whether it is exact."""
    function = METRICS[metric]
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
    """Mean difference between `at` and `at` changed by `minus`, paired by replicate.

    `relative` yields percent. There is one part per value of the axis `along`, if given, or only the
    `greatest` of them.
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


@measure("exists")
def _exists(
    runs: Runs,
    *,
    metric: str,
    leads: Sequence[Sequence[str]],
    at: Values,
    grids: Sequence[str | None] = (None,),
) -> list[Part]:
    """Lead of the first control of each pair over the second, in one scenario of many.

    A scenario is a combination of the values of all axes but the control. The first half of the replicates
    selects the `_FINALISTS` clearest scenarios, and the other half judges them. Chance in the selection
    therefore does not bias the verdict. The parts describe the best of these scenarios, one part per pair.
    Bonferroni's correction makes the intervals of all finalists hold together in 95 % of searches.
    """
    scenarios = _scenarios(runs, metric, at, grids)

    def led(name: str, half: slice) -> list[list[float]]:
        row = scenarios[name]
        return [
            [mine - other for mine, other in zip(row[first][half], row[second][half], strict=True)]
            for first, second in leads
        ]

    count = len(next(iter(next(iter(scenarios.values())).values())))
    searched, judged = slice(count // 2 or 1), slice(count // 2, None)
    finalists = _clearest({name: led(name, searched) for name in scenarios})
    confidence = 1 - (1 - CONFIDENCE) / len(finalists)
    tried = {name: [estimate(lead, confidence) for lead in led(name, judged)] for name in finalists}
    # A scenario that is not significantly below zero ranks before one that is.
    best = max(tried, key=lambda name: (_least(tried[name], "high") > 0, _least(tried[name], "low")))
    return [
        Part(
            f"{best}, one of the {len(tried)} best of {len(scenarios)} searched: {first} over {second}", lead
        )
        for (first, second), lead in zip(leads, tried[best], strict=True)
    ]


def _least(values: Sequence[Estimate], end: str) -> float:
    """Return the least end of intervals, or the least mean if there are no intervals."""
    ends = [getattr(value, end) for value in values]
    return min(value.mean if found is None else found for value, found in zip(values, ends, strict=True))


def _scenarios(
    runs: Runs, metric: str, at: Values, grids: Sequence[str | None]
) -> dict[str, dict[str, list[float]]]:
    """Return a metric of each replicate by scenario and control. Varying axes name a scenario."""
    function = METRICS[metric]
    found: dict[str, dict[str, list[float]]] = {}
    for grid in grids:
        varying = [
            axis.name
            for axis in runs.paper.grid(grid).axes
            if axis.name != CONTROL and len(members(at.get(axis.name, axis.values))) > 1
        ]
        kind = f"{grid}: " if len(grids) > 1 else ""
        for cell in runs.select(at, grid):
            name = kind + ", ".join(f"{axis} {cell.values[axis]}" for axis in varying)
            found.setdefault(name, {})[cell.values[CONTROL]] = [function(run) for run in cell.runs]
    return found


def _clearest(leads: Mapping[str, Sequence[Sequence[float]]]) -> list[str]:
    """Return the scenarios with the largest least leads, each in units of its standard error.

    The median standard error of all scenarios is added to each. Otherwise, a tiny lead that happens not to
    vary would rank first (Tusher, Tibshirani & Chu 2001).
    """
    errors = {
        name: [
            statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0 for values in row
        ]
        for name, row in leads.items()
    }
    medians = [statistics.median(column) or 1.0 for column in zip(*errors.values(), strict=True)]
    return sorted(
        leads,
        key=lambda name: (
            -min(
                math.fsum(values) / len(values) / (error + median)
                for values, error, median in zip(leads[name], errors[name], medians, strict=True)
            )
        ),
    )[:_FINALISTS]


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
    """Rise of the metric from one value of `along` to the next, or its fall. Positive if it does so."""
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


_REDUCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda numbers: math.fsum(numbers) / len(numbers),
    "min": min,
    "max": max,
    "spread": lambda numbers: spread_percent(numbers),
}


@measure("printed", reduce=_REDUCTIONS)
def _printed(
    runs: Runs, *, table: str, column: str, reduce: str, times: str | None = None, scale: float = 1.0
) -> list[Part]:
    """Mean, least, greatest or spread of a column of the printed table, multiplied by another column."""
    columns = runs.paper.printed[table].columns
    factors = columns[times] if times is not None else [1.0] * len(columns[column])
    values = [scale * value * factor for value, factor in zip(columns[column], factors, strict=True)]
    return [exact(_REDUCTIONS[reduce](values))]


def spread_percent(values: Sequence[float]) -> float:
    """Return largest minus smallest, percent of the mean."""
    mean = math.fsum(values) / len(values)
    return 100 * (max(values) - min(values)) / mean if mean else 0.0


def _values(runs: Runs, along: str, at: Values, grid: str | None) -> list[Any]:
    """Return the values of an axis, or the values that `at` selects."""
    return list(members(at.get(along, runs.paper.grid(grid).axis(along).values)))
