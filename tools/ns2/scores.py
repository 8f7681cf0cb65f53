"""What is compared in an environment, and what comes of it."""

import dataclasses
from collections.abc import Callable, Sequence

from ackclock import _core
from cases import Case
from intervals import Difference, welch
from scenario import arguments, cross_traffic
from sides import Measures

# Fewer drops than these are no basis for a relative bound.
FEW = 100.0


@dataclasses.dataclass(frozen=True)
class Score:
    """A measure of a run.

    Attributes:
        name: as in the table.
        of: its value, from what a run measures.
        bound: how far ackclock may be from ns-2; None if it is not judged.
        relative: whether bound and difference are parts of ns-2's value.
        of_drops: whether the bound needs drops.
    """

    name: str
    of: Callable[[Measures], float]
    bound: float | None
    relative: bool = True
    of_drops: bool = False


@dataclasses.dataclass(frozen=True)
class Cell:
    """A score of a case, in ns-2 and in ackclock."""

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
        """ns-2's value and the difference, in per cent of it where it is relative."""
        difference = self.difference
        if not self.relative:
            return f"{difference.first:.3f} {difference.value:+.3f} ± {difference.half_width:.3f}"
        if not difference.first:
            return "0"
        value, half_width = (
            100 * part / abs(difference.first) for part in (difference.value, difference.half_width)
        )
        return f"{difference.first:.3g} {value:+.1f} ± {half_width:.1f} %"


@dataclasses.dataclass(frozen=True)
class Row:
    """A case and its scores."""

    case: Case
    cells: tuple[Cell, ...]

    @property
    def verdict(self) -> str:
        """The worst of its cells."""
        verdicts = {cell.verdict for cell in self.cells}
        return next(worst for worst in ("outside", "undecided", "inside") if worst in verdicts)

    @property
    def text(self) -> str:
        """A line of the table."""
        return line([*self.case.words, *(cell.text for cell in self.cells), self.verdict])


def scores(scenario: _core.Scenario) -> tuple[Score, ...]:
    """What is compared in a scenario."""
    words = arguments(scenario)
    since, until = (float(str(words[key])) for key in ("warmup", "duration"))
    rate, payload = float(str(words["rate"])), float(str(words["payload"]))
    left_bps = rate - cross_traffic(scenario).mean_bps(since, until)

    def fraction(run: Measures) -> float:
        return 8 * run["goodput_Bps"] / left_bps

    def fraction_of_rest(run: Measures) -> float:
        return 8 * run["goodput_Bps"] / (rate - 8 * run["cbr_Bps"])

    def unacknowledged(run: Measures) -> float:
        return 1 - run["goodput_Bps"] * (until - since) / payload / run["sent"]

    return (
        Score("goodput fraction", fraction, 0.02, relative=False),
        Score("of the rest", fraction_of_rest, None, relative=False),
        Score("loss", lambda run: run["drops"] / run["arrivals"], 0.25, of_drops=True),
        Score("unacknowledged", unacknowledged, None, relative=False),
        Score("queueing delay, ms", lambda run: run["queue_delay_s"] * 1e3, 0.1),
    )


def judge(case: Case, scenario: _core.Scenario, runs: Sequence[Sequence[Measures]]) -> Row:
    """The scores of a case, from the runs of ns-2 and of ackclock."""
    few = min(sum(run["drops"] for run in side) / len(side) for side in runs) < FEW
    return Row(
        case,
        tuple(
            Cell(
                score.name,
                welch(*([score.of(run) for run in side] for side in runs)),
                score.relative,
                None if few and score.of_drops else score.bound,
            )
            for score in scores(scenario)
        ),
    )


def header(scenario: _core.Scenario) -> list[str]:
    """The first two lines of the table."""
    names = (score.name for score in scores(scenario))
    columns = ["environment", "queue", "recovery", "control", *names, "verdict"]
    return [line(columns), line(["---"] * len(columns))]


def line(words: Sequence[str]) -> str:
    """A line of a table in Markdown."""
    return f"| {' | '.join(words)} |"
