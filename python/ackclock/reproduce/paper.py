"""A paper as data: scenarios, what it leaves open, printed tables, claims, tables and figures to make."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from ackclock.errors import InputError
from ackclock.evaluation.suite import Suite

#: Of which replicates of a cell samples over time are kept; as `Study.of` takes it.
_SAMPLES = {"none": False, "first": None, "all": True}
#: The axis that a suite stands for.
ENVIRONMENT = "environment"
_FIGURES = ("series", "points", "expansion")

#: Values of axes: of a cell, or what a selection asks for.
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """A key of the scenario that a grid goes along."""

    name: str
    values: tuple[Any, ...]
    #: The changes of the scenario that each value stands for.
    sets: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Grid:
    """A scenario over all combinations of the values of its axes."""

    name: str
    #: A scenario, or a suite, whose environments are the first axis then.
    source: Path | Suite
    axes: tuple[Axis, ...]
    #: True: samples of all replicates; None: of the first; False: of none.
    samples: bool | None
    #: Whether it is run only where more than the paper is asked for.
    extended: bool = False

    def base(self, values: Values) -> tuple[Path, tuple[str, ...]]:
        """Return the scenario of a cell, and how its environment changes it."""
        if isinstance(self.source, Path):
            return self.source, ()
        environment = next(each for each in self.source.environments if each.id == values[ENVIRONMENT])
        return environment.path, environment.sets

    def axis(self, name: str) -> Axis:
        """Return an axis by name. Raises `KeyError`."""
        for axis in self.axes:
            if axis.name == name:
                return axis
        raise KeyError(name)

    def check(self, at: Values) -> None:
        """Raise `ValueError` where `at` names an axis or a value that there is not."""
        axes = {axis.name: axis.values for axis in self.axes}
        for name, wanted in at.items():
            if name not in axes:
                raise ValueError(f"no axis is called {name!r}; there are: {', '.join(axes)}")
            for value in members(wanted):
                if value not in axes[name]:
                    raise ValueError(
                        f"{name} is never {value!r}; there are: {', '.join(map(str, axes[name]))}"
                    )


def members(wanted: Any) -> Sequence[Any]:
    """Return the values that a selection asks for: a list stands for any of its members."""
    return wanted if isinstance(wanted, list | tuple) else (wanted,)


@dataclass(frozen=True)
class Alternative:
    """Another answer to what a paper leaves open; every verdict is computed under it, too."""

    id: str
    title: str
    sets: tuple[str, ...]
    #: The cells whose scenarios it changes, where not all have what it is about.
    where: Values
    #: The cells that are run, by grid, and no others; empty if all are.
    at: Mapping[str, Values]


@dataclass(frozen=True)
class Choice:
    """Something that a paper leaves open, and how it is answered here."""

    question: str
    answer: str
    why: str
    sets: tuple[str, ...]
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class Quick:
    """What makes a first impression of a paper: few replicates, and maybe shorter runs."""

    replicates: int = 3
    sets: tuple[str, ...] = ()


@dataclass(frozen=True)
class PrintedTable:
    """A table as printed: numbers by column, or words where a column has any."""

    columns: Mapping[str, tuple[Any, ...]]

    def find(self, column: str, at: Values) -> float | None:
        """Return the number of `column` in the row where other columns have the values of `at`, if any.

        What `at` says beyond the columns of the table does not matter. Raises `KeyError` for an unknown
        column.
        """
        keys = {name: value for name, value in at.items() if name in self.columns}
        for index, number in enumerate(self.columns[column]):
            if all(self.columns[name][index] == value for name, value in keys.items()):
                return float(number)
        return None

    def value(self, column: str, at: Values) -> float:
        """Return the number that `find` finds. Raises `KeyError` where there is no such column or row."""
        found = self.find(column, at)
        if found is None:
            raise KeyError(f"{column} at {dict(at)}")
        return found


@dataclass(frozen=True)
class Paper:
    """Everything that a reproduction is made from."""

    name: str
    title: str
    reference: str
    folder: Path
    replicates: int
    alternative_replicates: int
    quick: Quick
    grids: tuple[Grid, ...]
    choices: tuple[Choice, ...]
    printed: Mapping[str, PrintedTable]
    #: Entries of `paper.toml` and `claims.toml`, read by `tables`, `figures` and `claims`.
    tables: tuple[Values, ...]
    figures: tuple[Values, ...]
    claims: tuple[Values, ...]

    @property
    def sets(self) -> tuple[str, ...]:
        """The changes of the scenarios that the choices amount to."""
        return tuple(text for choice in self.choices for text in choice.sets)

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """All alternatives of all choices."""
        return tuple(other for choice in self.choices for other in choice.alternatives)

    def grid(self, name: str | None) -> Grid:
        """Return a grid by name, the first by default. Raises `KeyError`."""
        if name is None:
            return self.grids[0]
        for grid in self.grids:
            if grid.name == name:
                return grid
        raise KeyError(name)

    @classmethod
    def load(cls, name: str) -> Paper:
        """Load a paper by name, or from a folder with a `paper.toml`.

        Raises `InputError` with file and key, or with the names of the papers there are.
        """
        folder = next(
            (path for path in (_builtin() / name, Path(name)) if (path / "paper.toml").is_file()), None
        )
        if folder is None:
            raise InputError(
                f"no paper is called {name!r}, and no folder of that name holds a paper.toml; "
                f"there are: {', '.join(paper_names())}"
            )
        tree, claims = _toml(folder / "paper.toml"), _toml(folder / "claims.toml")
        try:
            return _read(folder, tree, claims)
        except KeyError as error:
            raise InputError(f"{folder / 'paper.toml'}: the key {error} is missing") from None
        except (OSError, ValueError, TypeError, InputError) as error:
            raise InputError(f"{folder / 'paper.toml'}: {error}") from None


def paper_names() -> list[str]:
    """Return the names of the papers of this package."""
    return sorted(path.parent.name for path in _builtin().glob("*/paper.toml"))


def _builtin() -> Path:
    return Path(str(resources.files("ackclock.papers")))


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None


def _read(folder: Path, tree: dict[str, Any], claims: dict[str, Any]) -> Paper:
    unknown = [entry["kind"] for entry in tree.get("figures", ()) if entry["kind"] not in _FIGURES]
    if unknown:
        raise ValueError(f"figures.kind: {unknown[0]!r} is none of {', '.join(_FIGURES)}")
    shared = {
        name: _axis({"name": axis.get("name", name), **axis}) for name, axis in tree.get("axes", {}).items()
    }
    grids = tuple(_grid(folder, entry, shared) for entry in tree["grids"])
    alternatives_at = tree.get("alternatives_at", {})
    return Paper(
        name=tree["name"],
        title=tree["title"],
        reference=tree["reference"],
        folder=folder,
        replicates=_count("replicates", tree["replicates"]),
        alternative_replicates=_count("alternative_replicates", tree["alternative_replicates"]),
        quick=_quick(tree.get("quick", {})),
        grids=grids,
        choices=tuple(_choice(entry, grids, alternatives_at) for entry in tree["choices"]),
        printed={name: _printed(folder / file) for name, file in tree.get("printed", {}).items()},
        tables=tuple(tree.get("tables", ())),
        figures=tuple(tree.get("figures", ())),
        claims=tuple(claims["claims"]),
    )


def _grid(folder: Path, entry: dict[str, Any], shared: Mapping[str, Axis]) -> Grid:
    samples = entry.get("samples", "none")
    if samples not in _SAMPLES:
        raise ValueError(f"grids.samples: {samples!r} is none of {', '.join(_SAMPLES)}")
    axes = tuple(_axis(axis) if isinstance(axis, dict) else shared[axis] for axis in entry["axes"])
    source: Path | Suite
    if "suite" in entry:
        source = Suite.load(entry["suite"])
        names = tuple(environment.id for environment in source.environments)
        axes = (Axis(ENVIRONMENT, names, ((),) * len(names)), *axes)
    else:
        source = folder / entry["scenario"]
    return Grid(entry["name"], source, axes, _SAMPLES[samples], entry.get("extended", False))


def _quick(entry: dict[str, Any]) -> Quick:
    replicates = _count("quick.replicates", entry.get("replicates", Quick.replicates))
    return Quick(replicates, tuple(entry.get("set", ())))


def _count(key: str, value: Any) -> int:
    """Check a number of replicates."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{key}: {value!r} must be a whole number, at least 1")
    return value


def _axis(entry: dict[str, Any]) -> Axis:
    """Read an axis: values with one `set` in which `{}` stands for them, or a table of changes by name."""
    values = entry["values"]
    if isinstance(values, dict):
        return Axis(entry["name"], tuple(values), tuple(tuple(sets) for sets in values.values()))
    return Axis(entry["name"], tuple(values), tuple((entry["set"].format(value),) for value in values))


def _choice(entry: dict[str, Any], grids: Sequence[Grid], alternatives_at: Mapping[str, Values]) -> Choice:
    return Choice(
        question=entry["question"],
        answer=entry["answer"],
        why=entry["why"],
        sets=tuple(entry.get("set", ())),
        alternatives=tuple(
            _alternative(other, grids, alternatives_at) for other in entry.get("alternatives", ())
        ),
    )


def _alternative(
    entry: dict[str, Any], grids: Sequence[Grid], alternatives_at: Mapping[str, Values]
) -> Alternative:
    at = entry.get("at", alternatives_at)
    for name in at:
        chosen = next((grid for grid in grids if grid.name == name), None)
        if chosen is None:
            raise ValueError(f"alternatives: no grid is called {name!r}")
        chosen.check({**at[name], **entry.get("where", {})})
    return Alternative(entry["id"], entry["title"], tuple(entry["set"]), entry.get("where", {}), at)


def _printed(path: Path) -> PrintedTable:
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    return PrintedTable({name: _numbers([row[index] for row in rows]) for index, name in enumerate(head)})


def _numbers(column: Sequence[str]) -> tuple[Any, ...]:
    """Return a column as numbers, or as it is where it holds words."""
    try:
        return tuple(float(entry) for entry in column)
    except ValueError:
        return tuple(column)
