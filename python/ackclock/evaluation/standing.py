"""C and D: how far behind the best an algorithm is, at its worst and in sum over the environments.

After Reddy et al.: `d_a(e) = S_best(e) - S_a(e)`, `C_a = max over e of d_a(e)`, `D_a = sum over e of d_a(e)`.
Scores are turned so that more is worse (`Metric.harm`), so less is better throughout. `docs/scores.md`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ackclock.statistics.bootstrap import RESAMPLES, quantile, reflected_estimate, resampled_means
from ackclock.statistics.estimates import Estimate

#: Tables of equal algorithms that the null is made of.
_NULL_TABLES = 500
_NULL_SEED = 20260102

#: Harms per replicate, by environment; each environment has one sequence per contender.
Harms = Mapping[str, Sequence[Sequence[float]]]


@dataclass(frozen=True)
class Scale:
    """What a pair of C and D is measured in."""

    #: The name of the metric.
    name: str
    #: A heading of a few characters, unit included.
    heading: str
    digits: int
    #: Environments in which distances count as shares of the best score, for want of a common unit.
    relative: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Yardstick:
    """The best scores that C and D are measured against: stored, or the best of the table."""

    #: Versioned name, in words.
    title: str
    #: Whether the best scores are stored ones, which a new rival does not change.
    stored: bool
    #: The algorithms that the best is taken over, by label.
    algorithms: tuple[str, ...]
    #: Why stored scores are not used; empty if they are.
    reason: str = ""
    #: Least mean harm by metric and environment; empty if the table decides.
    best: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    #: Harms per replicate of the algorithm that the null is made of, by metric and environment.
    luck: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Null:
    """The C and D that equal algorithms would show: luck alone, as each meets luck of its own."""

    #: How many algorithms the table has, the judged one included.
    algorithms: int
    c_mean: float
    #: 95 % of the tables show less.
    c_high: float
    d_mean: float
    d_high: float


@dataclass(frozen=True)
class Standing:
    """C and D of one contender in one metric. Above zero is behind the best, below zero ahead of it."""

    scale: Scale
    #: The distance in the worst environment.
    c: Estimate
    #: The sum of the distances over the environments.
    d_sum: Estimate
    #: The id of the worst environment.
    worst: str
    #: Distance to the best by id of the environment.
    distances: Mapping[str, float]
    #: None where there is a single replicate.
    null: Null | None
    #: C and D of each resample; the same replicates are drawn for every contender and metric.
    drawn_c: Sequence[float] = field(default=(), repr=False, compare=False)
    drawn_d: Sequence[float] = field(default=(), repr=False, compare=False)

    @property
    def d_mean(self) -> float:
        """The mean of the distances over the environments."""
        return self.d_sum.mean / len(self.distances)


def standings(harms: Harms, scale: Scale, yardstick: Yardstick, reference: int = 0) -> tuple[Standing, ...]:
    """Return the standing of each contender in one metric, in the order of the contenders.

    Intervals resample the replicates jointly over environments; `reflected_estimate` says how. Stored best
    scores are constants; the best of the table is found anew in each resample. The null is made of what is
    stored for it, or else of the contender at index `reference`.
    """
    means = {name: [math.fsum(values) / len(values) for values in row] for name, row in harms.items()}
    stored = yardstick.best.get(scale.name, {}) if yardstick.stored else {}
    best = {name: stored[name] if stored else min(row) for name, row in means.items()}
    unit = {name: (abs(best[name]) or 1.0) if name in scale.relative else 1.0 for name in means}
    resampled = {name: [resampled_means(values) for values in row] for name, row in harms.items()}
    moving = {
        name: (best[name],) * RESAMPLES if stored else tuple(map(min, *row)) if len(row) > 1 else row[0]
        for name, row in resampled.items()
    }
    count = max(len(values) for row in harms.values() for values in row)
    null = _null(harms, scale, yardstick, reference, unit) if count > 1 else None
    found = []
    for contender in range(len(next(iter(harms.values())))):
        distances = {name: (row[contender] - best[name]) / unit[name] for name, row in means.items()}
        drawn = [
            [(mine - theirs) / unit[name] for mine, theirs in zip(row[contender], moving[name], strict=True)]
            for name, row in resampled.items()
        ]
        drawn_c = list(map(max, zip(*drawn, strict=True)))
        drawn_d = list(map(math.fsum, zip(*drawn, strict=True)))
        found.append(
            Standing(
                scale,
                reflected_estimate(max(distances.values()), drawn_c, count),
                reflected_estimate(math.fsum(distances.values()), drawn_d, count),
                max(distances, key=lambda name: distances[name]),
                distances,
                null,
                drawn_c,
                drawn_d,
            )
        )
    return tuple(found)


def _null(
    harms: Harms, scale: Scale, yardstick: Yardstick, reference: int, unit: Mapping[str, float]
) -> Null:
    """Return what the last of a table of equal algorithms shows against the best.

    With stored scores the best is that of the stored algorithms, and the judged one comes on top of them.
    """
    luck = yardstick.luck.get(scale.name) or {name: row[reference] for name, row in harms.items()}
    judged = {name: len(row[0]) for name, row in harms.items()}
    rivals = len(yardstick.algorithms) if yardstick.stored else len(yardstick.algorithms) - 1
    return null_of(luck, rivals, unit=unit, draws=judged, ahead=yardstick.stored)


def null_of(
    luck: Mapping[str, Sequence[float]],
    rivals: int,
    *,
    unit: Mapping[str, float] | None = None,
    draws: Mapping[str, int] | None = None,
    ahead: bool = False,
) -> Null:
    """Return what an algorithm would show among `rivals` that equal it, from one algorithm's replicates.

    `luck`: harms per replicate, by environment. Each algorithm of a table is a resample of the replicates,
    joint over environments. `draws`: replicates of the judged one; as many as of the others by default.
    `ahead`: whether it may be ahead of the best, being no part of what that is taken over.
    """
    pools = {name: resampled_means(values) for name, values in luck.items()}
    mine = {
        name: resampled_means(values, draws[name]) if draws and len(values) > 1 else pools[name]
        for name, values in luck.items()
    }
    generator = random.Random(_NULL_SEED)
    shown_c, shown_d = [], []
    for _ in range(_NULL_TABLES):
        own, *others = (int(RESAMPLES * generator.random()) for _ in range(rivals + 1))
        distances = []
        for name, pool in pools.items():
            harm = mine[name][own]
            compared = [pool[other] for other in others] + ([] if ahead and others else [harm])
            distances.append((harm - min(compared)) / (unit[name] if unit else 1.0))
        shown_c.append(max(distances))
        shown_d.append(math.fsum(distances))
    return Null(
        rivals + 1,
        math.fsum(shown_c) / _NULL_TABLES,
        quantile(sorted(shown_c), 0.95),
        math.fsum(shown_d) / _NULL_TABLES,
        quantile(sorted(shown_d), 0.95),
    )
