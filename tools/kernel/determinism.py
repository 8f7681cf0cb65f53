"""Run random scenarios twice with a kernel in virtual time, and compare the results byte by byte.

    python tools/kernel/determinism.py                 200 scenarios
    python tools/kernel/determinism.py --runs 60       other scenarios with --seed
    python tools/kernel/determinism.py --number 17     only one of them
    python tools/kernel/determinism.py --load 1        busy loops beside the second runs; one for each core

The first runs go one after another, the second ones side by side, with load. The results without
`engine_cpu_s` and the captures of both runs are compared. A run that fails or does not end is reported too.
`--keep` takes a folder for the scenarios of such runs.

The exit code is 1 if two runs differ or one fails, and 77 without a kernel.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ackclock import Scenario
from ackclock.cli.console import progress
from ackclock.errors import BackendError, InputError, RunError
from ackclock.running.backend import chosen as backend_of
from ackclock.running.job import Capture, Job, execute
from ackclock.running.work import Study

#: Seconds of virtual time.
DURATION = "6 s"
#: The largest number of flows of a scenario.
MOST_FLOWS = 20
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
    left = MOST_FLOWS
    for number in range(draw.randint(1, 4)):
        count = min(draw.choice([1, 1, 2, 5, 12]), left)
        if count == 0:
            break
        left -= count
        flow: dict[str, Any] = {
            "name": f"flow{number}",
            "cc": draw.choice(ALGORITHMS),
            "count": count,
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
        if number > 0 and draw.random() < 0.25:
            flow["stack"] = "simulated"
        flows.append(flow)
    return Scenario(duration=DURATION, warmup="1 s", topology=topology, flows=flows)


def run(job: Job) -> tuple[str, bytes]:
    """Return the result of a run without its cost, and its packets. A failed run has no packets."""
    try:
        outcome = execute(job)
    except (BackendError, RunError) as error:
        return f"{type(error).__name__}: {error}", b""
    document = json.loads(outcome.result_json)
    del document["engine_cpu_s"]
    return json.dumps(document), outcome.pcapng or b""


def burn() -> None:
    """Keep a core busy."""
    while True:
        pass


def place_of_difference(one: tuple[str, bytes], other: tuple[str, bytes]) -> str:
    """Return where two runs differ."""
    if one[0] != other[0]:
        here, there = (json.loads(result) if packets else result for result, packets in (one, other))
        if isinstance(here, dict) and isinstance(there, dict):
            return ", ".join(key for key in here if here[key] != there.get(key)) + " differ"
        return f"one run failed: {here if isinstance(here, str) else there}"
    at = next((at for at, pair in enumerate(zip(one[1], other[1], strict=False)) if pair[0] != pair[1]), -1)
    return f"the captures of {len(one[1])} and {len(other[1])} B differ at byte {at}"


def main() -> int:
    """Compare the runs. Returns 1 if two differ or one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, help="scenarios. Default: 200")
    parser.add_argument("--seed", type=int, default=1, help="seed of the scenarios. Default: 1")
    parser.add_argument("--number", type=int, help="run only the scenario of this number")
    parser.add_argument("--load", type=int, default=multiprocessing.cpu_count(), help="busy loops")
    parser.add_argument("--keep", type=Path, help="folder for scenarios of runs that differ or fail")
    parser.add_argument("--kernel", help="the kernel, as for `ackclock run`. Default: the newest")
    asked = parser.parse_args()
    try:
        backend = backend_of("kernel", asked.kernel)
    except InputError as error:
        print(f"nothing can be compared here: {error}", file=sys.stderr)
        return 77
    draw = random.Random(asked.seed)
    packets = Capture("sender", (), snaplen=96)
    jobs = [
        job
        for _ in range(asked.runs)
        for job in Study.of(
            scenario(draw), seed=draw.randrange(1 << 30), samples=False, capture=packets, backend=backend
        ).jobs
    ]
    chosen = [number for number in range(asked.runs) if asked.number in (None, number)]
    with progress("one after another") as tell:
        first = {}
        for number in chosen:
            first[number] = run(jobs[number])
            tell(len(first), len(chosen))
    load = [multiprocessing.Process(target=burn, daemon=True) for _ in range(asked.load)]
    for process in load:
        process.start()
    with progress("side by side") as tell, ThreadPoolExecutor(2) as workers:
        second = {}
        for number, found in zip(chosen, workers.map(lambda number: run(jobs[number]), chosen), strict=True):
            second[number] = found
            tell(len(second), len(chosen))
    for process in load:
        process.kill()
    failed = [number for number, (_, captured) in first.items() if not captured]
    differ = [number for number in chosen if first[number] != second[number]]
    for number in sorted({*failed, *differ}):
        job = jobs[number]
        what = first[number][0] if number in failed else place_of_difference(first[number], second[number])
        print(f"scenario {number}, seed {job.seed}: {what}", file=sys.stderr)
        if asked.keep is not None:
            asked.keep.mkdir(parents=True, exist_ok=True)
            (asked.keep / f"{number}.json").write_text(job.scenario_json, encoding="utf-8")
    print(f"{len(chosen)} runs, {len(failed)} failed, {len(differ)} differ from their repetition")
    return 1 if failed or differ else 0


if __name__ == "__main__":
    sys.exit(main())
