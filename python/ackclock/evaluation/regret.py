"""Regret: how far a score is below the best one, in the worst environment and in total over all of them.

Reddy et al. call them C and D: `d_a(e) = S_best(e) - S_a(e)`, `C_a = max over e of d_a(e)`,
`D_a = sum over e of d_a(e)`. Scores become costs first (`Metric.cost`), so less is better throughout.
`docs/scores.md`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ackclock.statistics.bootstrap import RESAMPLES, quantile, reflected_estimate, resampled_means
from ackclock.statistics.estimates import Estimate

#: Tables of equal algorithms that the noise floor is computed from.
_NOISE_FLOOR_TABLES = 500
_NOISE_FLOOR_SEED = 20260102

#: Costs per replicate, by environment; each environment has one sequence per candidate.
Costs = Mapping[str, Sequence[Sequence[float]]]


@dataclass(frozen=True)
class Scale:
    """The metrics of regret."""

    #: The name of the metric.
    name: str
    #: A heading of a few characters, unit included.
    heading: str
    digits: int
    #: Environments in which regret is a share of the best score, for want of a common unit.
    relative: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RegretBaseline:
    """The best scores that regret is measured against: stored, or the best of the table."""

    #: Versioned name, in words.
    title: str
    #: Whether the best scores are stored ones, which another candidate does not change.
    stored: bool
    #: The algorithms that the best is taken over, by label.
    algorithms: tuple[str, ...]
    #: Why stored scores are not used; empty if they are.
    reason: str = ""
    #: Least mean cost by metric and environment; empty if the table decides.
    best: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    #: Costs per replicate of the reference, by metric and environment: what the noise floor is computed from.
    reference_costs: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class NoiseFloor:
    """The regret that equal algorithms would show, each with random draws of its own."""

    #: How many algorithms the table has, the judged one included.
    algorithms: int
    worst_case_mean: float
    #: 95 % of the tables show less.
    worst_case_high: float
    total_mean: float
    total_high: float


@dataclass(frozen=True)
class Regret:
    """The regret of one candidate in one metric. Below zero it is better than the best."""

    scale: Scale
    #: Regret in the worst environment.
    worst_case: Estimate
    #: The sum over the environments.
    total: Estimate
    #: The id of the worst environment.
    worst: str
    #: Regret by id of the environment.
    by_environment: Mapping[str, float]
    #: None where there is a single replicate.
    noise_floor: NoiseFloor | None
    #: The figures of each resample; the same replicates are drawn for every candidate and metric.
    drawn_worst_case: Sequence[float] = field(default=(), repr=False, compare=False)
    drawn_total: Sequence[float] = field(default=(), repr=False, compare=False)

    @property
    def mean(self) -> float:
        """The mean over the environments."""
        return self.total.mean / len(self.by_environment)


def regrets(costs: Costs, scale: Scale, baseline: RegretBaseline, reference: int = 0) -> tuple[Regret, ...]:
    """Return the regret of each candidate in one metric, in the order of the candidates.

    Intervals resample the replicates jointly over environments; `reflected_estimate` says how. Stored best
    scores are constants; the best of the table is found again in each resample. The noise floor is computed
    from the stored costs of the reference, or else from the candidate at index `reference`.
    """
    means = {name: [math.fsum(values) / len(values) for values in row] for name, row in costs.items()}
    stored = baseline.best.get(scale.name, {}) if baseline.stored else {}
    best = {name: stored[name] if stored else min(row) for name, row in means.items()}
    unit = {name: (abs(best[name]) or 1.0) if name in scale.relative else 1.0 for name in means}
    resampled = {name: [resampled_means(values) for values in row] for name, row in costs.items()}
    moving = {
        name: (best[name],) * RESAMPLES if stored else tuple(map(min, *row)) if len(row) > 1 else row[0]
        for name, row in resampled.items()
    }
    count = max(len(values) for row in costs.values() for values in row)
    noise_floor = _noise_floor(costs, scale, baseline, reference, unit) if count > 1 else None
    found = []
    for candidate in range(len(next(iter(costs.values())))):
        by_environment = {name: (row[candidate] - best[name]) / unit[name] for name, row in means.items()}
        drawn = [
            [(mine - theirs) / unit[name] for mine, theirs in zip(row[candidate], moving[name], strict=True)]
            for name, row in resampled.items()
        ]
        drawn_worst_case = list(map(max, zip(*drawn, strict=True)))
        drawn_total = list(map(math.fsum, zip(*drawn, strict=True)))
        found.append(
            Regret(
                scale,
                reflected_estimate(max(by_environment.values()), drawn_worst_case, count),
                reflected_estimate(math.fsum(by_environment.values()), drawn_total, count),
                max(by_environment, key=lambda name: by_environment[name]),
                by_environment,
                noise_floor,
                drawn_worst_case,
                drawn_total,
            )
        )
    return tuple(found)


def _noise_floor(
    costs: Costs, scale: Scale, baseline: RegretBaseline, reference: int, unit: Mapping[str, float]
) -> NoiseFloor:
    """Return the regret of the last of a table of equal algorithms.

    With stored scores the best is that of the stored algorithms, and the judged one comes on top of them.
    """
    stored = baseline.reference_costs.get(scale.name)
    judged = {name: len(row[0]) for name, row in costs.items()}
    return noise_floor_of(
        stored or {name: row[reference] for name, row in costs.items()},
        len(baseline.algorithms) if baseline.stored else len(baseline.algorithms) - 1,
        unit=unit,
        draws=judged,
        ahead=baseline.stored,
    )


def noise_floor_of(
    costs: Mapping[str, Sequence[float]],
    rivals: int,
    *,
    unit: Mapping[str, float] | None = None,
    draws: Mapping[str, int] | None = None,
    ahead: bool = False,
) -> NoiseFloor:
    """Return the regret of an algorithm among `rivals` that equal it, from one algorithm's replicates.

    `costs`: per replicate, by environment. Each algorithm of a table is a resample of the replicates,
    joint over environments. `draws`: replicates of the judged one; as many as of the others by default.
    `ahead`: whether it may be better than the best, which is then taken over the others only.
    """
    pools = {name: resampled_means(values) for name, values in costs.items()}
    mine = {
        name: resampled_means(values, draws[name]) if draws and len(values) > 1 else pools[name]
        for name, values in costs.items()
    }
    generator = random.Random(_NOISE_FLOOR_SEED)
    worst_cases, totals = [], []
    for _ in range(_NOISE_FLOOR_TABLES):
        own, *others = (int(RESAMPLES * generator.random()) for _ in range(rivals + 1))
        regret = []
        for name, pool in pools.items():
            cost = mine[name][own]
            compared = [pool[other] for other in others] + ([] if ahead and others else [cost])
            regret.append((cost - min(compared)) / (unit[name] if unit else 1.0))
        worst_cases.append(max(regret))
        totals.append(math.fsum(regret))
    return NoiseFloor(
        rivals + 1,
        math.fsum(worst_cases) / _NOISE_FLOOR_TABLES,
        quantile(sorted(worst_cases), 0.95),
        math.fsum(totals) / _NOISE_FLOOR_TABLES,
        quantile(sorted(totals), 0.95),
    )
