"""Means with intervals, over replicates with common random numbers."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

#: The confidence of every interval.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval; no interval from a single replicate."""

    mean: float
    low: float | None
    high: float | None
    count: int

    @property
    def half_width(self) -> float | None:
        """Half the length of the interval, which need not lie evenly around the mean."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def excludes_zero(self) -> bool:
        """True if the interval says which side of zero the truth is on; without one, if the mean does."""
        if self.low is None or self.high is None:
            return self.mean != 0
        return self.low > 0 or self.high < 0


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return mean and Student's t interval of independent values.

    The interval assumes that means are about normal, which those of bounded values near their bound are not:
    `bootstrap_estimate` is for them.
    """
    count = len(values)
    if count == 0:
        raise ValueError("no values")
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean, None, None, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    half_width = student_t_quantile(count - 1, confidence) * math.sqrt(variance / count)
    return Estimate(mean, mean - half_width, mean + half_width, count)


def paired_difference(values: Sequence[float], reference: Sequence[float]) -> Estimate:
    """Return the mean difference of two algorithms with the same random draws, replicate by replicate."""
    return estimate([ours - theirs for ours, theirs in zip(values, reference, strict=True)])


def kendall_tau_b(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Kendall's tau-b of two rankings: 1 for the same order, -1 for the reverse, ties corrected for.

    Not a number where one of them is all ties (Kendall 1945).
    """
    agreement, first_pairs, second_pairs = 0, 0, 0
    for (a, b), (c, d) in itertools.combinations(zip(first, second, strict=True), 2):
        here, there = (a > c) - (a < c), (b > d) - (b < d)
        agreement += here * there
        first_pairs += here != 0
        second_pairs += there != 0
    pairs = math.sqrt(first_pairs * second_pairs)
    return agreement / pairs if pairs else math.nan


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's rank correlation: that of Pearson between ranks, ties sharing their mean rank.

    Not a number where one of them is all ties.
    """
    a, b = _ranks(first), _ranks(second)
    middle = (len(a) + 1) / 2
    products = math.fsum((x - middle) * (y - middle) for x, y in zip(a, b, strict=True))
    spreads = math.sqrt(math.fsum((x - middle) ** 2 for x in a) * math.fsum((y - middle) ** 2 for y in b))
    return products / spreads if spreads else math.nan


def _ranks(values: Sequence[float]) -> list[float]:
    """Return ranks from 1 on."""
    ordered = sorted(values)
    return [
        (bisect.bisect_left(ordered, value) + bisect.bisect_right(ordered, value) + 1) / 2 for value in values
    ]


@cache
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
