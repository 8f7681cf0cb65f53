"""Checks the names in a paper's tables and figures: grids, axes, values, metrics, printed columns."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock.files.declaration import Place, require_once
from ackclock.reproduce.figures import SERIES
from ackclock.reproduce.grids import CONTROL, ENVIRONMENT, Grid, Values, members, require_at
from ackclock.reproduce.measures import require_column, require_metric
from ackclock.reproduce.models import table as model_table
from ackclock.reproduce.paper import FILE, Paper


def require_shown(paper: Paper) -> None:
    """Raise `InputError` before any run for a table or a figure that cannot be made."""
    path = str(paper.folder / FILE)
    for key, shown in (("tables", paper.tables), ("figures", paper.figures)):
        require_once([spec["id"] for spec in shown], Place(path, key))
    for spec in paper.tables:
        place = Place(path, f"tables[{spec['id']}]")
        (_robustness if spec.get("kind") == "robustness" else _table)(paper, spec, place)
    for spec in paper.figures:
        place = Place(path, f"figures[{spec['id']}]")
        {"series": _series, "points": _points, "expansion": _expansion}[spec["kind"]](paper, spec, place)


def _grids(paper: Paper, spec: Values, place: Place) -> list[Grid]:
    """Return the grids of a table or a figure, by default the first."""
    names = [grid.name for grid in paper.grids]
    wanted = spec.get("grids", [spec.get("grid", names[0])])
    for name in wanted:
        place.at("grid").require(name, names, "grid")
    grids = [paper.grid(name) for name in wanted]
    for grid in grids:
        require_at(grid, spec.get("at", {}), place.at("at"))
    return grids


def _table(paper: Paper, spec: Values, place: Place) -> None:
    grids = _grids(paper, spec, place)
    _require_axis(grids[0], spec["rows"], place.at("rows"))
    if ("columns" in spec) == ("across" in spec):
        place.fail("needs columns or across, and not both")
    if "across" in spec:
        _require_axis(grids[0], spec["across"]["axis"], place.at("across.axis"))
        _require_columns(paper, spec, [spec["across"]], grids, place.at("across"))
    else:
        _require_columns(paper, spec, spec["columns"], grids, place.at("columns"))


def _robustness(paper: Paper, spec: Values, place: Place) -> None:
    grids = _grids(paper, spec, place)
    for grid in grids:
        for axis in (CONTROL, ENVIRONMENT):
            _require_axis(grid, axis, place.at("grid"))
        for column in spec["columns"]:
            require_at(grid, column.get("at", {}), place.at("columns"))
    _require_columns(paper, spec, spec["columns"], grids, place.at("columns"))


def _require_columns(
    paper: Paper, spec: Values, columns: Sequence[Values], grids: Sequence[Grid], place: Place
) -> None:
    """Check the metric of each column and its printed column."""
    for column in columns:
        require_metric(column["metric"], grids, place.at("metric"))
        if "printed" in column:
            if "printed" not in spec:
                place.fail("names a printed column, but the table has no `printed`")
            require_column(paper, spec["printed"], column["printed"], place.at("printed"))


def _series(paper: Paper, spec: Values, place: Place) -> None:
    (grid,) = _grids(paper, spec, place)
    _require_axis(grid, spec["panels"], place.at("panels"))
    for name in spec["lines"]:
        place.at("lines").require(name, SERIES, "series")
    if grid.samples is False:
        place.fail(f'is computed from samples: grid {grid.name} needs samples = "first" or "all"')
    chosen = spec.get("at", {})
    for axis in grid.axes:
        several = len(members(chosen.get(axis.name, axis.values))) > 1
        if axis.name != spec["panels"] and several:
            place.at("at").fail(f"must name one value of {axis.name}: a series shows one run")


def _points(paper: Paper, spec: Values, place: Place) -> None:
    grids = _grids(paper, spec, place)
    _require_axis(grids[0], spec["along"], place.at("along"))
    if "lines" in spec:
        _require_axis(grids[0], spec["lines"], place.at("lines"))
    for panel in spec["panels"]:
        require_metric(panel["metric"], grids, place.at("panels.metric"))
        if "printed" in panel:
            there = panel["printed"]
            require_column(paper, there["table"], there["column"], place.at("panels.printed"))


def _expansion(paper: Paper, spec: Values, place: Place) -> None:
    for rule in spec["lines"].values():
        place.at("lines").require(rule, model_table()["expansion"][0], "column of the model")


def _require_axis(grid: Grid, name: str, place: Place) -> None:
    place.require(name, [axis.name for axis in grid.axes], f"axis of grid {grid.name}")
