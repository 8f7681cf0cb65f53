"""Run random scenarios twice through a kernel in virtual time, and compare the results byte by byte.

The first runs go one after another, the second ones side by side, with load on all cores.

    determinism.py [--runs 200] [--seed 1] [--kernel VERSION]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ackclock import Scenario, _core, kernel
from ackclock.kernels import store

#: Seconds of virtual time.
DURATION = "6 s"
ALGORITHMS: list[Any] = [
    "reno",
    "cubic",
    "bbr1",
    "new-aimd",
    "mimd",
    {"kind": "aimd", "increase": 2, "remaining": 0.8},
    {"kind": "rule", "grow": "1 / w", "cut": "0.7 * w"},
]


def queue(draw: random.Random, rate: float) -> dict[str, Any]:
    """Return a queue of at least two packets."""
    kind = draw.choice(["drop-tail", "drop-tail", "codel", "fq-codel", "red"])
    if kind == "drop-tail":
        return {"kind": kind, "limit": f"{draw.choice([2, 10, 50, round(rate * 5) + 2])} packets"}
    return {"kind": kind, "ecn": draw.random() < 0.5}


def scenario(draw: random.Random) -> Scenario:
    """Return a scenario at random: path, queue, impairments, flows and traffic."""
    rate = draw.choice([0.5, 1.0, 5.0, 10.0, 50.0, 100.0])
    topology: dict[str, Any] = {
        "kind": "dumbbell",
        "rate": f"{rate} Mbit/s",
        "delay": f"{draw.choice([0, 1, 5, 20, 50, 150])} ms",
        "queue": queue(draw, rate),
    }
    if draw.random() < 0.4:
        topology["loss"] = {"kind": "bernoulli", "probability": draw.choice([1e-3, 0.01, 0.1])}
    if draw.random() < 0.3:
        topology["jitter"] = "3 ms"
        topology["jitter_reorders"] = draw.random() < 0.5
    if draw.random() < 0.2:
        topology["duplication"] = 0.01
    if draw.random() < 0.2:
        topology["corruption"] = 0.01
    if draw.random() < 0.3:
        topology["access"] = {"rate": "200 Mbit/s", "delay": "2 ms"}
    has_ecn = topology["queue"].get("ecn", False)
    flows = []
    for number in range(draw.randint(1, 4)):
        flow: dict[str, Any] = {
            "name": f"flow{number}",
            "cc": draw.choice(ALGORITHMS),
            "count": draw.choice([1, 1, 2, 5]),
            "start": f"{draw.choice([0, 0, 500, 1500])} ms",
            "send_jitter": draw.choice(["0 s", "1 packet"]),
            "ecn": "classic" if has_ecn else "off",
        }
        traffic = draw.choice(["bulk", "bulk", "transfer", "rate-limited"])
        if traffic == "transfer":
            flow["traffic"] = {"kind": "transfer", "size": f"{draw.choice([1, 50, 2000])} kB"}
        elif traffic == "rate-limited":
            flow["traffic"] = {"kind": "rate-limited", "rate": "300 kbit/s"}
        elif draw.random() < 0.3:
            flow["stop"] = "4 s"
        if draw.random() < 0.3:
            flow["rtt"] = "400 ms"
        flows.append(flow)
    return Scenario(duration=DURATION, warmup="1 s", topology=topology, flows=flows)


class Side:
    """Runs of one kernel."""

    def __init__(self, which: str | None) -> None:
        found = store.find(which)
        self._kernel = (found.image, found.initrd, found.title)

    def run(self, given: tuple[int, Scenario]) -> tuple[str, bytes]:
        """Return the result of a run without its cost, and its packets. An error is the result of a run."""
        seed, scenario = given
        core = scenario._core
        names = [flow["name"] for flow in json.loads(scenario.resolved_json)["flows"]]
        try:
            run = core.emulate(
                seed, 0, capture=("sender", names, 96), objects=kernel.folder(), kernel=self._kernel
            )
        except (_core.BackendError, _core.RunError) as error:
            return f"{type(error).__name__}: {error}", b""
        document = json.loads(run.to_json())
        del document["engine_cpu_s"]
        return json.dumps(document), run.pcapng(96)


def burn() -> None:
    """Keep a core busy."""
    while True:
        pass


def main() -> int:
    """Compare the runs. Returns 1 if two differ or one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernel")
    asked = parser.parse_args()
    draw = random.Random(asked.seed)
    given = [(draw.randrange(1 << 30), scenario(draw)) for _ in range(asked.runs)]
    side = Side(asked.kernel)
    first = [side.run(each) for each in given]
    load = [multiprocessing.Process(target=burn, daemon=True) for _ in range(multiprocessing.cpu_count())]
    for process in load:
        process.start()
    with ThreadPoolExecutor(2) as workers:
        second = list(workers.map(side.run, given))
    for process in load:
        process.kill()
    failed = [number for number, (result, packets) in enumerate(first) if not packets]
    differ = [number for number in range(asked.runs) if first[number] != second[number]]
    for number in sorted({*failed, *differ}):
        seed, each = given[number]
        what = first[number][0] if number in failed else "differs from its repetition"
        print(f"run {number}, seed {seed}: {what}\n{each.resolved_json}", file=sys.stderr)
    print(f"{asked.runs} runs, {len(failed)} failed, {len(differ)} differ from their repetition")
    return 1 if failed or differ else 0


if __name__ == "__main__":
    sys.exit(main())
