"""The measures of a case, and their verdicts."""

import dataclasses
from collections.abc import Callable, Sequence

from intervals import Difference, welch
from sides import Measures

# Fewer drops than these are no basis for a relative bound.
FEW = 100.0


@dataclasses.dataclass(frozen=True)
class Score:
    """A measure of a run. `of` computes it from the results of the run.

    ackclock may differ from ns-2 by `bound`, and without a bound the measure is not judged. `relative`
    bounds and differences are parts of ns-2's value. With `of_drops` the bound applies only to runs with
    enough drops.
    """

    name: str
    of: Callable[[Measures], float]
    bound: float | None
    relative: bool = True
    of_drops: bool = False


@dataclasses.dataclass(frozen=True)
class Cell:
    """A score of a case, in another simulator and in ackclock."""

    score: str
    difference: Difference
    relative: bool
    bound: float | None

    @property
    def verdict(self) -> str:
        """inside, outside, undecided, or - where there is no bound."""
        if self.bound is None:
            return "-"
        return self.difference.verdict(self.bound * (abs(self.difference.first) if self.relative else 1.0))

    @property
    def text(self) -> str:
        """The other's value and the difference, in percent of it where it is relative."""
        difference = self.difference
        if not self.relative:
            return f"{difference.first:.3f} {difference.value:+.3f} ± {difference.half_width:.3f}"
        if not difference.first:
            return "0"
        value, half_width = (
            100 * part / abs(difference.first) for part in (difference.value, difference.half_width)
        )
        shown = f"{difference.first:.0f}" if difference.first >= 1000 else f"{difference.first:.3g}"
        return f"{shown} {value:+.1f} ± {half_width:.1f} %"


@dataclasses.dataclass(frozen=True)
class Row:
    """A case and its scores."""

    words: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def verdict(self) -> str:
        """The worst of its cells."""
        verdicts = {cell.verdict for cell in self.cells}
        return next(worst for worst in ("outside", "undecided", "inside") if worst in verdicts)

    @property
    def text(self) -> str:
        """A line of the table."""
        return line([*self.words, *(cell.text for cell in self.cells), self.verdict])


LOSS = Score("loss", lambda run: run["drops"] / run["arrivals"], 0.25, of_drops=True)
DELAY = Score("queueing delay, ms", lambda run: run["queue_delay_s"] * 1e3, 0.1)


def judge(
    words: tuple[str, ...],
    scores: Sequence[Score],
    runs: Sequence[Sequence[Measures]],
    difference: Callable[[Sequence[float], Sequence[float]], Difference] = welch,
) -> Row:
    """The scores of a case, from the runs of another simulator and of ackclock."""
    few = min(sum(run["drops"] for run in side) / len(side) for side in runs) < FEW
    return Row(
        words,
        tuple(
            Cell(
                score.name,
                difference(*([score.of(run) for run in side] for side in runs)),
                score.relative,
                None if few and score.of_drops else score.bound,
            )
            for score in scores
        ),
    )


def line(words: Sequence[str]) -> str:
    """A line of a table in Markdown."""
    return f"| {' | '.join(words)} |"
