"""Measures the speed, the start and the memory of Linux kernels in virtual time.

    python tools/kernel/virtual_speed.py            all figures, half a minute on an idle machine
    python tools/kernel/virtual_speed.py --write    also write virtual_speed.json, for the documentation

    speed          simulated seconds per CPU second of ackclock and both guests
    start          the shortest time of a run of 1 ms on the wall clock
    memory         the largest proportional set size (PSS) of both guests together
    side by side   simulated seconds of all runs per second on the wall clock, with two workers

Each case runs three times. A speed is the median. Other processes lower the figures of the wall clock.
The exit code is 77 without a kernel.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import ackclock
from ackclock import Scenario
from ackclock.errors import InputError
from ackclock.kernels import store

RESULTS = Path(__file__).with_name("virtual_speed.json")
REPEATS = 3
RTT_MS = 40
#: A case: its rate in Mbit/s, its flows and its simulated seconds.
CASES = {
    "10 Mbit/s, 1 flow": (10, 1, 60),
    "100 Mbit/s, 1 flow": (100, 1, 20),
    "100 Mbit/s, 100 flows": (100, 100, 10),
    "1 Gbit/s, 1 flow": (1000, 1, 5),
}
SIDE_BY_SIDE, WORKERS = 8, 2
#: Seconds between two measurements of the memory.
GLANCE_S = 0.05


def scenario(mbit: int, flows: int, seconds: float) -> Scenario:
    """Return a dumbbell with a queue of one BDP."""
    return Scenario.from_dict(
        {
            "schema": 2,
            "duration": f"{seconds:.3f} s",
            "warmup": "0 s",
            "topology": {
                "kind": "dumbbell",
                "rate": f"{mbit} Mbit/s",
                "delay": f"{RTT_MS / 2:g} ms",
                "queue": {"kind": "drop-tail", "limit": "1 BDP"},
            },
            "flows": [{"name": "test", "cc": "cubic", "count": flows, "send_jitter": "1 packet"}],
        }
    )


def seconds_of(work: Callable[[], object]) -> float:
    """Return the time of a piece of work on the wall clock."""
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def guests() -> Iterator[int]:
    """Yield the processes that this one started."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == os.getpid():
            yield int(status.parent.name)


def memory_bytes() -> int:
    """Return the memory of all guests."""
    total = 0
    for guest in guests():
        try:
            found = re.search(
                r"^Pss: +(\d+) kB", Path(f"/proc/{guest}/smaps_rollup").read_text(), re.MULTILINE
            )
        except OSError:
            continue
        total += 1024 * int(found[1]) if found else 0
    return total


def most_memory(work: Callable[[], object]) -> int:
    """Return the largest memory of the guests of a piece of work."""
    found = [0]
    ended = threading.Event()

    def glance() -> None:
        while not ended.wait(GLANCE_S):
            found.append(memory_bytes())

    reader = threading.Thread(target=glance)
    reader.start()
    work()
    ended.set()
    reader.join()
    return max(found)


def measured(kernel: store.Kernel) -> dict[str, str]:
    """Return all figures, each as words."""
    place = (kernel.image, kernel.title, dict[str, str]())

    def run(case: Scenario, seed: int = 1) -> float:
        """Return the CPU time."""
        document = json.loads(case._core.emulate(seed, 0, kernel=place).to_json())
        return float(document["engine_cpu_s"])

    found = {}
    for name, (mbit, flows, length_s) in CASES.items():
        case = scenario(mbit, flows, length_s)
        cpu_s = statistics.median(run(case) for _ in range(REPEATS))
        found[f"{name}: speed"] = f"{length_s / cpu_s:.1f} s per CPU second"
    brief = scenario(10, 1, 1e-3)
    found["start"] = f"{1e3 * min(seconds_of(lambda: run(brief)) for _ in range(REPEATS)):.0f} ms"
    slow = scenario(*CASES["10 Mbit/s, 1 flow"])
    for name in ("10 Mbit/s, 1 flow", "100 Mbit/s, 100 flows"):
        case = scenario(*CASES[name])
        found[f"{name}: memory of both guests"] = f"{most_memory(partial(run, case)) / 1e6:.1f} MB"
    with ThreadPoolExecutor(WORKERS) as workers:
        taken = seconds_of(lambda: list(workers.map(lambda seed: run(slow, seed), range(SIDE_BY_SIDE))))
    rate = SIDE_BY_SIDE * CASES["10 Mbit/s, 1 flow"][2] / taken
    found[f"10 Mbit/s, 1 flow: {SIDE_BY_SIDE} runs by {WORKERS} workers"] = f"{rate:.0f} s per second"
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernel", help="the kernel, as for `ackclock run`. Default: the newest")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    given = parser.parse_args()
    try:
        kernel = store.find(given.kernel)
    except InputError as error:
        print(f"nothing can be measured here: {error}", file=sys.stderr)
        return 77
    found = measured(kernel)
    for name, figure in found.items():
        print(f"{name}: {figure}")
    if given.write:
        made = f"{kernel.title}, {time.strftime('%Y-%m-%d', time.gmtime())}, ackclock {ackclock.__version__}"
        RESULTS.write_text(json.dumps({"made": made, "figures": found}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
