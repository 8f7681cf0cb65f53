"""Regret: how far a score is below the best one, in the worst environment and in total over all of them.

Reddy et al. call them C and D: `d_a(e) = S_best(e) - S_a(e)`, `C_a = max over e of d_a(e)`,
`D_a = sum over e of d_a(e)`. Scores become costs first (`Metric.cost`), so less is better throughout.
`docs/learn/how-algorithms-are-compared.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ackclock import _core
from ackclock.statistics.estimates import Estimate

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
    #: The largest mean cost, in the same order: it caps the weights of environments in the score.
    worst: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    #: Costs per replicate of the best, by environment and metric: stored scores have sampling errors.
    best_costs: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict, repr=False)
    #: The seed of the stored scores, whose replicates have the same random draws as others with this seed.
    seed: int | None = None
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


def regrets(
    costs: Costs, scale: Scale, baseline: RegretBaseline, reference: int = 0, seed: int | None = None
) -> tuple[Regret, ...]:
    """Return the regret of each candidate in one metric, in the order of the candidates.

    Intervals resample the replicates jointly over environments. The stored best is resampled with its own
    replicates, paired with those of the same `seed`; the best of the table is found again in each resample.
    The noise floor is computed from the stored costs of the reference, or else from the candidate at index
    `reference`.
    """
    names = list(costs)
    stored = baseline.best.get(scale.name) if baseline.stored else None
    reference_costs = baseline.reference_costs.get(scale.name)
    found = _core.regrets(
        [costs[name] for name in names],
        best=[stored[name] for name in names] if stored else None,
        best_costs=[baseline.best_costs[name][scale.name] for name in names]
        if stored and baseline.best_costs
        else None,
        paired=baseline.seed is not None and baseline.seed == seed,
        relative=[name in scale.relative for name in names],
        algorithms=len(baseline.algorithms),
        reference_costs=[reference_costs[name] for name in names] if reference_costs else None,
        reference=reference,
    )
    return tuple(
        Regret(
            scale,
            each.worst_case,
            each.total,
            names[each.worst],
            dict(zip(names, each.by_environment, strict=True)),
            None if each.noise_floor is None else NoiseFloor(*each.noise_floor),
            each.drawn_worst_case,
            each.drawn_total,
        )
        for each in found
    )


def noise_floor_of(costs: Mapping[str, Sequence[float]], rivals: int) -> NoiseFloor:
    """Return the regret of an algorithm among `rivals` that equal it, from one algorithm's replicates.

    `costs`: per replicate, by environment. Each algorithm of a table is a resample of the replicates, joint
    over environments.
    """
    return NoiseFloor(*_core.noise_floor(list(costs.values()), rivals))
