"""The runs of a reproduction: every cell of every grid, each with its replicates."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import ScenarioError, StoreError
from ackclock.files.declaration import Place
from ackclock.metrics.frames import samples_frame
from ackclock.reproduce.grids import Grid, Values, matches, members
from ackclock.reproduce.paper import FILE, Paper
from ackclock.reproduce.readings import CHOSEN, Reading
from ackclock.running.job import LINUX, SIM, Job, Outcome
from ackclock.running.store import Store
from ackclock.running.work import Study
from ackclock.scenario import Scenario

if TYPE_CHECKING:
    import polars

    from ackclock.evaluation.regret import Regret

#: A number in a setting, but not one in a name such as `bbr1`.
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Run:
    """A finished run: metrics, and samples where they were wanted."""

    outcome: Outcome = field(repr=False)
    #: The warm-up, which no metric counts.
    warmup_s: float

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document of `run --json`."""
        document: dict[str, Any] = json.loads(self.outcome.result_json)
        return document

    @property
    def summary(self) -> dict[str, Any]:
        """Metrics of the whole run."""
        summary: dict[str, Any] = self.document["summary"]
        return summary

    @cached_property
    def flow_samples(self) -> polars.DataFrame:
        """One row per time and flow."""
        return samples_frame(self.outcome.flow_samples)

    @cached_property
    def link_samples(self) -> polars.DataFrame:
        """One row per time and shared link."""
        return samples_frame(self.outcome.link_samples)


@dataclass(frozen=True)
class Cell:
    """A combination of values, and its replicates."""

    values: Values
    #: Whether nothing is random, so that one run is complete.
    exact: bool
    runs: tuple[Run, ...]


class Runs:
    """All cells of a paper under one interpretation."""

    def __init__(self, paper: Paper, cells: dict[str, list[Cell]], reading: Reading = CHOSEN) -> None:
        self.paper = paper
        self.reading = reading
        self._cells = cells
        #: The cache of `robustness` for these runs.
        self.regrets: dict[Any, dict[str, Regret]] = {}

    @property
    def by_key(self) -> dict[str, Run]:
        """All runs, by the key that the store knows them by."""
        return {run.outcome.key: run for cells in self._cells.values() for cell in cells for run in cell.runs}

    def select(self, at: Values, grid: str | None = None) -> list[Cell]:
        """Return the cells that `at` selects. A list stands for any of its members.

        Raises `ValueError` if `at` names unknown axes or values.
        """
        chosen = self.paper.grid(grid)
        chosen.check(at)
        cells = self._cells[chosen.name]
        for name, wanted in at.items():
            allowed = members(wanted)
            cells = [cell for cell in cells if cell.values[name] in allowed]
        return cells


class Reader:
    """Reads the scenarios of cells.

    Cells of one shape have the same file, and their settings differ in numbers alone. The settings of the
    first cell are checked to reach runs. This takes several times as long as the rest.
    """

    def __init__(self) -> None:
        self._shapes: set[tuple[Path, tuple[str, ...]]] = set()

    def read(self, path: Path, sets: Sequence[str]) -> Scenario:
        """Return a scenario. Raises `ScenarioError`."""
        shape = (path, tuple(_NUMBER.sub("#", text) for text in sets))
        scenario = Scenario.from_file(path, sets, known=shape in self._shapes)
        self._shapes.add(shape)
        return scenario


@dataclass(frozen=True)
class Batch:
    """The settings with which an interpretation is run."""

    reading: Reading
    #: The replicates of each cell, unless its grid needs more.
    replicates: int
    #: Changes of all scenarios, applied after the answers.
    sets: Sequence[str] = ()
    extended: bool = False
    #: The cells to run, by grid, or None for all cells of the interpretation.
    only: Sequence[tuple[str, Values]] | None = None
    #: The backend of the runs.
    backend: str = SIM
    reader: Reader = field(default_factory=Reader, repr=False, compare=False)


@dataclass(frozen=True)
class Planned:
    """A cell of a grid that is to be run: its values, its scenario, its replicates."""

    grid: Grid
    values: Values
    scenario: Scenario
    study: Study


@dataclass(frozen=True)
class Plan:
    """All runs of an interpretation."""

    reading: Reading
    cells: tuple[Planned, ...]

    @property
    def jobs(self) -> Iterator[Job]:
        """The runs."""
        return (job for cell in self.cells for job in cell.study.jobs)


def plan(paper: Paper, batch: Batch, seed: int) -> Plan:
    """Return the runs of an interpretation. Raises `ScenarioError` and `ContradictionError`."""
    return Plan(
        batch.reading,
        tuple(
            Planned(
                grid,
                values,
                scenario,
                Study.of(
                    scenario,
                    seed=seed,
                    replicates=max(batch.replicates, grid.replicates),
                    samples=grid.samples,
                    backend=batch.backend,
                ),
            )
            for grid in paper.grids
            if batch.extended or not grid.extended
            for values, scenario in scenarios_of(
                paper, grid, batch.reading, batch.sets, batch.only, batch.reader
            )
        ),
    )


def require_change(paper: Paper, chosen: Plan, other: Plan) -> None:
    """Raise `InputError` for another answer with changes that change no scenario."""
    (_, answer), *more = other.reading.instead
    hashes = {cell.scenario.hash for cell in chosen.cells}
    if not more and answer.changes and hashes.issuperset(cell.scenario.hash for cell in other.cells):
        place = Place(str(paper.folder / FILE), f"alternatives[{answer.id}]")
        place.at("set").fail("changes no scenario, so its verdicts would equal the chosen answer's")


def runs_of(paper: Paper, planned: Plan, store: Store, known: Mapping[str, Run]) -> Runs:
    """Return the runs of an interpretation from the store. `known` contains loaded runs, by key."""
    cells: dict[str, list[Cell]] = {grid.name: [] for grid in paper.grids}
    for cell in planned.cells:
        warmup_s = cell.scenario.describe()["warmup_s"]
        runs = tuple(
            known.get(job.key) or Run(stored(store, job), float(warmup_s)) for job in cell.study.jobs
        )
        exact = not cell.scenario.is_random and all(job.backend != LINUX for job in cell.study.jobs)
        cells[cell.grid.name].append(Cell(cell.values, exact, runs))
    return Runs(paper, cells, planned.reading)


def stored(store: Store, job: Job) -> Outcome:
    """Return the outcome of a run that was just made. Raises `StoreError` where it is gone."""
    outcome = store.get(job)
    if outcome is None:
        raise StoreError(f"{store.folder}: a run that was just stored is gone; run the command again")
    return outcome


def _standing(layers: Sequence[str]) -> list[str]:
    """Return the settings that no later layer replaces, at their keys or as a part of a table."""
    keys = [text.partition("=")[0].strip() for text in layers]

    def is_replaced(at: int) -> bool:
        return any(f"{keys[at]}.".startswith(f"{later}.") for later in keys[at + 1 :])

    return [text for at, text in enumerate(layers) if not is_replaced(at)]


def scenarios_of(
    paper: Paper,
    grid: Grid,
    reading: Reading,
    sets: Sequence[str] = (),
    only: Sequence[tuple[str, Values]] | None = None,
    reader: Reader | None = None,
) -> Iterator[tuple[Values, Scenario]]:
    """Yield values and scenario of each cell of a grid that an interpretation and `only` select.

    Chosen answers apply before the changes of the axes, and other answers after them.
    Raises `ScenarioError` with grid and cell, and `ContradictionError`.
    """
    selections = reading.cells(grid)
    names = [axis.name for axis in grid.axes]
    reader = reader or Reader()
    for chosen in itertools.product(*(zip(axis.values, axis.sets, strict=True) for axis in grid.axes)):
        values = dict(zip(names, (value for value, _ in chosen), strict=True))
        if not any(matches(values, at) for at in selections):
            continue
        if only is not None and not any(name == grid.name and matches(values, at) for name, at in only):
            continue
        path, environment = grid.base(values)
        answers = [text for choice in paper.choices for text in choice.answer.sets_of(grid, values)]
        along = [text for _, texts in chosen for text in texts]
        try:
            layers = [*environment, *answers, *sets, *along, *reading.sets_of(grid, values)]
            scenario = reader.read(path, _standing(layers))
        except ScenarioError as error:
            cell = f"grid {grid.name} at {', '.join(map(str, values.values()))}"
            raise ScenarioError(f"{paper.folder / FILE}: {cell}: {error}") from None
        yield values, scenario
