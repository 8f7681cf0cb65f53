"""An evaluation at a glance: every environment by every algorithm, and throughput against delay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.evaluation.planes import whole_plane
from ackclock.evaluation.ranking import FAILED, Entry
from ackclock.evaluation.score import COMMON, WATCH, Metric, metrics_of
from ackclock.statistics.estimates import Estimate, compared, estimate

if TYPE_CHECKING:
    from ackclock.evaluation import Evaluation

#: What a cell is compared by: the score, which puts the metrics together, or one of them.
SCORE = "score"
#: What a cell says, with its sign: better or worse than the reference; what the runs cannot tell; the
#: reference itself; where the metric does not apply, or runs failed.
BETTER, WORSE, OPEN, REFERENCE, NONE, FAILURE = "better", "worse", "open", "reference", "none", "failed"
SIGNS = {BETTER: "▲", WORSE: "▼", OPEN: "·", REFERENCE: "=", NONE: "", FAILURE: "✕"}
WORDS = {
    BETTER: "better",
    WORSE: "worse",
    OPEN: "cannot tell",
    REFERENCE: "the reference",
    NONE: "does not apply",
    FAILURE: "failed",
}


@dataclass(frozen=True)
class Cell:
    """One algorithm in one environment, by one metric."""

    judgement: str
    #: The value of the metric; what the environment adds to the score, if it is the score.
    value: Estimate | None = None
    #: Paired difference of costs to the reference: below zero is better.
    difference: Estimate | None = None


@dataclass(frozen=True)
class HeatMap:
    """Cells by one metric."""

    name: str
    heading: str
    digits: int
    #: `[environment][entry]`.
    cells: tuple[tuple[Cell, ...], ...]

    def count(self, entry: int, judgement: str) -> int:
        """Return in how many environments an algorithm is that."""
        return sum(row[entry].judgement == judgement for row in self.cells)


@dataclass(frozen=True)
class Overview:
    """Every algorithm of an evaluation: the ranking first, then the rest of the panel."""

    entries: tuple[Entry, ...]
    #: The place of the reference among them.
    reference: int
    #: The first is that of the score.
    maps: tuple[HeatMap, ...]

    @property
    def environments(self) -> list[str]:
        """The ids of the environments."""
        return list(self.entries[self.reference].values)

    @property
    def labels(self) -> list[str]:
        """The names of the columns."""
        return [entry.candidate.label for entry in self.entries]


def overview(evaluation: Evaluation) -> Overview:
    """Return the heat maps of an evaluation."""
    board, ranking = evaluation.board, evaluation.ranking
    entries = (*ranking.entries, *ranking.rest_of_panel)
    wanted = board.candidates[board.reference].resolved
    reference = next(at for at, entry in enumerate(entries) if entry.candidate.resolved == wanted)
    maps = [
        HeatMap(
            SCORE,
            ranking.objective.heading,
            ranking.objective.digits,
            tuple(
                tuple(
                    _cell(
                        entry.parts.get(name),
                        entries[reference].parts.get(name),
                        entry,
                        entries[reference],
                        name,
                    )
                    for entry in entries
                )
                for name in (result.environment.id for result in board.results)
            ),
        )
    ]
    for metric in (*COMMON, None):
        name = WATCH if metric is None else metric.name
        rows = []
        for result in board.results:
            found = next((each for each in metrics_of(result.environment) if each.name == name), None)
            rows.append(
                tuple(_by(found, entry, entries[reference], result.environment.id) for entry in entries)
            )
        heading, digits = ("watched metric", 3) if metric is None else (metric.heading, metric.digits)
        if any(cell.judgement != NONE for row in rows for cell in row):
            maps.append(HeatMap(name, heading, digits, tuple(rows)))
    return Overview(entries, reference, tuple(maps))


def _by(metric: Metric | None, entry: Entry, reference: Entry, environment: str) -> Cell:
    """Return the cell of a metric, None being one that the environment does not have."""
    if metric is None:
        return Cell(NONE)
    ours, theirs = (each.values.get(environment, {}).get(metric.name) for each in (entry, reference))
    costs = [None if row is None else tuple(map(metric.cost, row)) for row in (ours, theirs)]
    cell = _cell(costs[0], costs[1], entry, reference, environment)
    return cell if ours is None else Cell(cell.judgement, estimate(ours), cell.difference)


def _cell(
    ours: Sequence[float] | None,
    theirs: Sequence[float] | None,
    entry: Entry,
    reference: Entry,
    environment: str,
) -> Cell:
    """Compare costs per replicate; those that only one of the two has are left out of the difference."""
    if ours is None:
        return Cell(FAILURE if entry.standing == FAILED else NONE)
    value = estimate(ours)
    if entry.candidate.resolved == reference.candidate.resolved:
        return Cell(REFERENCE, value)
    if theirs is None:
        return Cell(OPEN, value)
    exact = environment in entry.exact and environment in reference.exact
    difference = compared(ours, theirs, exact=exact)
    return Cell(OPEN if difference is None else difference.judgement or OPEN, value, difference)


def sentences(evaluation: Evaluation, found: Overview) -> list[str]:
    """Tell an evaluation in three short sentences without a word that needs an explanation."""
    best = evaluation.best
    if best is None:
        return ["Every candidate failed; what was run before is shown below."]
    name, reference = best.candidate.label, found.entries[found.reference]
    other = reference.candidate.label
    spots = {spot.name: spot for spot in whole_plane(found.entries, found.environments)}
    said = []
    if reference.candidate.resolved != best.candidate.resolved:
        said.append(_compared(found, name, other))
        ours, theirs = spots[name], spots[other]
        said.append(
            f"It carries {ours.throughput:.0f} % of what the links can, and its packets wait "
            f"{_ms(ours.delay)} on average ({other}: {theirs.throughput:.0f} % and {_ms(theirs.delay)})."
        )
    else:
        ours = spots[name]
        said.append(f"All others are compared with {name}.")
        said.append(
            f"It carries {ours.throughput:.0f} % of what the links can, and its packets wait "
            f"{_ms(ours.delay)} on average."
        )
    said.append(_neighbours(evaluation))
    return said


def _compared(found: Overview, name: str, other: str) -> str:
    score, at = found.maps[0], found.labels.index(name)
    total = len(score.cells)
    better, worse = score.count(at, BETTER), score.count(at, WORSE)
    left = total - better - worse
    rest = f"; in {left} the runs cannot tell" if left else ""
    return f"{name} does better than {other} in {better} of {total} networks and worse in {worse}{rest}."


def _neighbours(evaluation: Evaluation) -> str:
    met = [(rival.worst, rival) for rival in evaluation.rivals if rival.worst is not None]
    if not met:
        return "What it leaves to connections of other kinds was not tried."
    worst, rival = min(met, key=lambda each: each[0].theirs.mean)
    share = f"{100 * worst.theirs.mean:.0f} % of an equal part"
    where = f"{rival.candidate.label}, in “{worst.environment.title}”"
    if worst.theirs.mean >= 1:
        return f"It takes nothing from its neighbours: the least that one gets is {share} ({where})."
    return f"The neighbour that gets least beside it has {share} ({where})."


def _ms(value: float) -> str:
    return f"{value:.3g} ms"
