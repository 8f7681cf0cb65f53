"""Means with intervals, over replicates that share their luck between algorithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: The confidence of every interval.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean and half the width of its interval; no interval from a single value."""

    mean: float
    half_width: float | None
    count: int

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return None if self.half_width is None else self.mean + self.half_width

    @property
    def excludes_zero(self) -> bool:
        """True if the interval says which side of zero the truth is on; without one, if the mean does."""
        return abs(self.mean) > (self.half_width or 0.0)


def estimate(values: Sequence[float]) -> Estimate:
    """Return mean and Student's t interval of independent values.

    The interval assumes that means are about normal, which bounded metrics near their bound are not; it may
    then reach beyond the bound, and says so by doing it.
    """
    count = len(values)
    if count == 0:
        raise ValueError("no values")
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean, None, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Estimate(mean, student_t_quantile(count - 1) * math.sqrt(variance / count), count)


def paired_difference(values: Sequence[float], reference: Sequence[float]) -> Estimate:
    """Return the mean difference of two algorithms on the same luck, replicate by replicate."""
    return estimate([ours - theirs for ours, theirs in zip(values, reference, strict=True)])


def student_t_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
    """Return t such that Student's distribution has `confidence` of its weight within -t .. t.

    By bisection of the finite series for whole degrees of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4).
    """
    low, high = 0.0, 1.0
    while _student_t_within(high, degrees) < confidence:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if _student_t_within(middle, degrees) < confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _student_t_within(t: float, degrees: int) -> float:
    theta = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(theta), math.cos(theta)
    odd = degrees % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(1 + odd, degrees, 2):
        total += term
        term *= cosine * cosine * k / (k + 1)
    if odd:
        return 2 / math.pi * (theta + sine * total)
    return sine * total
