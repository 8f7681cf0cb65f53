"""The runs behind a reproduction: every cell of every grid, each with its replicates."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ackclock.declaration import Place
from ackclock.errors import ScenarioError
from ackclock.job import Outcome
from ackclock.reproduce.paper import FILE, Alternative, Grid, Paper, Values, members
from ackclock.scenario import Scenario
from ackclock.store import Store
from ackclock.studies import Study, run_study

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class Run:
    """A finished run: metrics, and samples where they were wanted."""

    outcome: Outcome = field(repr=False)
    #: What no metric counts at the beginning.
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
        return _frame(self.outcome.flow_samples)

    @cached_property
    def link_samples(self) -> polars.DataFrame:
        """One row per time and shared link."""
        return _frame(self.outcome.link_samples)


@dataclass(frozen=True)
class Cell:
    """A combination of values, and its replicates."""

    values: Values
    #: Whether nothing is random: one run, then, which is all there is to know.
    exact: bool
    runs: tuple[Run, ...]


class Runs:
    """All cells of a paper under one set of choices."""

    def __init__(self, paper: Paper, cells: dict[str, list[Cell]]) -> None:
        self.paper = paper
        self._cells = cells

    def select(self, at: Values, grid: str | None = None) -> list[Cell]:
        """Return the cells whose values are those of `at`, a list standing for any of its members.

        Raises `ValueError` where `at` names what the grid has not got.
        """
        chosen = self.paper.grid(grid)
        chosen.check(at)
        cells = self._cells[chosen.name]
        for name, wanted in at.items():
            allowed = members(wanted)
            cells = [cell for cell in cells if cell.values[name] in allowed]
        return cells


@dataclass(frozen=True)
class Batch:
    """One set of choices: how it changes the scenarios, and how many replicates."""

    sets: Sequence[str]
    replicates: int
    #: What is chosen instead of one of them.
    instead: Alternative | None = None
    extended: bool = False

    def cells(self, grid: Grid) -> Iterator[tuple[Values, Scenario]]:
        """Give the values and the scenario of each cell of a grid that is run. Raises `ScenarioError`."""
        if grid.extended and not self.extended:
            return
        if self.instead is None:
            yield from scenarios_of(grid, self.sets)
            return
        at = self.instead.at.get(grid.name) if self.instead.at else {}
        if at is not None:
            yield from scenarios_of(grid, self.sets, at, instead=self.instead)


#: A cell of a grid that is to be run: its values, its scenario, its replicates.
Planned = tuple[Grid, Values, Scenario, Study]


def run_batches(
    paper: Paper,
    batches: Sequence[Batch],
    store: Store,
    *,
    seed: int,
    workers: int | None,
    progress: Callable[[int, int], None],
) -> list[Runs]:
    """Run all batches as one study, and return their runs, in their order; the first is of the answers.

    Raises `InputError` for another answer that changes no scenario.
    """
    planned = [_plan(paper, batch, seed) for batch in batches]
    _require_change(paper, batches, planned)
    everything = Study(tuple(job for batch in planned for *_, study in batch for job in study.jobs))
    outcomes = iter(run_study(everything, store, workers=workers, progress=progress))
    results = []
    for batch in planned:
        cells: dict[str, list[Cell]] = {grid.name: [] for grid in paper.grids}
        for grid, values, scenario, study in batch:
            warmup_s = float(scenario.describe()["warmup_s"])
            runs = tuple(Run(next(outcomes), warmup_s) for _ in study.jobs)
            cells[grid.name].append(Cell(values, not scenario.is_random, runs))
        results.append(Runs(paper, cells))
    return results


def _require_change(paper: Paper, batches: Sequence[Batch], planned: Sequence[Sequence[Planned]]) -> None:
    chosen = {scenario.hash for _, _, scenario, _ in planned[0]}
    for batch, cells in zip(batches, planned, strict=True):
        if batch.instead is not None and chosen.issuperset(scenario.hash for _, _, scenario, _ in cells):
            place = Place(str(paper.folder / FILE), f"alternatives[{batch.instead.id}]")
            place.at("set").fail("changes no scenario, so its verdicts would be those of the answer")


def _plan(paper: Paper, batch: Batch, seed: int) -> list[Planned]:
    try:
        return [
            (
                grid,
                values,
                scenario,
                Study.of(scenario, seed=seed, replicates=batch.replicates, samples=grid.samples),
            )
            for grid in paper.grids
            for values, scenario in batch.cells(grid)
        ]
    except ScenarioError as error:
        raise ScenarioError(f"{paper.folder / 'paper.toml'}: {error}") from None


def scenarios_of(
    grid: Grid, sets: Sequence[str], at: Values | None = None, instead: Alternative | None = None
) -> Iterator[tuple[Values, Scenario]]:
    """Give the values and the scenario of each cell, of those `at` some values.

    `instead`: changes the scenarios, too, of the cells that it is about. Raises `ScenarioError` with grid and
    cell.
    """
    names = [axis.name for axis in grid.axes]
    for chosen in itertools.product(*(zip(axis.values, axis.sets, strict=True) for axis in grid.axes)):
        values = dict(zip(names, (value for value, _ in chosen), strict=True))
        if not matches(values, at or {}):
            continue
        along = [text for _, texts in chosen for text in texts]
        other = instead.sets if instead is not None and matches(values, instead.where) else ()
        path, first = grid.base(values)
        try:
            scenario = Scenario.from_file(path, [*first, *sets, *other, *along])
        except ScenarioError as error:
            raise ScenarioError(
                f"grid {grid.name} at {', '.join(map(str, values.values()))}: {error}"
            ) from None
        yield values, scenario


def matches(values: Values, at: Values) -> bool:
    """Whether a cell has the values that a selection asks for."""
    return all(values[name] in members(wanted) for name, wanted in at.items())


def _frame(content: bytes | None) -> polars.DataFrame:
    import polars

    return polars.DataFrame() if content is None else polars.read_parquet(io.BytesIO(content))
