"""Coverage of intervals over drawn networks: `interval_coverage.py [--intervals 1000] [--replicates 10]`.

The tool uses three environments of `core`. In two of them the metric is the share of a competitor, and in
one a flow is alone. Each interval has its own replicates, so intervals are independent. The truth is the
mean over all replicates. The exit code is 1 if fewer than 93 % or more than 97 % of the intervals contain
it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from ackclock import _core
from ackclock.evaluation.score import metrics_of, values_of
from ackclock.evaluation.suite import Environment, Suite
from ackclock.scenario import Scenario
from ackclock.statistics.estimates import estimate

SUITE = "core"
#: Environment, algorithm under test and metrics: two shares of competitors, and a flow alone. Efficiency is
#: excluded. On a busy link nine of ten replicates agree, and their interval is short by 0.01 %.
CASES = (
    ("with-standard", "cubic", ("watch", "loss_rate", "queue_delay")),
    ("with-cubic-deep", "bbr3", ("watch", "loss_rate", "queue_delay")),
    ("slow-1", "cubic", ("loss_rate", "queue_delay")),
)
#: Where the coverage of 95 % intervals is to lie.
BOUNDS = (0.93, 0.97)
SEED = 1


@dataclass(frozen=True)
class Coverage:
    """How many intervals contain the truth."""

    environment: str
    algorithm: str
    metric: str
    #: Mean over all replicates.
    truth: float
    #: Standard deviation of a replicate.
    deviation: float
    intervals: int
    replicates: int
    #: The share of intervals that contain the truth, and the shares that miss it on either side.
    covered: float
    below: float
    above: float

    @property
    def is_sound(self) -> bool:
        """Whether the coverage is inside the bounds."""
        return BOUNDS[0] <= self.covered <= BOUNDS[1]


def values_of_replicates(
    scenario: Scenario, environment: Environment, replicates: Iterable[int], *, workers: int, seed: int = SEED
) -> list[list[float]]:
    """Return the values of all metrics of an environment, replicate by replicate."""
    core = _core.Scenario.from_json(scenario.resolved_json, environment.id)

    def values(replicate: int) -> list[float]:
        return values_of(environment, core.run(seed, replicate, samples=False).to_json())

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(values, replicates))


def coverage(values: Sequence[float], replicates: int, truth: float) -> tuple[float, float, float]:
    """Return the shares of the intervals that contain `truth`, lie below it, and lie above it."""
    count, below, above = len(values) // replicates, 0, 0
    for number in range(count):
        found = estimate(values[number * replicates : (number + 1) * replicates])
        assert found.low is not None and found.high is not None, "two replicates or more have an interval"
        below += found.high < truth
        above += found.low > truth
    return 1 - (below + above) / count, below / count, above / count


def measured(
    name: str, algorithm: str, wanted: Sequence[str], intervals: int, replicates: int, workers: int
) -> list[Coverage]:
    """Run an environment, and return the coverage of each metric."""
    suite = Suite.load(SUITE)
    environment = next(each for each in suite.environments if each.id == name)
    scenario = environment.scenario(algorithm, suite.subject)
    rows = values_of_replicates(scenario, environment, range(intervals * replicates), workers=workers)
    found = []
    for metric, column in zip(metrics_of(environment), zip(*rows, strict=True), strict=True):
        if metric.name not in wanted:
            continue
        truth = math.fsum(column) / len(column)
        variance = math.fsum((value - truth) ** 2 for value in column) / (len(column) - 1)
        shares = coverage(column, replicates, truth)
        found.append(
            Coverage(name, algorithm, metric.name, truth, math.sqrt(variance), intervals, replicates, *shares)
        )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all cases, print a table or JSON, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--intervals", type=int, default=1000)
    parser.add_argument("--replicates", type=int, default=10)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    found: list[Coverage] = []
    for name, algorithm, metrics in CASES:
        found += measured(name, algorithm, metrics, chosen.intervals, chosen.replicates, chosen.workers)
        print(f"{name}: done", file=sys.stderr)
    if chosen.json:
        print(json.dumps([asdict(each) for each in found], indent=1))
    else:
        for each in found:
            print(
                f"{each.environment:16} {each.algorithm:6} {each.metric:12} "
                f"{each.truth:9.4f} ±{each.deviation:.4f}: "
                f"{100 * each.covered:.1f} % of {each.intervals} intervals of {each.replicates} replicates "
                f"({100 * each.below:.1f} % below, {100 * each.above:.1f} % above)"
                f"{'' if each.is_sound else '  OUTSIDE'}"
            )
        sound = sum(each.is_sound for each in found)
        print(f"{sound} of {len(found)} metrics: 93 to 97 % of their 95 % intervals contain the mean")
    return 0 if all(each.is_sound for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
