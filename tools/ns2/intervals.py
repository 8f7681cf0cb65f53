"""Intervals of a difference of two means (Welch, or pair by pair), and their verdict about a bound."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.statistics.estimates import paired_difference, student_t_quantile


@dataclass(frozen=True)
class Difference:
    """`second` minus `first`: the difference of the means and half the width of its 95 % interval."""

    first: float
    second: float
    half_width: float

    @property
    def value(self) -> float:
        """The difference of the means."""
        return self.second - self.first

    def verdict(self, room: float | None) -> str:
        """`inside` or `outside` if the interval is within or beyond `room`, `-` without a bound, else
        `undecided`."""
        if room is None:
            return "-"
        if abs(self.value) + self.half_width <= room:
            return "inside"
        return "outside" if abs(self.value) - self.half_width > room else "undecided"


def counted(verdicts: Sequence[str], seeds: int) -> str:
    """How many verdicts there are of each kind, in words."""
    count = ", ".join(
        f"{verdicts.count(verdict)} {verdict}" for verdict in ("inside", "undecided", "outside")
    )
    return f"{seeds} seeds each: {count}"


def welch(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Welch's 95 % interval of mean(second) - mean(first), for samples of at least two values."""
    errors = [statistics.variance(sample) / len(sample) for sample in (first, second)]
    total = sum(errors)
    half_width = 0.0
    if total > 0:
        freedom = total**2 / sum(
            error**2 / (len(sample) - 1) for error, sample in zip(errors, (first, second), strict=True)
        )
        half_width = student_t_quantile(max(1, math.floor(freedom))) * math.sqrt(total)
    return Difference(statistics.fmean(first), statistics.fmean(second), half_width)


def paired(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Student's 95 % interval of the mean of second - first, of two pairs or more."""
    difference = paired_difference(second, first)
    if difference.half_width is None:
        raise ValueError("an interval takes two pairs or more")
    return Difference(statistics.fmean(first), statistics.fmean(second), difference.half_width)
