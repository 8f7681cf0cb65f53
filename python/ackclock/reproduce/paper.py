"""A paper as data: scenarios, choices, printed tables, claims, and the tables and figures of its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from ackclock.errors import InputError
from ackclock.files.declaration import Place, require_once
from ackclock.files.documents import read_toml
from ackclock.reproduce.choices import Choice, read_choice, require_cells
from ackclock.reproduce.grids import Grid, Values, read_axis, read_grid
from ackclock.reproduce.paper_keys import CLAIMS, PAPER
from ackclock.reproduce.printed import PrintedTable, read_printed

FILE = "paper.toml"
CLAIMS_FILE = "claims.toml"


@dataclass(frozen=True)
class Quick:
    """The settings of a quick reproduction: few replicates, and sometimes shorter runs."""

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
    #: Entries of `paper.toml` and `claims.toml`. The modules `tables`, `figures` and `claims` read them.
    tables: tuple[Values, ...]
    figures: tuple[Values, ...]
    claims: tuple[Values, ...]

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
                f"no paper is called {name!r}, and no folder of that name has a {FILE}; "
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
        name: read_axis({"name": name, **axis}, place.at(f"axes.{name}"))
        for name, axis in tree.get("axes", {}).items()
    }
    grids = tuple(
        read_grid(folder, entry, shared, Place(place.file, f"grids[{entry['name']}]"))
        for entry in tree["grids"]
    )
    require_once([grid.name for grid in grids], place.at("grids"))
    at = tree.get("alternatives_at", {})
    require_cells(at, grids, place.at("alternatives_at"))
    choices = tuple(read_choice(entry, grids, at, place) for entry in tree["choices"])
    require_once([choice.id for choice in choices], place.at("choices"))
    require_once([other.id for choice in choices for other in choice.others], place.at("alternatives"))
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


def _quick(entry: dict[str, Any]) -> Quick:
    return Quick(entry.get("replicates", Quick.replicates), tuple(entry.get("set", ())))
