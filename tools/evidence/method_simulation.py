"""A simulation of the method: `method_simulation.py [--tables 60]`.

The tool draws the results of runs from distributions with known means. It passes them to the code of
`ackclock evaluate`. It counts how often intervals contain the true figure, and how often equal algorithms
are called different. A table has the environments of `core`, its panel, ten replicates and one of four
noises with the same variance:

- `normal`
- `skewed`, a log-normal distribution
- `heavy`, Student's distribution with three degrees of freedom
- `outliers`, where one replicate in ten lies far from the others.

All algorithms of a replicate share half of the variance, as with common random numbers. The exit code is 1
if a figure exceeds its bounds by more than two standard deviations of sampling error. Coverage has
no bound for `skewed` and `outliers`: ten replicates often miss the tail that moves the mean.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import random
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from ackclock import _core
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.judging import algorithm_data, suite_data
from ackclock.evaluation.panel import PANEL_REPLICATES, Panel
from ackclock.evaluation.regret import RegretBaseline
from ackclock.evaluation.score import metrics_of
from ackclock.evaluation.suite import Environment, Suite
from ackclock.evaluation.verdict import SILENT

REPLICATES = 10
#: The part of the variance that all algorithms of a replicate share.
COMMON = 0.5
#: A normal value of each metric and its standard deviation, in the unit of the metric.
TYPICAL = {
    "efficiency": (90.0, 1.5),
    "loss_rate": (1.0, 0.1),
    "queue_delay": (20.0, 1.5),
    "jain_index": (0.9, 0.03),
    "goodput": (9.0, 0.15),
    "delay_score": (70.0, 1.5),
    "watch": (0.5, 0.04),
}
#: The distances of the panel from `TYPICAL` in standard deviations, positive if better.
PANEL = (0.0, 1.0, -1.5, 2.0)


def _outliers(draw: random.Random) -> float:
    return 3.0 if draw.random() < 0.1 else -1 / 3


def _skewed(draw: random.Random, sigma: float = 0.75) -> float:
    mean, variance = math.exp(sigma**2 / 2), (math.exp(sigma**2) - 1) * math.exp(sigma**2)
    return (draw.lognormvariate(0, sigma) - mean) / math.sqrt(variance)


def _heavy(draw: random.Random, degrees: int = 3) -> float:
    chi_square = draw.gammavariate(degrees / 2, 2)
    return draw.gauss(0, 1) * math.sqrt(degrees / chi_square) / math.sqrt(degrees / (degrees - 2))


#: Random variables with a mean of 0 and a variance of 1.
NOISES: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda draw: draw.gauss(0, 1),
    "skewed": _skewed,
    "heavy": _heavy,
    "outliers": _outliers,
}


#: The noises with bounds for coverage.
COVERED = ("normal", "heavy")


@dataclass(frozen=True)
class World:
    """Algorithms with known means."""

    noise: str
    #: The distance of each candidate from `TYPICAL` in standard deviations, positive if better.
    candidates: tuple[float, ...]
    #: The same for the algorithms of the panel.
    panel: tuple[float, ...] = PANEL
    #: The mean fair-share ratio of competitors. None for the value of `TYPICAL`.
    share: float | None = None
    #: The budget in runs, or none for a single round.
    budget: int | None = None

    def mean(self, environment: Environment, name: str, better: float) -> float:
        """Return the true value of a metric of an algorithm."""
        value, deviation = TYPICAL[name]
        if name == "watch" and self.share is not None:
            return self.share
        metric = next(each for each in metrics_of(environment) if each.name == name)
        return value + better * deviation * (-1 if metric.better == "lower" else 1)


@cache
def suite() -> Suite:
    """Return the suite of the environments, with its reference first."""
    return Suite.load("core")


@cache
def algorithms(count: int) -> tuple[Candidate, ...]:
    """Return the panel, and so many candidates with other parameters."""
    texts = [*suite().panel, *(f"aimd(increase={2 + number})" for number in range(count))]
    return tuple(suite().subject.parse(text) for text in texts)


class Draws:
    """The results of runs in a world."""

    def __init__(self, world: World, seed: int, *, is_noisy: bool = True) -> None:
        self._world, self._seed, self._is_noisy = world, seed, is_noisy
        self._noise = NOISES[world.noise]

    def values(self, place: int, environment: Environment, algorithm: int, replicate: int) -> list[float]:
        """Return the values of a run: its metrics, then the 95th percentile of the queueing delay."""
        world = self._world
        better = (*world.panel, *world.candidates)[algorithm]
        common = random.Random(f"{self._seed} {place} {replicate}")
        own = random.Random(f"{self._seed} {place} {replicate} {algorithm}")
        found = []
        for metric in metrics_of(environment):
            noise = math.sqrt(COMMON) * self._noise(common) + math.sqrt(1 - COMMON) * self._noise(own)
            deviation = TYPICAL[metric.name][1] if self._is_noisy else 0.0
            found.append(world.mean(environment, metric.name, better) + deviation * noise)
        return [*found, 30.0]


def stored(world: World, seed: int, *, is_noisy: bool = True) -> RegretBaseline:
    """Return the stored scores of the panel in a world."""
    draws = Draws(world, seed, is_noisy=is_noisy)
    every: list[dict[str, dict[str, list[float]]]] = [{} for _ in world.panel]
    for place, environment in enumerate(suite().environments):
        for algorithm, costs in enumerate(every):
            rows = [draws.values(place, environment, algorithm, each) for each in range(PANEL_REPLICATES)]
            columns = list(zip(*rows, strict=True))
            costs[environment.id] = {
                metric.name: [metric.cost(value) for value in columns[at]]
                for at, metric in enumerate(metrics_of(environment))
            }
    labels = [each.label for each in algorithms(0)]
    environments = {
        environment.id: {"metrics": _stored_metrics([costs[environment.id] for costs in every], labels)}
        for environment in suite().environments
    }
    document = {"panel_version": 1, "algorithms": labels, "seed": seed, "environments": environments}
    return Panel(document).regret_baseline()


def _stored_metrics(every: Sequence[dict[str, list[float]]], labels: Sequence[str]) -> dict[str, Any]:
    """Return the metrics of an environment in the form of a stored panel."""
    return {
        metric: {
            "best": {"cost": min(math.fsum(costs[metric]) / len(costs[metric]) for costs in every)},
            "costs": {label: costs[metric] for label, costs in zip(labels, every, strict=True)},
        }
        for metric in every[0]
    }


def evaluated(world: World, seed: int, *, is_noisy: bool = True) -> dict[str, Any]:
    """Return the document of an evaluation of the candidates."""
    panel, every = algorithms(0), algorithms(len(world.candidates))
    environments = suite().environments
    # The stored panel has its own seed, as a user's run may have another one.
    draws = Draws(world, 2 * seed, is_noisy=is_noisy)
    data = suite_data(suite(), panel, stored(world, 2 * seed + 1, is_noisy=is_noisy))
    plan = {
        "build": _core.BUILD,
        "seed": 2 * seed,
        "sets": [],
        "metric": "shares",
        "weights": {},
        "algorithms": [algorithm_data(each) for each in every],
        "candidates": list(range(len(panel), len(every))),
        "random": [[is_noisy] * len(every) for _ in environments],
        "limits": {
            "most": REPLICATES if world.budget is None else 80,
            "settled": REPLICATES,
            "budget": world.budget and {"text": f"{world.budget}", "amount": world.budget, "events": None},
        },
    }
    race = _core.Race(json.dumps(data), json.dumps(plan))
    done = dict.fromkeys(range(len(every)), 0)
    while (wanted := race.wanted()) is not None:
        replicates, taking_part = wanted
        values = [
            (
                place,
                algorithm,
                [
                    draws.values(place, environment, algorithm, replicate)
                    for replicate in range(done[algorithm], replicates)
                ],
            )
            for place, environment in enumerate(environments)
            for algorithm in taking_part
        ]
        race.add(values, [])
        done |= dict.fromkeys(taking_part, replicates)
    document: dict[str, Any] = json.loads(race.evaluation_json("{}"))["document"]
    return document


@cache
def truth(world: World) -> dict[str, Any]:
    """Return the document without noise, whose figures are true."""
    return evaluated(world, 1, is_noisy=False)


@dataclass(frozen=True)
class Found:
    """How often something happened, and the bounds of that part in percent."""

    noise: str
    figure: str
    percent: float
    trials: int
    low: float
    high: float

    @property
    def is_sound(self) -> bool:
        """Whether the part lies within the bounds, except for its sampling error."""
        return self.low - self._error(self.low) <= self.percent <= self.high + self._error(self.high)

    def _error(self, bound: float) -> float:
        """Return two standard deviations of the part if its true value is the bound."""
        return 2 * math.sqrt(bound * (100 - bound) / self.trials)


class Counts:
    """Counts how often things happened."""

    def __init__(self, noise: str) -> None:
        self._noise = noise
        self._counted: dict[str, tuple[int, int, float, float]] = {}

    def add(self, figure: str, happened: bool, *, low: float = 0.0, high: float = 100.0) -> None:
        """Count one trial of a figure with its bounds in percent."""
        before, trials, *_ = self._counted.get(figure, (0, 0))
        self._counted[figure] = (before + happened, trials + 1, low, high)

    def found(self) -> list[Found]:
        """Return the parts of all figures."""
        return [
            Found(self._noise, figure, 100 * happened / trials, trials, low, high)
            for figure, (happened, trials, low, high) in self._counted.items()
        ]


def contains(interval: dict[str, float], truth: float) -> bool:
    """Return whether an interval contains the true figure."""
    return interval["low"] <= truth <= interval["high"]


def of_equals(counts: Counts, noise: str, seed: int) -> None:
    """Compare an algorithm with an equal reference."""
    world = World(noise, (0.0,))
    document = evaluated(world, seed)
    for environment in document["environments"]:
        for name, score in environment["scores"][0]["metrics"].items():
            if name != "goodput":
                counts.add("equal algorithms: marked cells", score["judgement"] != "", high=6.0)
    counts.add("equal algorithms: verdicts with a difference", SILENT not in document["verdict"], high=5.0)
    (same,) = (each for each in document["competitors"] if each["competitor"] == "aimd")
    counts.add("equal algorithms: better or worse by score", same["judgement"] != "", high=6.0)
    intervals(counts, noise, document, truth(world))


def of_different(counts: Counts, noise: str, seed: int) -> None:
    """Compare an algorithm with a reference that is worse by one standard deviation in each metric."""
    world = World(noise, (1.0,))
    document = evaluated(world, seed)
    for environment in document["environments"]:
        for name, score in environment["scores"][0]["metrics"].items():
            if name not in ("goodput", "watch"):
                counts.add("one deviation better: marked better", score["judgement"] == "better")
                counts.add("one deviation better: marked worse", score["judgement"] == "worse", high=0.5)
    (worse,) = (each for each in document["competitors"] if each["competitor"] == "aimd")
    counts.add("one deviation better: better by score", worse["judgement"] == "better", low=95.0)
    intervals(counts, noise, document, truth(world))


def intervals(counts: Counts, noise: str, document: dict[str, Any], true: dict[str, Any]) -> None:
    """Count the intervals of the candidate that contain the true figures."""
    low = 93.0 if noise in COVERED else 0.0
    for environment, means in zip(document["environments"], true["environments"], strict=True):
        metrics, true_metrics = (each["scores"][0]["metrics"] for each in (environment, means))
        for name, metric in metrics.items():
            counts.add("intervals of means", contains(metric, true_metrics[name]["mean"]), low=low)
    true_score = true["ranking"][0]["score"]
    counts.add("intervals of the score", contains(document["ranking"][0], true_score), low=low)
    regrets, true_regrets = (each["regrets"][0]["metrics"] for each in (document, true))
    for name, regret in regrets.items():
        for figure, label in (("worst_case", "worst case"), ("total", "total")):
            is_held = contains(regret[figure], true_regrets[name][figure]["mean"])
            counts.add(f"intervals of the {label}", is_held, low=low)


def of_noise_floor(counts: Counts, noise: str, seed: int) -> None:
    """Compare an algorithm with a panel whose algorithms all equal it."""
    document = evaluated(World(noise, (0.0,), panel=(0.0,) * len(PANEL)), seed)
    for regret in document["regrets"][0]["metrics"].values():
        floor = regret["noise_floor"]["worst_case_high"]
        counts.add(
            "all equal: worst case above its noise floor", regret["worst_case"]["mean"] > floor, high=6.0
        )


def of_starved(counts: Counts, noise: str, seed: int) -> None:
    """Let every competitor achieve exactly the fair-share ratio below which it counts as starved."""
    document = evaluated(World(noise, (0.0,), share=0.2), seed)
    starved = any(each["starved"] == "yes" for each in document["competitors"])
    high = 6.0 if noise in COVERED else 100.0
    counts.add("shares at the limit: starved in any environment", starved, high=high)


def of_race(counts: Counts, noise: str, seed: int) -> None:
    """Race eight equal algorithms, and a better one against seven equal ones."""
    equals = evaluated(World(noise, (0.0,) * 8, budget=6000), seed)
    is_called = any(each["standing"] in ("dropped", "worse") for each in equals["ranking"])
    counts.add("race of equals: any called worse", is_called, high=5.0)
    places = evaluated(World(noise, (0.5, *(0.0,) * 7), budget=6000), seed)["ranking"]
    best = next(each for each in places if each["index"] == 0)
    is_lost = best["standing"] in ("dropped", "worse")
    counts.add("race: the best called worse", is_lost, high=5.0)
    counts.add("race: others called worse", places[-1]["standing"] in ("dropped", "worse"))


#: The parts of the simulation, and the share of the tables that each one draws.
PARTS: tuple[tuple[Callable[[Counts, str, int], None], float], ...] = (
    (of_equals, 1.0),
    (of_different, 0.5),
    (of_noise_floor, 0.5),
    (of_starved, 1.0),
    (of_race, 0.5),
)


def simulated(noise: str, tables: int) -> list[Found]:
    """Draw tables with one noise, and return all figures."""
    counts = Counts(noise)
    for part, share in PARTS:
        for seed in range(1, 1 + math.ceil(share * tables)):
            part(counts, noise, seed)
    return counts.found()


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate all noises, print a table or JSON, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=60, help="tables per noise")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    with ProcessPoolExecutor(chosen.workers) as pool:
        rows = [
            each for found in pool.map(simulated, NOISES, itertools.repeat(chosen.tables)) for each in found
        ]
    if chosen.json:
        print(json.dumps([asdict(each) for each in rows], indent=1))
    else:
        for each in rows:
            bounds = f"{each.low:g} to {each.high:g} %"
            mark = "" if each.is_sound else "  OUTSIDE"
            print(
                f"{each.noise:9} {each.figure:48} {each.percent:6.2f} % of {each.trials:6} ({bounds}){mark}"
            )
        print(f"{sum(each.is_sound for each in rows)} of {len(rows)} figures lie within their bounds")
    return 0 if all(each.is_sound for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
