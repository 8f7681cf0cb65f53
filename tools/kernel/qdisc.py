"""Compares queues with a kernel's queues in virtual time on the same arrivals.

    python tools/kernel/qdisc.py            # all queues
    python tools/kernel/qdisc.py pie codel  # some of them
    python tools/kernel/qdisc.py --write    # also writes docs/validation/kernel-queues.md

It needs a kernel of `ackclock kernel build`. Each row pools the events of several seeds. Their arrivals are
Poisson, with loads between 0.5 and 1.6 of the rate. Queues without random numbers should drop or mark the
same packets. For the others, the table shows the Kolmogorov-Smirnov distance of the intervals.
"""

import argparse
import json
import random
import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ackclock import _core
from ackclock.kernels import store

PAGE = Path(__file__).resolve().parents[2] / "docs" / "validation" / "kernel-queues.md"
MARKS = ("<!-- queues -->", "<!-- end of queues -->")
RATE_BPS = 10_000_000
BYTES = 1_000
FLOWS = 16
LOADS = (0.5, 0.9, 1.1, 1.3, 1.6)
#: Arrivals for which a load lasts.
STRETCH = 1_000
SEEDS = 20
#: Added to the seed of the arrivals: the seed of the queue.
QUEUE_SEED = 1_000
PACKETS = 20_000
#: Events from which on a distance is a statement.
LEAST_EVENTS = 10_000
#: The largest distance of distributions that agree.
LARGEST_DISTANCE = 0.03

Arrival = tuple[int, int, int, bool]
Event = tuple[int, int, str]


@dataclass(frozen=True)
class Pair:
    """A queue of ackclock and the same one of the kernel."""

    ours: dict[str, object]
    theirs: str
    #: Whether the queue draws random numbers.
    is_random: bool


QUEUES = {
    "drop-tail": Pair({"kind": "drop-tail", "limit": "100 packets"}, "pfifo limit 100", False),
    "codel": Pair(
        {"kind": "codel", "limit": "1000 packets", "control_law": "newton", "mtu": "1500 B"},
        "codel limit 1000 target 5ms interval 100ms noecn",
        False,
    ),
    "fq-codel": Pair(
        {
            "kind": "fq-codel",
            "limit": "10240 packets",
            "variant": "linux",
            "mtu": "1500 B",
            "quantum": "1514 B",
            "flows": 65536,
            "ecn": False,
        },
        "fq_codel limit 10240 flows 65536 quantum 1514 noecn",
        False,
    ),
    "pie": Pair(
        {"kind": "pie", "limit": "1000 packets", "variant": "linux", "mean_packet": "1500 B"},
        "pie limit 1000 target 15ms tupdate 15ms noecn",
        True,
    ),
    "pie, ecn": Pair(
        {"kind": "pie", "limit": "1000 packets", "variant": "linux", "mean_packet": "1500 B", "ecn": True},
        "pie limit 1000 target 15ms tupdate 15ms ecn",
        True,
    ),
    "fq-pie": Pair(
        {
            "kind": "fq-pie",
            "limit": "10240 packets",
            "flows": 2048,
            "quantum": "1500 B",
            "mean_packet": "1500 B",
        },
        "fq_pie limit 10240 flows 2048 target 15ms tupdate 15ms quantum 1500 noecn",
        True,
    ),
    "red": Pair(
        {
            "kind": "red",
            "preset": "linux",
            "limit": "100000 B",
            "min": "20000 B",
            "max": "60000 B",
            "max_p": 0.1,
            "mean_packet": "1000 B",
        },
        "red limit 100000 min 20000 max 60000 avpkt 1000 burst 34 probability 0.1",
        True,
    ),
    "choke": Pair(
        {
            "kind": "choke",
            "preset": "linux",
            "limit": "100 packets",
            "min": "20 packets",
            "max": "60 packets",
            "max_p": 0.1,
            "mean_packet": "1000 B",
        },
        "choke limit 100 min 20 max 60 avpkt 1000 burst 34 probability 0.1",
        True,
    ),
    "sfb": Pair(
        {"kind": "sfb", "limit": "1000 packets"},
        "sfb limit 1000",
        True,
    ),
    "cake": Pair(
        {"kind": "cake", "bandwidth": "9 Mbit/s"},
        "cake bandwidth 9mbit besteffort",
        True,
    ),
    "tbf": Pair(
        {"kind": "tbf", "rate": "9 Mbit/s", "burst": "3000 B", "limit": "100000 B"},
        "tbf rate 9mbit burst 3000 limit 100000",
        False,
    ),
}


def arrivals(seed: int, packets: int, is_ecn_capable: bool) -> list[Arrival]:
    """Return Poisson arrivals whose load changes."""
    draw = random.Random(seed)
    # A guest has no queue before it begins.
    at_ns, rows, load = 1e6, [], 1.0
    for number in range(packets):
        if number % STRETCH == 0:
            load = draw.choice(LOADS)
        at_ns += draw.expovariate(1.0) * 8e9 * BYTES / RATE_BPS / load
        rows.append((int(at_ns), BYTES, draw.randrange(FLOWS), is_ecn_capable))
    return rows


def events(rows: Sequence[Sequence[object]]) -> list[tuple[int, int]]:
    """Return times and places of drops and marks."""
    return [(int(str(row[0])), int(str(row[1]))) for row in rows if row[2] in ("dropped", "marked")]


def distance(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the Kolmogorov-Smirnov distance of two samples."""
    one, other = sorted(one), sorted(other)
    return max(
        abs(bisect_right(one, value) / len(one) - bisect_right(other, value) / len(other))
        for value in {*one, *other}
    )


def intervals(sides: Sequence[Sequence[tuple[int, int]]]) -> list[int]:
    """Return the arrivals between events, pooled over runs."""
    return [
        second[1] - first[1]
        for side in sides
        for ordered in [sorted(side, key=lambda event: event[1])]
        for first, second in pairwise(ordered)
    ]


@dataclass(frozen=True)
class Figures:
    """A comparison over all seeds."""

    ours: int
    theirs: int
    #: Arrivals that both drop or mark.
    common: int
    #: The largest difference of the times of common events, in nanoseconds.
    apart_ns: int
    distance: float

    def share(self) -> float:
        """Return the share of events that both have."""
        return 2 * self.common / max(self.ours + self.theirs, 1)


def compare(pair: Pair, kernel: Path, seeds: int, packets: int) -> Figures:
    """Run both queues on the arrivals of all seeds."""
    both: list[list[list[tuple[int, int]]]] = [[], []]
    common, apart = 0, 0
    for seed in range(1, seeds + 1):
        rows = arrivals(seed, packets, is_ecn_capable="ecn" in pair.ours)
        # Arrivals and queue draw from different streams.
        draws = QUEUE_SEED + seed
        ours = events(_core.serve_queue(json.dumps(pair.ours), RATE_BPS, draws, rows))
        theirs = events(_core.serve_kernel_queue(kernel, pair.theirs, RATE_BPS, draws, rows))
        times = {arrival: at_ns for at_ns, arrival in theirs}
        shared = [(at_ns, times[arrival]) for at_ns, arrival in ours if arrival in times]
        common += len(shared)
        apart = max([apart, *(abs(one - other) for one, other in shared)])
        both[0].append(ours)
        both[1].append(theirs)
    gaps = [intervals(side) for side in both]
    far = distance(*gaps) if all(gaps) else 1.0
    ours_count, theirs_count = (sum(map(len, side)) for side in both)
    return Figures(ours_count, theirs_count, common, apart, far)


def row(name: str, pair: Pair, figures: Figures) -> str:
    """Return a row of the table."""
    return (
        f"| `{name}` | `{pair.theirs}` | {figures.ours} | {figures.theirs} | {100 * figures.share():.2f} % "
        f"| {figures.apart_ns} ns | {figures.distance:.4f} |"
    )


def complaint(name: str, pair: Pair, figures: Figures) -> str | None:
    """Return the bound that a comparison exceeds."""
    if not pair.is_random:
        return None if figures.share() >= 1 - LARGEST_DISTANCE else f"{name}: {figures.share():.3f} in common"
    if min(figures.ours, figures.theirs) < LEAST_EVENTS:
        return f"{name}: fewer than {LEAST_EVENTS} events"
    return None if figures.distance <= LARGEST_DISTANCE else f"{name}: a distance of {figures.distance:.4f}"


def write(text: str) -> None:
    """Renew the table of the page."""
    before, rest = PAGE.read_text().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}")


def main() -> int:
    """Compare the queues of the command line."""
    parser = argparse.ArgumentParser(
        description="Compares queues with the queues of a kernel in virtual time."
    )
    parser.add_argument("queues", nargs="*", metavar="QUEUE", help=f"among {', '.join(QUEUES)}")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--packets", type=int, default=PACKETS, help="arrivals of a seed")
    parser.add_argument("--write", action="store_true", help=f"renew the table of {PAGE.name}")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.queues if name not in QUEUES]:
        parser.error(f"unknown queue {unknown[0]}; there are {', '.join(QUEUES)}")
    kernel = store.find()
    lines = [
        f"{kernel.title}, {arguments.seeds} seeds with {arguments.packets} arrivals each.",
        "",
        "| queue | kernel | events here | events in the kernel | in common | apart | distance |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    wrong = []
    names = arguments.queues or list(QUEUES)
    for name in names:
        pair = QUEUES[name]
        figures = compare(pair, kernel.image, arguments.seeds, arguments.packets)
        lines.append(row(name, pair, figures))
        wrong += [text for text in [complaint(name, pair, figures)] if text]
    text = "\n".join(lines)
    inside = len(names) - len(wrong)
    summary = f"{len(names)} queues: {inside} inside their bounds, {len(wrong)} outside"
    if arguments.write:
        write(f"{text}\n\n{summary}.")
    print(text, summary, *wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
