"""Tables of a reproduction: measured values with intervals, and printed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ackclock.errors import InputError
from ackclock.reproduce.grids import CONTROL, Grid, Values
from ackclock.reproduce.measures import Part, replicate_values
from ackclock.reproduce.robustness import figures_at
from ackclock.reproduce.runs import Runs
from ackclock.statistics.estimates import estimate


@dataclass(frozen=True)
class Entry:
    """A cell of a table."""

    value: Part
    printed: float | None
    digits: int


@dataclass(frozen=True)
class Table:
    """Rows along an axis, columns of metrics or of the values of another axis."""

    id: str
    title: str
    axis: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, tuple[Entry, ...]], ...]

    @property
    def is_printed(self) -> bool:
        """Whether any cell has a printed value."""
        return any(entry.printed is not None for _, row in self.rows for entry in row)


@dataclass(frozen=True)
class _Column:
    title: str
    metric: str
    digits: int
    printed: str | None
    at: Values


def tables_of(runs: Runs, *, extended: bool = False) -> list[Table]:
    """Return the tables that a paper asks for, of the grids that are run.

    Raises `InputError` with file and table.
    """
    tables = []
    for spec in runs.paper.tables:
        try:
            if extended or not any(grid.extended for grid in _grids(runs, spec)):
                tables.append(
                    _robustness(runs, spec) if spec.get("kind") == "robustness" else _table(runs, spec)
                )
        except (KeyError, ValueError, TypeError) as error:
            path = runs.paper.folder / "paper.toml"
            raise InputError(f"{path}: table {spec.get('id', '?')}: {error}") from None
    return tables


def _table(runs: Runs, spec: Values) -> Table:
    axis, at, grid = spec["rows"], spec.get("at", {}), spec.get("grid")
    columns = _columns(runs, spec)
    printed = runs.paper.printed[spec["printed"]] if "printed" in spec else None
    rows = []
    for value in runs.paper.grid(grid).axis(axis).values:
        row = []
        for column in columns:
            there = {**at, **column.at, axis: value}
            numbers, is_exact = replicate_values(runs, column.metric, there, grid)
            found = (
                printed.find(column.printed, there)
                if printed is not None and column.printed is not None
                else None
            )
            part = Part("", estimate(numbers), is_exact and len(numbers) == 1)
            row.append(Entry(part, found, column.digits))
        rows.append((value, tuple(row)))
    return Table(spec["id"], spec["title"], axis, tuple(column.title for column in columns), tuple(rows))


def _grids(runs: Runs, spec: Values) -> list[Grid]:
    return [runs.paper.grid(name) for name in spec.get("grids", [spec.get("grid")])]


def _robustness(runs: Runs, spec: Values) -> Table:
    """C and D, a row per control and a column per figure of a metric."""
    at, grids = spec.get("at", {}), [grid.name for grid in _grids(runs, spec)]
    printed = runs.paper.printed[spec["printed"]] if "printed" in spec else None
    rows: dict[str, list[Entry]] = {}
    for column in spec["columns"]:
        figures = figures_at(runs, column["which"], column["metric"], {**at, **column.get("at", {})}, grids)
        for control, figure in figures:
            found = None
            if printed is not None and "printed" in column:
                found = printed.find(column["printed"], {**at, CONTROL: control})
            rows.setdefault(control, []).append(Entry(Part("", figure.estimate), found, column["digits"]))
    titles = tuple(column["title"] for column in spec["columns"])
    return Table(
        spec["id"], spec["title"], CONTROL, titles, tuple((name, tuple(row)) for name, row in rows.items())
    )


def _columns(runs: Runs, spec: Values) -> list[_Column]:
    """Return one column per metric, or per value of the axis `across`."""
    if "across" not in spec:
        return [
            _Column(column["title"], column["metric"], column["digits"], column.get("printed"), {})
            for column in spec["columns"]
        ]
    across = spec["across"]
    values = runs.paper.grid(spec.get("grid")).axis(across["axis"]).values
    return [
        _Column(
            str(value), across["metric"], across["digits"], across.get("printed"), {across["axis"]: value}
        )
        for value in values
    ]
