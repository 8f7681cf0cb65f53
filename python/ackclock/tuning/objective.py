"""The objective of tuning: worst-case regret of a metric over a suite, then total regret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ackclock.errors import ArgumentValueError, InputError
from ackclock.evaluation.panel import choose_regret_baseline
from ackclock.evaluation.regret import Regret, RegretBaseline, Scale, regrets
from ackclock.evaluation.score import COMMON, GOODPUT, WATCH, metrics_of, scales_of, values_of
from ackclock.evaluation.suite import Suite
from ackclock.running.job import Outcome
from ackclock.text.suggest import hint

#: The metrics that can be minimised.
METRICS = (*(metric.name for metric in COMMON), GOODPUT.name, WATCH)
#: Runs of one algorithm: documents per replicate, as JSON, by environment.
Runs = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Objective:
    """A metric over a suite, measured against the stored scores of the suite's panel."""

    suite: Suite
    scale: Scale
    regret_baseline: RegretBaseline

    @classmethod
    def of(cls, suite: Suite, metric: str) -> Objective:
        """Take a metric by name. Raises `InputError` if it or the stored panel is missing."""
        if metric not in METRICS:
            raise ArgumentValueError("metric", f"no metric is called {metric!r}; {hint(metric, METRICS)}")
        baseline = choose_regret_baseline(suite, [], (), within_table=False)
        if not baseline.stored:
            raise InputError(
                f"suite {suite.name}: there is nothing to measure against: {baseline.reason}; "
                f"`ackclock panel --suite {suite.folder}` stores the scores of its panel"
            )
        # Goodputs of links of different rates are compared as shares of the best.
        everywhere = frozenset(environment.id for environment in suite.environments)
        goodput = Scale(GOODPUT.name, "goodput, share", 3, everywhere)
        scale = next(scale for scale in (*scales_of(suite.environments), goodput) if scale.name == metric)
        found = cls(suite, scale, baseline)
        if not found.is_measured:
            raise InputError(f"suite {suite.name}: no environment has the metric {metric}")
        return found

    @property
    def is_measured(self) -> bool:
        """Whether some environment has the metric."""
        return any(
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
            for at, metric in enumerate(metrics_of(environment)):
                if metric.name == self.scale.name:
                    values = [values_of(environment, run)[at] for run in runs[environment.id]]
                    costs[environment.id] = [tuple(map(metric.cost, values))]
        return regrets(costs, self.scale, self.regret_baseline)[0]


def runs_of(outcomes: Mapping[str, Sequence[Outcome]]) -> Runs:
    """Return the documents of stored runs."""
    return {name: [outcome.result_json for outcome in replicates] for name, replicates in outcomes.items()}
