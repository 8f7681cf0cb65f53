"""Bootstrap intervals: replicates are resampled with a fixed seed, jointly over environments."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from statistics import NormalDist

from ackclock.statistics.estimates import CONFIDENCE, Estimate, student_t_quantile

#: The number of resamples.
RESAMPLES = 2000
_SEED = 20260101
_Pick = Callable[[Sequence[float]], tuple[float, ...]]


@cache
def resamples(count: int, draws: int | None = None) -> tuple[tuple[int, ...], ...]:
    """Return `RESAMPLES` draws, with replacement, from the indices of `count` replicates.

    The same for every caller, so that environments, metrics and algorithms are resampled jointly: replicate
    3 of one goes with replicate 3 of all others. `draws`: how many each takes; `count` by default.
    """
    generator = random.Random(_SEED)
    size = count if draws is None else draws
    return tuple(tuple(int(count * generator.random()) for _ in range(size)) for _ in range(RESAMPLES))


def resampled_means(values: Sequence[float], draws: int | None = None) -> tuple[float, ...]:
    """Return the mean of each resample; a single value stays as it is."""
    count = len(values)
    if count == 1 or min(values) == max(values):
        return (values[0],) * RESAMPLES
    size = count if draws is None else draws
    if size == 1:
        return tuple(values[index] for (index,) in resamples(count, draws))
    picks, spread = _picks(count, draws)
    return spread([math.fsum(pick(values)) / size for pick in picks])


@cache
def _picks(count: int, draws: int | None) -> tuple[tuple[_Pick, ...], _Pick]:
    """Return what picks the values of each resample, and what spreads their means over all resamples.

    Resamples that differ in order alone, most of those of few replicates, have one pick.
    """
    drawn = [tuple(sorted(chosen)) for chosen in resamples(count, draws)]
    places = {chosen: place for place, chosen in enumerate(dict.fromkeys(drawn))}
    return tuple(itemgetter(*chosen) for chosen in places), itemgetter(*(places[chosen] for chosen in drawn))


def bootstrap_estimate(values: Sequence[float]) -> Estimate:
    """Return mean and percentile interval of independent values; it stays within their range."""
    count = len(values)
    if count == 0:
        raise ValueError("no values")
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean, None, None, 1)
    return Estimate(mean, *_ends(resampled_means(values), count), count)


def reflected_estimate(point: float, resampled: Sequence[float], count: int) -> Estimate:
    """Return a figure with the basic interval of its resamples: the percentile one, reflected at the figure.

    For a maximum of means, which noise raises: resampling raises it once more, and the reflection takes that
    off (Davison & Hinkley 1997, section 5.2). Where it takes off so much that the figure itself is left out,
    the interval ends at the figure.
    """
    if count == 1:
        return Estimate(point, None, None, 1)
    low, high = _ends(resampled, count)
    return Estimate(point, min(point, 2 * point - high), max(point, 2 * point - low), count)


def _ends(resampled: Sequence[float], count: int) -> tuple[float, float]:
    """Return the ends of the percentile interval of a figure from `count` replicates.

    Its levels are widened so that for normal values it agrees with Student's t (Hesterberg 2015, section
    5.3): the plain one is too short for few replicates.
    """
    reach = math.sqrt(count / (count - 1)) * student_t_quantile(count - 1, CONFIDENCE)
    level = NormalDist().cdf(-reach)
    ordered = sorted(resampled)
    return quantile(ordered, level), quantile(ordered, 1 - level)


def quantile(ordered: Sequence[float], level: float) -> float:
    """Return the value below which a share `level` of the ordered values lies, interpolated."""
    place = level * (len(ordered) - 1)
    at = min(int(place), len(ordered) - 2)
    low, high = ordered[at], ordered[at + 1]
    # Equal neighbours are returned as they are: no rounding.
    return low if low == high else low + (place - at) * (high - low)
