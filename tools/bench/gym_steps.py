"""Measures the steps of `ackclock.gym` per CPU second.

    python tools/bench/gym_steps.py [--steps N] [--rounds N]

One flow runs at 10 Mbit/s, with steps of 10 ms and an observation of ten numbers. The output shows one
environment and sixteen together, each with the median and the range of the rounds. CPU seconds cover the
whole process with all threads. They include the resets of episodes of 60 s, except the first.
"""

import argparse
import statistics
import time

import numpy

from ackclock.cli.console import show
from ackclock.gym import OBSERVATION, FlowEnv, FlowVectorEnv
from ackclock.text.table import Column, Table

SCENARIO = {
    "schema": 2,
    "duration": "60 s",
    "topology": {
        "kind": "dumbbell",
        "rate": "10 Mbit/s",
        "delay": "20 ms",
        "queue": {"kind": "drop-tail", "limit": "2 BDP"},
    },
    "flows": [{"name": "test", "cc": "reno"}],
}
TOGETHER = 16
STEP_S = 0.01


def one(steps: int, seed: int) -> float:
    """Return the steps per CPU second of one environment."""
    env = FlowEnv(SCENARIO, step_s=STEP_S, action="window", observation=OBSERVATION)
    actions = numpy.random.default_rng(seed).uniform(0.8, 2.0, (steps, 1)).astype(numpy.float32)
    env.reset(seed=seed)
    start = time.process_time()
    for action in actions:
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    return steps / (time.process_time() - start)


def many(steps: int, seed: int) -> float:
    """Return the steps per CPU second of many environments."""
    envs = FlowVectorEnv(TOGETHER, SCENARIO, step_s=STEP_S, action="window", observation=OBSERVATION)
    rounds = max(1, steps // TOGETHER)
    drawn = numpy.random.default_rng(seed).uniform(0.8, 2.0, (rounds, TOGETHER, 1))
    actions = drawn.astype(numpy.float32)
    envs.reset(seed=seed)
    start = time.process_time()
    for each in actions:
        envs.step(each)
    return rounds * TOGETHER / (time.process_time() - start)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    figures = (Column(heading, right=True) for heading in ("steps per CPU second", "least", "most"))
    table = Table("environments", *figures)
    for name, measure in (("1", one), (str(TOGETHER), many)):
        speeds = [measure(arguments.steps, seed) for seed in range(arguments.rounds)]
        table.add_row(
            name, *(f"{speed:,.0f}" for speed in (statistics.median(speeds), min(speeds), max(speeds)))
        )
    show(table)


if __name__ == "__main__":
    main()
