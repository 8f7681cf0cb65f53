"""Learn the gain of a delay controller by a search in a Gymnasium environment.

    python examples/learn_gain.py

Every 50 ms the window is multiplied by 2 to the power of `gain * (target - queueing delay)`, with delays in
base RTTs. A small gain takes seconds to fill the path. A large gain oscillates around the target, because it
acts on delays that are one RTT old. Each round of the search runs sixteen gains at the same time. It then
narrows the range around the best one. It needs only `python -m pip install gymnasium`.
"""

from __future__ import annotations

import argparse

import numpy

from ackclock.gym import FlowVectorEnv

#: Queueing delay to aim at, in base RTTs.
TARGET = 0.1
#: The gains among which the search begins.
LEAST, MOST = 0.01, 100.0
#: Gains of a round, and episodes that each gain is tried on.
GAINS, EPISODES = 16, 4
STEP_S, STEPS = 0.05, 200
SCENARIO = {
    "schema": 2,
    "duration": f"{STEP_S * STEPS} s",
    "topology": {
        "kind": "dumbbell",
        "rate": "10 Mbit/s",
        "delay": "25 ms",
        "queue": {"kind": "drop-tail", "limit": "4 BDP"},
    },
    # A window of one segment would wait for delayed ACKs, which looks like a queue.
    "transport": {"delayed_ack": False},
    "flows": [{"name": "test", "cc": "reno"}],
}


def other_path(random: numpy.random.Generator) -> list[str]:
    """Draw the path of an episode."""
    return [
        f"topology.rate={random.uniform(5, 20):.2f} Mbit/s",
        f"topology.delay={random.uniform(10, 40):.1f} ms",
    ]


def returns(gains: numpy.ndarray, seed: int) -> numpy.ndarray:
    """Return the mean reward of each gain, all on the same paths."""
    envs = FlowVectorEnv(
        len(gains) * EPISODES,
        SCENARIO,
        step_s=STEP_S,
        action="factor",
        observation=["queue_delay"],
        reward={"goodput": 1.0, "queue_delay": -1.0, "retransmits": -1.0},
        vary=other_path,
    )
    gain = numpy.repeat(gains, EPISODES)
    observed, _ = envs.reset(seed=[seed + episode for _ in gains for episode in range(EPISODES)])
    total = numpy.zeros(len(gain))
    for _ in range(STEPS):
        actions = numpy.clip(gain * (TARGET - observed[:, 0]), -1, 1)
        observed, rewards, *_ = envs.step(actions[:, None].astype(numpy.float32))
        total += rewards
    return total.reshape(-1, EPISODES).mean(axis=1) / STEPS


def search(rounds: int, seed: int) -> tuple[float, float]:
    """Return the best gain, and its mean reward."""
    least, most = LEAST, MOST
    for number in range(rounds):
        gains = numpy.geomspace(least, most, GAINS)
        found = returns(gains, seed + number * EPISODES)
        place = int(found.argmax())
        best, reward = float(gains[place]), float(found[place])
        print(f"round {number + 1}: gain {best:.3g}, reward {reward:.3f}")
        least, most = gains[max(place - 1, 0)], gains[min(place + 1, GAINS - 1)]
    return best, reward


def main() -> None:
    """Search, and compare on paths that the search has not seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    best, _ = search(arguments.rounds, arguments.seed)
    gains = numpy.array([LEAST, best, MOST])
    for gain, reward in zip(gains, returns(gains, arguments.seed + 1000), strict=True):
        print(f"unseen paths: gain {gain:.3g}, reward {reward:.3f}")


if __name__ == "__main__":
    main()
