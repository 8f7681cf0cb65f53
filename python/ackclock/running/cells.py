"""The runs behind the cells of a report: their scenarios and seeds, so that they can be run again."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ackclock.errors import InputError, StoreError
from ackclock.files.documents import read_json
from ackclock.files.writing import write_whole
from ackclock.running.index import INDEX
from ackclock.running.job import SIM, kernel_of, kind_of
from ackclock.running.settable import settable
from ackclock.running.store import Store
from ackclock.scenario import Scenario
from ackclock.text.suggest import hint

#: The file in the folder of the page.
FILE = "cells.json"
#: Scenarios of cells that were run again, below the folder of the report.
SCENARIOS = "scenarios"
_SCHEMA = 1
#: Cells that a message lists.
_LISTED = 6
#: Text that needs no quotes in a shell.
_PLAIN = re.compile(r"[\w.+-]+")


@dataclass(frozen=True)
class Cell:
    """The runs of one cell."""

    #: The title of the cell.
    title: str
    scenario_hash: str
    seed: int
    replicates: int


@dataclass(frozen=True)
class Found:
    """A run that a cell names."""

    title: str
    scenario: Scenario
    seed: int
    replicate: int
    #: The file of the scenario.
    path: Path | None


def short(label: str, number: int) -> str:
    """Return a label as a part of a cell's name, or its number where a shell would need quotes."""
    return label if _PLAIN.fullmatch(label) else str(number)


def command(folder: Path, cell: str, backend: str = SIM) -> str:
    """Return the command that runs a cell again."""
    words = ["ackclock", "run", "--from", str(folder), cell]
    if backend != SIM:
        words += ["--backend", kind_of(backend)]
    if name := kernel_of(backend):
        words += ["--kernel", name]
    return shlex.join(words)


def write_cells(folder: Path, cells: Mapping[str, Cell]) -> None:
    """Write the cells of a report into its folder. Raises `OSError`."""
    document = {
        "schema": _SCHEMA,
        "cells": {
            name: {
                "title": cell.title,
                "scenario_hash": cell.scenario_hash,
                "seed": cell.seed,
                "replicates": cell.replicates,
            }
            for name, cell in cells.items()
        },
    }
    write_whole(folder / FILE, (json.dumps(document, indent=1) + "\n").encode())


def find(report: str | Path, name: str, sets: Iterable[str] = ()) -> Found:
    """Return the run that a cell of a report names: `slow-1/cubic`, or `slow-1/cubic#3` for replicate 3.

    `report`: the page or its folder. `sets`: changes to the scenario. Raises `InputError` if there is no
    such cell. Raises `StoreError` if the folder of the page has no store, or the store no such scenario.
    """
    folder = Path(report)
    if folder.is_file():
        folder = folder.parent
    cells = _read(folder, report)
    wanted, _, number = name.partition("#")
    if wanted not in cells:
        raise InputError(f"{folder / FILE}: no cell is called {wanted!r}; {_suggested(wanted, cells)}")
    cell = cells[wanted]
    if number and not (number.isdecimal() and int(number) < cell.replicates):
        raise InputError(
            f"{name}: replicate {number!r} does not exist; "
            f"this cell has replicates 0 to {cell.replicates - 1}"
        )
    scenario = Scenario.from_dict(_stored(folder, cell), sets, source=f"{folder}: {wanted}")
    return Found(cell.title, scenario, cell.seed, int(number or 0), _open(folder, wanted, scenario))


def _suggested(wanted: str, cells: Iterable[str]) -> str:
    """Return the cells of the same environment, or the closest name where there is no such environment."""
    environment = wanted.partition("/")[0]
    if inside := [name for name in cells if name.partition("/")[0] == environment]:
        more = ", ..." if len(inside) > _LISTED else ""
        return f"this report has {', '.join(inside[:_LISTED])}{more}"
    return hint(wanted, cells)


def _open(folder: Path, name: str, scenario: Scenario) -> Path | None:
    """Write a scenario into the folder of the report for changes. None if that is not possible."""
    path = folder / SCENARIOS / f"{name.replace('/', '-')}.json"
    try:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, (json.dumps(json.loads(scenario.resolved_json), indent=2) + "\n").encode())
    except OSError:
        return None
    return path


def _read(folder: Path, report: str | Path) -> dict[str, Cell]:
    path = folder / FILE
    if not path.is_file():
        raise InputError(
            f"{report}: is not a report: {path} does not exist; name the folder of "
            "`ackclock evaluate`, `ackclock study --report` or `ackclock reproduce`"
        )
    document = read_json(path)
    try:
        if document["schema"] != _SCHEMA:
            raise InputError(
                f"{path}: schema is {document['schema']}; this version of ackclock reads {_SCHEMA}"
            )
        return {name: Cell(**cell) for name, cell in document["cells"].items()}
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: is not the list of cells of a report") from None


def _stored(folder: Path, cell: Cell) -> dict[str, object]:
    """Return the scenario of a cell."""
    if not (folder / INDEX).is_file():
        raise StoreError(
            f"{folder}: the folder of this report contains no {INDEX}; copy the whole folder to repeat runs"
        )
    with Store.reading(folder) as store:
        row = store.scenario(cell.scenario_hash)
    if row is None:
        raise StoreError(f"{folder}: the scenario of this cell is not in {INDEX}; make the report again")
    return settable(json.loads(row))
