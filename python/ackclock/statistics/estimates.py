"""Means with intervals, over replicates with common random numbers, and rank correlations."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from typing import overload

from ackclock._core import CONFIDENCE, Estimate, compared, estimate, paired_difference, student_t_quantile

__all__ = [
    "CONFIDENCE",
    "Estimate",
    "compared",
    "estimate",
    "estimate_json",
    "kendall_tau_b",
    "paired_difference",
    "resolved_estimate",
    "spearman",
    "student_t_quantile",
]


def resolved_estimate(values: Sequence[float], resolution: float) -> Estimate:
    """Return the mean of values with an interval that is at least as wide as their relative resolution.

    Values in one bin of a histogram are equal, and their differences remain unknown.
    """
    found = estimate(values)
    if found.low is None or found.high is None:
        return found
    half = resolution / 2 * abs(found.mean)
    return Estimate(
        found.mean, min(found.low, found.mean - half), max(found.high, found.mean + half), found.count
    )


@overload
def estimate_json(value: Estimate) -> dict[str, float | None]: ...
@overload
def estimate_json(value: None) -> None: ...
@overload
def estimate_json(value: Estimate | None) -> dict[str, float | None] | None: ...
def estimate_json(value: Estimate | None) -> dict[str, float | None] | None:
    """Return mean and interval for JSON. None for a missing estimate."""
    return None if value is None else {"mean": value.mean, "low": value.low, "high": value.high}


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
    """Return Spearman's rank correlation: Pearson's correlation of ranks, where ties share their mean rank.

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
