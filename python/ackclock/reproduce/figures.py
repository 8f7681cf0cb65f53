"""Figures of a reproduction as data: panels of lines over time, or of points with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.errors import InputError
from ackclock.reproduce.grids import Values, members
from ackclock.reproduce.measures import replicate_values
from ackclock.reproduce.metrics import (
    available_series,
    carried_series,
    flow_series,
    link_series,
    state_series,
)
from ackclock.reproduce.models import table as model_table
from ackclock.reproduce.runs import Run, Runs
from ackclock.statistics.estimates import estimate

#: The series of the first replicate, by name.
SERIES: dict[str, Callable[[Run], tuple[list[float], list[float]]]] = {
    "throughput": lambda run: flow_series(run, "sent_bytes"),
    "goodput": lambda run: flow_series(run, "delivered_bytes"),
    "utilization": link_series,
    "available": available_series,
    "carried": carried_series,
    "cwnd": lambda run: state_series(run, "cwnd_segments"),
    "alpha": lambda run: state_series(run, "alpha_segments"),
}


@dataclass(frozen=True)
class Line:
    """Values over x, with `low` and `high` if there are intervals."""

    label: str
    x: Sequence[Any]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Panel:
    """Lines of one unit."""

    title: str
    unit: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Figure:
    """Panels side by side. `kind`: `series` over seconds, or `points` over the values of an axis."""

    id: str
    title: str
    kind: str
    x_label: str
    panels: tuple[Panel, ...]


def figures_of(runs: Runs, *, extended: bool = False) -> list[Figure]:
    """Return the figures that a paper asks for, of the grids that are run.

    Raises `InputError` with file and figure.
    """
    make = {"series": _series, "points": _points, "expansion": _expansion}
    figures = []
    for spec in runs.paper.figures:
        try:
            if runs.paper.grid(spec.get("grid")).extended and not extended:
                continue
            figures.append(make[spec["kind"]](runs, spec))
        except (KeyError, ValueError, TypeError) as error:
            path = runs.paper.folder / "paper.toml"
            raise InputError(f"{path}: figure {spec.get('id', '?')}: {error}") from None
    return figures


def _series(runs: Runs, spec: Values) -> Figure:
    axis, at, grid = spec["panels"], spec.get("at", {}), spec.get("grid")
    panels = []
    for value in runs.paper.grid(grid).axis(axis).values:
        (cell,) = runs.select({**at, axis: value}, grid)
        lines = tuple(_line(cell.runs[0], name) for name in spec["lines"])
        panels.append(Panel(f"{axis} {value}", spec["unit"], lines))
    return Figure(spec["id"], spec["title"], "series", "s", tuple(panels))


def _expansion(runs: Runs, spec: Values) -> Figure:
    rows = model_table()["expansion"]
    times = [row["time"] for row in rows]
    lines = tuple(Line(label, times, [row[rule] for row in rows]) for label, rule in spec["lines"].items())
    return Figure(spec["id"], spec["title"], "series", "round trips", (Panel("", spec["unit"], lines),))


def _line(run: Run, name: str) -> Line:
    times, values = SERIES[name](run)
    return Line(name, times, values)


def _points(runs: Runs, spec: Values) -> Figure:
    along, grid = spec["along"], spec.get("grid")
    chosen = runs.paper.grid(grid)
    values = chosen.axis(along).values
    panels = []
    for panel in spec["panels"]:
        at = spec.get("at", {})
        groups = (
            [
                (str(other), {spec["lines"]: other})
                for other in members(at.get(spec["lines"], chosen.axis(spec["lines"]).values))
            ]
            if ("lines" in spec)
            else [("", {})]
        )
        lines = [
            _along(runs, panel["metric"], label, {**at, **group}, along, grid) for label, group in groups
        ]
        if "printed" in panel:
            table = runs.paper.printed[panel["printed"]["table"]]
            column = panel["printed"]["column"]
            printed = [table.value(column, {**at, along: value}) for value in values]
            lines.append(Line("printed", values, printed))
        panels.append(Panel(panel["title"], panel["unit"], tuple(lines)))
    return Figure(spec["id"], spec["title"], "points", along, tuple(panels))


def _along(runs: Runs, metric: str, label: str, at: Values, along: str, grid: str | None) -> Line:
    values = runs.paper.grid(grid).axis(along).values
    estimates = [estimate(replicate_values(runs, metric, {**at, along: value}, grid)[0]) for value in values]
    return Line(
        label,
        values,
        [each.mean for each in estimates],
        [each.mean if each.low is None else each.low for each in estimates],
        [each.mean if each.high is None else each.high for each in estimates],
    )
