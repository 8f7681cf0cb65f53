"""Compares queues with ns-3's on the same arrivals: CoDel by drops, the token bucket by departures.

`make compare-ns3` runs it, and `--seeds N` draws more arrivals. The exit code is 1 if a line is not met.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import ns3_program
from ackclock import _core

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = HERE / "aqm.cc"
PROGRAM = ROOT / "target" / "ns3" / "aqm"
MODULES = ("traffic-control", "network", "core")

#: A byte takes a whole microsecond, so that nothing is rounded.
RATE_BPS = 8_000_000
MTU = 1500
BURST = 15_000
Arrival = tuple[int, int, int]
Event = tuple[int, int, str]


def arrivals(seed: int, packets: int) -> list[Arrival]:
    """Poisson arrivals of packets of several sizes, with loads that change between 0.3 and 2 of the rate."""
    draw = random.Random(seed)
    at_ns, rows, load = 0.0, [], 1.0
    for number in range(packets):
        if number % 500 == 0:
            load = draw.choice((0.3, 0.8, 1.0, 1.2, 2.0))
        size = draw.choice((MTU, MTU, MTU, 576, 40))
        at_ns += draw.expovariate(1.0) * 8e9 * 1000 / RATE_BPS / load
        rows.append((int(at_ns), size, draw.randrange(16)))
    return rows


def in_ns3(kind: str, size: int, rows: Sequence[Arrival]) -> list[Event]:
    """Run ns-3's queue. `size` is the MTU of CoDel or the burst of a token bucket, in bytes."""
    text = "".join(f"{at_ns} {size} {flow}\n" for at_ns, size, flow in rows)
    command = [str(PROGRAM), kind, str(RATE_BPS), str(size)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    lines = (line.split() for line in done.stdout.splitlines())
    return [(int(at_ns), int(number), what) for at_ns, number, what in lines]


def in_ackclock(queue: dict[str, str], rate_bps: int, rows: Iterable[Arrival]) -> list[Event]:
    """Run a queue of ackclock on the same arrivals."""
    events = _core.serve_queue(json.dumps(queue), rate_bps, 1, [(*row, False) for row in rows])
    return [(at_ns, number, what) for at_ns, number, what, _ in events]


def codel(seed: int, packets: int) -> tuple[bool, str]:
    """Drops of CoDel with Newton's method: the same packets at the same nanosecond?"""
    rows = arrivals(seed, packets)
    queue = {"kind": "codel", "limit": "1000000 packets", "control_law": "newton", "mtu": f"{MTU} B"}
    ours, theirs = in_ackclock(queue, RATE_BPS, rows), in_ns3("codel", MTU, rows)
    drops = [[event for event in side if event[2] == "dropped"] for side in (ours, theirs)]
    same = sum(one == other for one, other in zip(*drops, strict=False))
    met = drops[0] == drops[1] and len(drops[0]) > 0
    counts = f"{len(drops[0])} drops here, {len(drops[1])} in ns-3"
    return met, f"{counts}, {same} the same packet at the same time"


def token_bucket(seed: int, packets: int) -> tuple[bool, str]:
    """Departures of the token bucket: ns-3 counts tokens in whole bytes, each of 1 us."""
    rows = arrivals(seed, packets)
    queue = {"kind": "tbf", "limit": "1000000 packets", "rate": f"{RATE_BPS} bit/s", "burst": f"{BURST} B"}
    # A link on which a packet takes 12 ns at the most.
    ours = {number: at_ns for at_ns, number, _ in in_ackclock(queue, 1_000_000_000_000, rows)}
    theirs = {number: at_ns for at_ns, number, _ in in_ns3("tbf", BURST, rows)}
    apart = [abs(ours[number] - theirs.get(number, -1)) for number in ours]
    largest, byte_ns = max(apart), 8e9 / RATE_BPS
    met = ours.keys() == theirs.keys() and largest <= 20 * byte_ns
    return met, f"{len(ours)} departures, at most {largest / byte_ns:.1f} bytes of tokens apart"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare. Return 1 if a line is not met, and 77 without ns-3."""
    parser = argparse.ArgumentParser(description="Compare queues with those of ns-3 on the same arrivals.")
    parser.add_argument(
        "--seeds", type=int, default=20, metavar="N", help="how many courses of arrivals (20)"
    )
    parser.add_argument("--packets", type=int, default=20_000, metavar="N", help="arrivals in each (20000)")
    options = parser.parse_args(arguments)
    problem = ns3_program.compiled(SOURCE, PROGRAM, MODULES)
    if problem is not None:
        print(f"compare-ns3: skipped, ns-3: {problem}")
        return 77
    failures = 0
    for name, compare in (("codel, newton", codel), ("tbf", token_bucket)):
        for seed in range(1, options.seeds + 1):
            met, words = compare(seed, options.packets)
            failures += not met
            print(f"{name:14} seed {seed:3}  {'same' if met else 'NOT THE SAME'}: {words}")
    print(f"{2 * options.seeds} comparisons, {failures} not met")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
