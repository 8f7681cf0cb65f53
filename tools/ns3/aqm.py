"""Compares queues with ns-3's on the same arrivals.

CoDel is compared by drops, the token bucket by departures, and other queues by statistics.

`make compare-ns3` runs it, and `--seeds N` draws more arrivals. The exit code is 1 if a line is not met.
"""

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
#: Of the random queues: bounds of mean and 95th percentile of sojourn times, and of drops and marks.
SOJOURN_BOUND, COUNT_BOUND = 0.07, 0.10
Arrival = tuple[int, int, int, bool]
Event = tuple[int, int, str]


#: Sizes of packets.
SIZES = (MTU, MTU, MTU, 576, 40)


def arrivals(seed: int, packets: int, sizes: Sequence[int] = SIZES) -> list[Arrival]:
    """Poisson arrivals of packets of these sizes, with loads that change between 0.3 and 2 of the rate."""
    draw = random.Random(seed)
    at_ns, rows, load = 0.0, [], 1.0
    for number in range(packets):
        if number % 500 == 0:
            load = draw.choice((0.3, 0.8, 1.0, 1.2, 2.0))
        size = draw.choice(sizes)
        at_ns += draw.expovariate(1.0) * 8e9 * 1000 / RATE_BPS / load
        flow = draw.randrange(16)
        # Half of the flows are ECN-capable.
        rows.append((int(at_ns), size, flow, flow % 2 == 1))
    return rows


def in_ns3(kind: str, size: int, rows: Sequence[Arrival]) -> list[Event]:
    """Run ns-3's queue. `size` is the MTU of CoDel or the burst of a token bucket, in bytes."""
    text = "".join(f"{at_ns} {size} {flow} {capable:d}\n" for at_ns, size, flow, capable in rows)
    command = [str(PROGRAM), kind, str(RATE_BPS), str(size)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    lines = (line.split() for line in done.stdout.splitlines())
    return [(int(at_ns), int(number), what) for at_ns, number, what in lines]


def in_ackclock(queue: Mapping[str, object], rate_bps: int, rows: Iterable[Arrival]) -> list[Event]:
    """Run a queue of ackclock on the same arrivals."""
    events = _core.serve_queue(json.dumps(queue), rate_bps, 1, list(rows))
    return [(at_ns, number, what) for at_ns, number, what, _ in events]


def codel(seed: int, packets: int) -> tuple[bool, str]:
    """Drops of CoDel with Newton's method: the same packets at the same nanosecond?"""
    rows = [(*row[:3], False) for row in arrivals(seed, packets)]
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


#: Queues without random numbers: each packet is compared.
EXACT = {"codel": codel, "tbf": token_bucket}
AMPLE = {"limit": "1000000 packets"}
MANY = {"flows": 65_536}
#: ns-3 permits a burst once in 1.5 s at most, and RFC 8033 after each quiet time. Here neither permits one.
PLAIN = {"variant": "rfc", "max_burst": "0 s", "ecn": True}


@dataclass(frozen=True)
class Pair:
    """A queue of ackclock, and its name in `aqm.cc`."""

    theirs: str
    ours: dict[str, object]
    sizes: tuple[int, ...] = SIZES
    #: The number of packets of a seed, if it is limited.
    most: int = sys.maxsize


#: Queues with random numbers.
RANDOM = {
    # PIE of ns-3 drops nothing from a queue of two packets, and RFC 8033 from two large ones.
    "pie": Pair("pie", {"kind": "pie", **PLAIN, **AMPLE}, (MTU,)),
    "fq-pie": Pair("fq-pie", {"kind": "fq-pie", **PLAIN, **AMPLE, **MANY}, (MTU,)),
    "cobalt": Pair("cobalt", {"kind": "cobalt", "ecn": True, **AMPLE}),
    # BLUE of ns-3.44 works for 4.29 s, because the time of its last step has 32 bits of nanoseconds.
    "cobalt-blue": Pair(
        "cobalt-blue", {"kind": "cobalt", "blue_threshold": "50 ms", "ecn": True, **AMPLE}, most=2_500
    ),
    "fq-cobalt": Pair("fq-cobalt", {"kind": "fq-cobalt", **AMPLE, **MANY}),
}


def figures(events: Sequence[Event], rows: Sequence[Arrival]) -> dict[str, float]:
    """Return mean and 95th percentile of sojourn times in milliseconds, and counts of drops and marks."""
    sojourns = sorted((at_ns - rows[number][0]) / 1e6 for at_ns, number, what in events if what == "sent")
    dropped = {number for _, number, what in events if what == "dropped"}
    # ns-3's BLUE may drop a packet that was marked.
    marked = {number for _, number, what in events if what == "marked"} - dropped
    return {
        "mean": sum(sojourns) / len(sojourns),
        "95th": sojourns[len(sojourns) * 95 // 100],
        "drops": len(dropped),
        "marks": len(marked),
    }


def statistics(name: str, seeds: int, packets: int) -> tuple[bool, str]:
    """Compare the figures of a random queue, pooled over the seeds."""
    pair = RANDOM[name]
    packets = min(packets, pair.most)
    ours, theirs = Counter[str](), Counter[str]()
    for seed in range(1, seeds + 1):
        rows = arrivals(seed, packets, pair.sizes)
        ours.update(figures(in_ackclock(pair.ours, RATE_BPS, rows), rows))
        theirs.update(figures(in_ns3(pair.theirs, MTU, rows), rows))
    apart = {figure: ours[figure] / theirs[figure] - 1.0 if theirs[figure] else 0.0 for figure in ours}
    bounds = {"mean": SOJOURN_BOUND, "95th": SOJOURN_BOUND, "drops": COUNT_BOUND, "marks": COUNT_BOUND}
    met = theirs["drops"] > 0 and all(abs(apart[figure]) <= bound for figure, bound in bounds.items())
    units = {"mean": " ms", "95th": " ms", "drops": "", "marks": ""}
    words = (
        f"{figure} {theirs[figure] / seeds:.4g}{units[figure]} {apart[figure]:+.1%}" for figure in bounds
    )
    return met, ", ".join(words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare. Return 1 if a line is not met, and 77 without ns-3."""
    parser = argparse.ArgumentParser(
        description="Compare queues with the queues of ns-3 on the same arrivals."
    )
    names = [*EXACT, *RANDOM]
    parser.add_argument("queues", nargs="*", metavar="QUEUE", help=f"among {'; '.join(names)} (all)")
    parser.add_argument(
        "--seeds", type=int, default=20, metavar="N", help="how many courses of arrivals (20)"
    )
    parser.add_argument("--packets", type=int, default=20_000, metavar="N", help="arrivals in each (20000)")
    options = parser.parse_args(arguments)
    chosen = options.queues or names
    if unknown := set(chosen) - set(names):
        parser.error(f"unknown queue {min(unknown)!r}; use one of {'; '.join(names)}")
    problem = ns3_program.compiled_with_wheel(SOURCE, PROGRAM, MODULES)
    if problem is not None:
        print(f"compare-ns3: skipped, ns-3: {problem}")
        return 77
    failures = 0
    compared = 0
    for name in filter(chosen.__contains__, EXACT):
        for seed in range(1, options.seeds + 1):
            met, words = EXACT[name](seed, options.packets)
            compared, failures = compared + 1, failures + (not met)
            print(f"{name:14} seed {seed:3}  {'same' if met else 'NOT THE SAME'}: {words}")
    for name in filter(chosen.__contains__, RANDOM):
        met, words = statistics(name, options.seeds, options.packets)
        compared, failures = compared + 1, failures + (not met)
        print(f"{name:14} {options.seeds} seeds  {'within bounds' if met else 'OUT OF BOUNDS'}: {words}")
    print(f"{compared} comparisons, {failures} not met")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
