"""The objective of tuning: worst-case regret of the score or of a metric over a suite, then total regret."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ackclock import _core
from ackclock.errors import ArgumentValueError, InputError
from ackclock.evaluation.panel import choose_regret_baseline
from ackclock.evaluation.ranking import METRICS, SHARES, require_weights
from ackclock.evaluation.regret import Regret, RegretBaseline, Scale, regrets
from ackclock.evaluation.score import GOODPUT, metrics_of, scales_of, specification, values_of
from ackclock.evaluation.suite import Environment, Suite
from ackclock.running.job import Outcome
from ackclock.text.suggest import hint

#: Runs of one algorithm: documents per replicate, as JSON, by environment.
Runs = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Objective:
    """A metric over a suite, measured against the stored scores of the suite's panel."""

    suite: Suite
    scale: Scale
    regret_baseline: RegretBaseline
    #: The weights of metrics in the default score. Others weigh 1.
    weights: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, suite: Suite, metric: str, weights: Mapping[str, float]) -> Objective:
        """Take a metric by name. Raises `InputError` if it or the stored panel is missing."""
        if metric not in METRICS:
            raise ArgumentValueError("metric", f"no metric is called {metric!r}; {hint(metric, METRICS)}")
        require_weights(weights, metric)
        baseline = choose_regret_baseline(suite, [], (), within_table=False)
        if not baseline.stored:
            raise InputError(
                f"suite {suite.name}: there is nothing to measure against: {baseline.reason}; "
                f"`ackclock panel --suite {suite.folder}` stores the scores of its panel"
            )
        # Goodputs of links of different rates are compared as shares of the best.
        everywhere = frozenset(environment.id for environment in suite.environments)
        goodput = Scale(GOODPUT.name, "goodput, share", 3, everywhere)
        shares = Scale(SHARES, "regret %", 2)
        scales = (*scales_of(suite.environments), goodput, shares)
        scale = next(scale for scale in scales if scale.name == metric)
        found = cls(suite, scale, baseline, dict(weights))
        if not found.is_measured:
            raise InputError(f"suite {suite.name}: no environment has the metric {metric}")
        return found

    def joined(self, other: Objective) -> Objective:
        """Return the objective over the environments of both suites, which must have the same panel.

        Raises `InputError`.
        """
        here, there = self.regret_baseline, other.regret_baseline
        if here.algorithms != there.algorithms:
            raise InputError(f"suites {self.suite.name} and {other.suite.name}: their panels differ")
        return replace(
            self,
            suite=self.suite.joined(other.suite),
            scale=replace(self.scale, relative=self.scale.relative | other.scale.relative),
            regret_baseline=here.joined(there),
        )

    @property
    def is_measured(self) -> bool:
        """Whether some environment has the metric."""
        return self.scale.name == SHARES or any(
            metric.name == self.scale.name
            for environment in self.suite.environments
            for metric in metrics_of(environment)
        )

    @property
    def others(self) -> list[Objective]:
        """The other metrics of the suite, as the scoreboard has them."""
        scales = (scale for scale in scales_of(self.suite.environments) if scale.name != self.scale.name)
        return [other for scale in scales if (other := replace(self, scale=scale)).is_measured]

    def regret(self, runs: Runs) -> Regret:
        """Return the regret of an algorithm, with intervals."""
        costs = {}
        for environment in self.suite.environments:
            metrics = metrics_of(environment)
            rows = [values_of(environment, run) for run in runs[environment.id]]
            found = {metric.name: [metric.cost(row[at]) for row in rows] for at, metric in enumerate(metrics)}
            if self.scale.name == SHARES:
                found[SHARES] = self._combined(environment, found)
            if self.scale.name in found:
                costs[environment.id] = [tuple(found[self.scale.name])]
        return regrets(costs, self.scale, self._baseline)[0]

    @cached_property
    def _share_weights(self) -> dict[str, dict[str, float]]:
        """The weight of each metric in the default score, by environment."""
        best = self.regret_baseline.best
        return {
            environment.id: dict(
                _core.share_weights(
                    specification(environment),
                    {name: costs[environment.id] for name, costs in best.items() if environment.id in costs},
                    self.weights,
                )
            )
            for environment in self.suite.environments
        }

    def _combined(self, environment: Environment, costs: Mapping[str, Sequence[float]]) -> list[float]:
        """Return the weighted sum of costs of each replicate. The score has the same differences."""
        weights = self._share_weights[environment.id]
        rows = zip(*(costs[name] for name in weights), strict=True)
        return [math.fsum(map(operator.mul, weights.values(), row)) for row in rows]

    @cached_property
    def _baseline(self) -> RegretBaseline:
        """The baseline, with the default score as a metric if it is minimised."""
        stored = self.regret_baseline
        if self.scale.name != SHARES:
            return stored
        best, best_costs, reference = {}, {}, {}
        for environment in self.suite.environments:
            name = environment.id
            costs = {metric: [by_place[name]] for metric, by_place in stored.best.items() if name in by_place}
            best[name] = self._combined(environment, costs)[0]
            best_costs[name] = {SHARES: self._combined(environment, stored.best_costs[name])}
            rows = {
                metric: by_place[name]
                for metric, by_place in stored.reference_costs.items()
                if name in by_place
            }
            reference[name] = self._combined(environment, rows)
        return replace(
            stored, best={SHARES: best}, best_costs=best_costs, reference_costs={SHARES: reference}
        )


def runs_of(outcomes: Mapping[str, Sequence[Outcome]]) -> Runs:
    """Return the documents of stored runs."""
    return {name: [outcome.result_json for outcome in replicates] for name, replicates in outcomes.items()}
