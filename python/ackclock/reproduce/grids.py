"""Grids of a paper: a scenario, or a suite, over all combinations of the values of its axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.evaluation.suite import Suite
from ackclock.files.declaration import Place, require_once
from ackclock.reproduce.paper_keys import SAMPLES
from ackclock.text.suggest import hint

#: The axis that contains the environments of a suite.
ENVIRONMENT = "environment"
#: The axis of the algorithms whose robustness is compared.
CONTROL = "control"

#: Values of axes, either of a cell or of a selection.
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """A key of the scenario that a grid goes along."""

    name: str
    values: tuple[Any, ...]
    #: The changes of the scenario for each value.
    sets: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Grid:
    """A scenario over all combinations of the values of its axes."""

    name: str
    #: A scenario, or a suite whose environments become the first axis.
    source: Path | Suite
    axes: tuple[Axis, ...]
    #: True keeps the samples of all replicates, None of the first, and False of none.
    samples: bool | None
    #: Whether it runs only in an extended reproduction.
    extended: bool = False
    #: The least number of replicates.
    replicates: int = 1

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
                raise ValueError(f"no axis is called {name!r}; {hint(name, axes)}")
            for value in members(wanted):
                if value not in axes[name]:
                    raise ValueError(
                        f"{name} is never {value!r}; there are: {', '.join(map(str, axes[name]))}"
                    )


def members(wanted: Any) -> Sequence[Any]:
    """Return the values that a selection asks for: a list stands for any of its members."""
    return wanted if isinstance(wanted, list | tuple) else (wanted,)


def matches(values: Values, at: Values) -> bool:
    """Whether a cell has the values that a selection asks for."""
    return all(values[name] in members(at[name]) for name in at)


def require_at(grid: Grid, at: Values, place: Place) -> None:
    """Raise `InputError` where `at` names an axis or a value that the grid has not got."""
    try:
        grid.check(at)
    except ValueError as error:
        place.fail(str(error))


def read_grid(folder: Path, entry: dict[str, Any], shared: Mapping[str, Axis], place: Place) -> Grid:
    """Read an entry of `[[grids]]`. `shared` contains the axes that it may name. Raises `InputError`."""
    there = place.at("axes")
    for index, axis in enumerate(entry["axes"]):
        if isinstance(axis, str):
            there.item(index, axis).require(axis, shared, "axis of [axes]")
    axes = tuple(
        read_axis(axis, there.item(index, axis)) if isinstance(axis, dict) else shared[axis]
        for index, axis in enumerate(entry["axes"])
    )
    if ("scenario" in entry) == ("suite" in entry):
        place.fail("needs a scenario or a suite, and not both")
    source: Path | Suite
    if "suite" in entry:
        source = Suite.load(entry["suite"])
        names = tuple(environment.id for environment in source.environments)
        axes = (Axis(ENVIRONMENT, names, ((),) * len(names)), *axes)
    else:
        source = folder / entry["scenario"]
    require_once([axis.name for axis in axes], there)
    samples = SAMPLES[entry.get("samples", "none")]
    return Grid(
        entry["name"], source, axes, samples, entry.get("extended", False), entry.get("replicates", 1)
    )


def read_axis(entry: dict[str, Any], place: Place) -> Axis:
    """Read an axis: values with one `set` in which `{}` stands for them, or a table of changes by name."""
    if "name" not in entry:
        place.at("name").fail("is missing: a text")
    values = entry["values"]
    if isinstance(values, dict):
        if not values:
            place.at("values").fail("is empty")
        if "set" in entry:
            place.at("set").fail("cannot be combined with values that have their own changes")
        return Axis(entry["name"], tuple(values), tuple(tuple(sets) for sets in values.values()))
    if "set" not in entry:
        place.at("set").fail('is missing: a text "KEY=VALUE" in which {} stands for the value')
    try:
        sets = tuple((entry["set"].format(value),) for value in values)
    except (LookupError, ValueError):
        place.at("set").refuse(entry["set"], "a text in which {} stands for the value, and {{ for a brace")
    if len(set(sets)) < len(values):
        place.at("set").refuse(entry["set"], "a text with {}, which stands for the value")
    return Axis(entry["name"], tuple(values), sets)
