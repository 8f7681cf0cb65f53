"""Regret is the distance of a score from the best score, in the worst environment and in total.

Reddy et al. call these two C and D: `d_a(e) = S_best(e) - S_a(e)`, `C_a = max over e of d_a(e)`,
`D_a = sum over e of d_a(e)`. Scores become costs first (`Metric.cost`), so that lower values are always
better. See `docs/learn/how-algorithms-are-compared.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ackclock import _core
from ackclock.statistics.estimates import Estimate

Value = TypeVar("Value")

#: Costs per replicate, by environment, with one sequence per candidate.
Costs = Mapping[str, Sequence[Sequence[float]]]


@dataclass(frozen=True)
class Scale:
    """A metric of regret."""

    #: The name of the metric.
    name: str
    #: A short heading with the unit.
    heading: str
    digits: int
    #: The environments in which regret is relative to the best score, because the metric has no common unit.
    relative: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RegretBaseline:
    """The best scores as the baseline of regret: stored, or the best of the table."""

    #: The name with its version.
    title: str
    #: Whether the best scores are stored, and therefore independent of the candidates.
    stored: bool
    #: The labels of the algorithms that the best is chosen from.
    algorithms: tuple[str, ...]
    #: The reason against stored scores, empty if they are used.
    reason: str = ""
    #: The least mean cost by metric and environment, empty without stored scores.
    best: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    #: The largest mean cost by metric and environment. It caps the weights of environments in the score.
    worst: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    #: Costs of the best per replicate, by environment and metric, for the sampling error of stored scores.
    best_costs: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict, repr=False)
    #: The seed of the stored scores. Replicates with the same seed use the same random draws.
    seed: int | None = None
    #: Costs of the reference per replicate, by metric and environment, for the noise floor.
    reference_costs: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict, repr=False)

    def joined(self, other: RegretBaseline) -> RegretBaseline:
        """Return the stored scores of the environments of both. The algorithms must be the same."""
        return replace(
            self,
            best=_by_metric(self.best, other.best),
            worst=_by_metric(self.worst, other.worst),
            best_costs={**self.best_costs, **other.best_costs},
            seed=self.seed if self.seed == other.seed else None,
            reference_costs=_by_metric(self.reference_costs, other.reference_costs),
        )


def _by_metric(
    one: Mapping[str, Mapping[str, Value]], other: Mapping[str, Mapping[str, Value]]
) -> dict[str, dict[str, Value]]:
    """Return values by metric and environment, with the environments of both."""
    return {name: {**one.get(name, {}), **other.get(name, {})} for name in {**one, **other}}


@dataclass(frozen=True)
class NoiseFloor:
    """The regret of equal algorithms with independent random draws."""

    #: The number of algorithms in the table, including the judged one.
    algorithms: int
    worst_case_mean: float
    #: The 95th percentile over the tables.
    worst_case_high: float
    total_mean: float
    total_high: float


@dataclass(frozen=True)
class Regret:
    """The regret of one candidate in one metric. Negative regret is better than the best."""

    scale: Scale
    #: The regret in the worst environment.
    worst_case: Estimate
    #: The sum of regrets over the environments.
    total: Estimate
    #: The id of the worst environment.
    worst: str
    #: The regret by id of the environment.
    by_environment: Mapping[str, float]
    #: The noise floor. None for a single replicate.
    noise_floor: NoiseFloor | None
    #: The figures of each resample. All candidates and metrics share the resampled replicates.
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

    Intervals resample the replicates jointly over environments. A stored best is resampled from its own
    replicates, paired if they have the same `seed`. Otherwise each resample has its own best of the table.
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


def noise_floor_of(costs: Mapping[str, Sequence[float]], competitors: int) -> NoiseFloor:
    """Return the regret of an algorithm among `competitors` equal ones, from the replicates of one.

    `costs`: per replicate, by environment. Each algorithm of a table is a resample of the replicates, joint
    over environments.
    """
    return NoiseFloor(*_core.noise_floor(list(costs.values()), competitors))
