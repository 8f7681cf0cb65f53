"""A paper as data: scenarios, what it leaves open, printed tables, claims, tables and figures to make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from ackclock.declaration import Place, require_once
from ackclock.errors import InputError
from ackclock.evaluation.suite import Suite
from ackclock.files import read_toml
from ackclock.reproduce.paper_keys import CLAIMS, PAPER, SAMPLES
from ackclock.reproduce.printed import PrintedTable, read_printed
from ackclock.suggest import hint

FILE = "paper.toml"
CLAIMS_FILE = "claims.toml"
#: The axis that a suite stands for.
ENVIRONMENT = "environment"
#: The axis of the algorithms whose robustness is compared.
CONTROL = "control"

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
                raise ValueError(f"no axis is called {name!r}; {hint(name, axes)}")
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
    #: Entries of `paper.toml` and `claims.toml`, as declared; read by `tables`, `figures` and `claims`.
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
        folder = next((path for path in (_builtin() / name, Path(name)) if (path / FILE).is_file()), None)
        if folder is None:
            raise InputError(
                f"no paper is called {name!r}, and no folder of that name holds a {FILE}; "
                f"there are: {', '.join(paper_names())}"
            )
        tree, claims = read_toml(folder / FILE), read_toml(folder / CLAIMS_FILE)
        PAPER.check(tree, Place(str(folder / FILE)))
        CLAIMS.check(claims, Place(str(folder / CLAIMS_FILE)))
        return _read(folder, tree, claims)


def paper_names() -> list[str]:
    """Return the names of the papers of this package."""
    return sorted(path.parent.name for path in _builtin().glob(f"*/{FILE}"))


def _builtin() -> Path:
    return Path(str(resources.files("ackclock.papers")))


def _read(folder: Path, tree: dict[str, Any], claims: dict[str, Any]) -> Paper:
    place = Place(str(folder / FILE))
    shared = {
        name: _axis({"name": name, **axis}, place.at(f"axes.{name}"))
        for name, axis in tree.get("axes", {}).items()
    }
    grids = tuple(
        _grid(folder, entry, shared, Place(place.file, f"grids[{entry['name']}]")) for entry in tree["grids"]
    )
    require_once([grid.name for grid in grids], place.at("grids"))
    alternatives_at = tree.get("alternatives_at", {})
    _require_cells(alternatives_at, grids, {}, place.at("alternatives_at"))
    choices = tuple(_choice(entry, grids, alternatives_at, place) for entry in tree["choices"])
    require_once([other.id for choice in choices for other in choice.alternatives], place.at("alternatives"))
    return Paper(
        name=tree["name"],
        title=tree["title"],
        reference=tree["reference"],
        folder=folder,
        replicates=tree["replicates"],
        alternative_replicates=tree["alternative_replicates"],
        quick=_quick(tree.get("quick", {})),
        grids=grids,
        choices=choices,
        printed={name: read_printed(folder / file) for name, file in tree.get("printed", {}).items()},
        tables=tuple(tree.get("tables", ())),
        figures=tuple(tree.get("figures", ())),
        claims=tuple(claims["claims"]),
    )


def _grid(folder: Path, entry: dict[str, Any], shared: Mapping[str, Axis], place: Place) -> Grid:
    there = place.at("axes")
    for index, axis in enumerate(entry["axes"]):
        if isinstance(axis, str):
            there.item(index, axis).require(axis, shared, "axis of [axes]")
    axes = tuple(
        _axis(axis, there.item(index, axis)) if isinstance(axis, dict) else shared[axis]
        for index, axis in enumerate(entry["axes"])
    )
    if ("scenario" in entry) == ("suite" in entry):
        place.fail("has a scenario or a suite, one of the two")
    source: Path | Suite
    if "suite" in entry:
        source = Suite.load(entry["suite"])
        names = tuple(environment.id for environment in source.environments)
        axes = (Axis(ENVIRONMENT, names, ((),) * len(names)), *axes)
    else:
        source = folder / entry["scenario"]
    require_once([axis.name for axis in axes], there)
    samples = SAMPLES[entry.get("samples", "none")]
    return Grid(entry["name"], source, axes, samples, entry.get("extended", False))


def _quick(entry: dict[str, Any]) -> Quick:
    return Quick(entry.get("replicates", Quick.replicates), tuple(entry.get("set", ())))


def _axis(entry: dict[str, Any], place: Place) -> Axis:
    """Read an axis: values with one `set` in which `{}` stands for them, or a table of changes by name."""
    if "name" not in entry:
        place.at("name").fail("is missing: a text")
    values = entry["values"]
    if isinstance(values, dict):
        if not values:
            place.at("values").fail("is empty")
        if "set" in entry:
            place.at("set").fail("stands beside values that have changes of their own")
        return Axis(entry["name"], tuple(values), tuple(tuple(sets) for sets in values.values()))
    if "set" not in entry:
        place.at("set").fail('is missing: a text "KEY=VALUE" in which {} stands for the value')
    try:
        sets = tuple((entry["set"].format(value),) for value in values)
    except (LookupError, ValueError):
        place.at("set").refuse(entry["set"], "a text in which {} stands for the value, and {{ for a brace")
    if len(set(sets)) < len(values):
        place.at("set").refuse(entry["set"], "another change for each value: {} stands for the value")
    return Axis(entry["name"], tuple(values), sets)


def _choice(
    entry: dict[str, Any], grids: Sequence[Grid], alternatives_at: Mapping[str, Values], place: Place
) -> Choice:
    return Choice(
        question=entry["question"],
        answer=entry["answer"],
        why=entry["why"],
        sets=tuple(entry.get("set", ())),
        alternatives=tuple(
            _alternative(other, grids, alternatives_at, Place(place.file, f"alternatives[{other['id']}]"))
            for other in entry.get("alternatives", ())
        ),
    )


def _alternative(
    entry: dict[str, Any], grids: Sequence[Grid], alternatives_at: Mapping[str, Values], place: Place
) -> Alternative:
    at, where = entry.get("at", alternatives_at), entry.get("where", {})
    _require_cells(at, grids, where, place)
    if not at:
        for grid in grids:
            if not grid.extended:
                require_at(grid, where, place.at("where"))
    return Alternative(entry["id"], entry["title"], tuple(entry["set"]), where, at)


def _require_cells(at: Mapping[str, Values], grids: Sequence[Grid], where: Values, place: Place) -> None:
    """Raise `InputError` for cells of grids that there are not."""
    for name in at:
        place.require(name, [grid.name for grid in grids], "grid")
        (chosen,) = (grid for grid in grids if grid.name == name)
        require_at(chosen, {**at[name], **where}, place)


def require_at(grid: Grid, at: Values, place: Place) -> None:
    """Raise `InputError` where `at` names an axis or a value that the grid has not got."""
    try:
        grid.check(at)
    except ValueError as error:
        place.fail(str(error))
