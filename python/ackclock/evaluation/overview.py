"""The overview of an evaluation: heat maps of environments and algorithms, and a summary in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock._core import holm
from ackclock.evaluation.planes import whole_plane
from ackclock.evaluation.ranking import FAILED, Entry
from ackclock.evaluation.score import COMMON, WATCH, Metric, metrics_of
from ackclock.statistics.estimates import Estimate, compared, estimate

if TYPE_CHECKING:
    from ackclock.evaluation import Evaluation

#: The name of the heat map that compares by score. All other maps compare by one metric.
SCORE = "score"
#: The judgement of a cell. `open` is a difference that is not significant. `none` is a metric that does not
#: apply.
BETTER, WORSE, OPEN, REFERENCE, NONE, FAILURE = "better", "worse", "open", "reference", "none", "failed"
#: The definition of all counts of environments.
CORRECTED = "after Holm's correction"
SIGNS = {BETTER: "▲", WORSE: "▼", OPEN: "·", REFERENCE: "=", NONE: "", FAILURE: "✕"}
WORDS = {
    BETTER: "better",
    WORSE: "worse",
    OPEN: "no significant difference",
    REFERENCE: "the reference",
    NONE: "does not apply",
    FAILURE: "failed",
}

#: The words for a worse and for a better value, by the direction in which a metric improves.
_DIRECTIONS = {
    "higher": ("below", "above"),
    "lower": ("above", "below"),
    "near-one": ("farther from 1 than", "closer to 1 than"),
    "reach-one": ("farther below 1 than", "closer to 1 than"),
}


@dataclass(frozen=True)
class Cell:
    """One algorithm in one environment, by one metric."""

    judgement: str
    #: The value of the metric, or the contribution of the environment to the score.
    value: Estimate | None = None
    #: The paired difference of costs to the reference. A negative difference is better.
    difference: Estimate | None = None


@dataclass(frozen=True)
class HeatMap:
    """The cells of one metric."""

    name: str
    heading: str
    digits: int
    #: `[environment][entry]`.
    cells: tuple[tuple[Cell, ...], ...]

    def count(self, entry: int, judgement: str) -> int:
        """Return the number of environments with this judgement of an algorithm."""
        return sum(row[entry].judgement == judgement for row in self.cells)

    def counts(self, entry: int) -> tuple[int, int]:
        """Return the numbers of environments in which an algorithm is better and worse than the reference.

        Only differences count that are significant after Holm's correction for all environments. The cells
        show each environment by its own interval.
        """
        found = [row[entry].difference for row in self.cells]
        differences = [each for each in found if each is not None]
        significant = holm([each.p_value for each in differences])
        means = [each.mean for each, is_counted in zip(differences, significant, strict=True) if is_counted]
        # The differences are costs.
        return sum(mean < 0 for mean in means), sum(mean > 0 for mean in means)


@dataclass(frozen=True)
class Overview:
    """Every algorithm of an evaluation: the ranking first, then the rest of the panel."""

    entries: tuple[Entry, ...]
    #: The place of the reference among them.
    reference: int
    #: The heat maps, starting with the score.
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
    """Return the cell of a metric. None stands for a metric that the environment does not score."""
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
    """Compare costs per replicate. Replicates without a partner do not count."""
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


def cell_text(cell: Cell, metric: Metric | None, digits: int, reference: str) -> str:
    """Return a cell in words: its value, and the signed difference to the reference with its interval.

    `metric`: None for the score, which improves downwards.
    """
    if cell.value is None:
        return ""
    label, unit, better = ("score", "", "lower")
    if metric is not None:
        label, unit, better = metric.label, metric.unit, metric.better
    value = f"{label} {_fixed(cell.value.mean, digits)} {unit}".rstrip()
    if (found := cell.difference) is None:
        return value
    sign = -1.0 if found.mean < 0 else 1.0
    # A positive difference of costs is worse: a lower value if more is better.
    worse, improved = _DIRECTIONS[better]
    direction = worse if sign > 0 else improved
    size = f"{_fixed(abs(found.mean), digits)} {'points' if unit == '%' else unit}".rstrip()
    interval = ""
    if found.low is not None and found.high is not None:
        low, high = sorted((sign * found.low, sign * found.high))
        interval = f", 95 % CI {_fixed(low, digits)} to {_fixed(high, digits)}"
    doubt = "" if cell.judgement != OPEN else ", not significant"
    return f"{value} ({size} {direction} {reference}{interval}{doubt})"


def sentences(evaluation: Evaluation, found: Overview) -> list[str]:
    """Summarise an evaluation in three short sentences, without technical terms."""
    best = evaluation.best
    if best is None:
        return ["Every candidate failed. The tables show the runs before the failures."]
    name, reference = best.candidate.label, found.entries[found.reference]
    other = reference.candidate.label
    spots = {spot.name: spot for spot in whole_plane(found.entries, found.environments)}
    said = []
    if reference.candidate.resolved != best.candidate.resolved:
        said.append(_compared(found, name, other))
        ours, theirs = spots[name], spots[other]
        said.append(
            f"It achieves a utilisation of {ours.throughput:.0f} % with a mean queueing delay of "
            f"{_ms(ours.delay)} ({other}: {theirs.throughput:.0f} % and {_ms(theirs.delay)})."
        )
    else:
        ours = spots[name]
        said.append(f"{name} is the reference of this comparison.")
        said.append(
            f"It achieves a utilisation of {ours.throughput:.0f} % with a mean queueing delay of "
            f"{_ms(ours.delay)}."
        )
    said.append(_coexistence(evaluation))
    return said


def _compared(found: Overview, name: str, other: str) -> str:
    score, at = found.maps[0], found.labels.index(name)
    total = len(score.cells)
    better, worse = score.counts(at)
    left = total - better - worse
    rest = f" In {left}, the difference is not significant." if left else ""
    counts = f"in {better} of {total} environments and worse in {worse}, {CORRECTED}"
    return f"By score, {name} is better than {other} {counts}.{rest}"


def _coexistence(evaluation: Evaluation) -> str:
    met = [(rival.worst, rival) for rival in evaluation.competitors if rival.worst is not None]
    if not met:
        return "Coexistence with other algorithms was not tested."
    worst, rival = min(met, key=lambda each: each[0].theirs.mean)
    share = f"{100 * worst.theirs.mean:.0f} % of their fair share"
    where = f"{rival.candidate.label}, in “{worst.environment.title}”"
    if worst.theirs.mean >= 1:
        return f"All competing flows get at least {share} ({where})."
    return f"The competing flows that suffer most get {share} ({where})."


def _fixed(value: float, digits: int) -> str:
    """Return a value with so many decimals. Zero never has a sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _ms(value: float) -> str:
    return f"{value:.3g} ms"
