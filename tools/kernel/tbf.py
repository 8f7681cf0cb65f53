"""Compares the token bucket filter with the running kernel's `sch_tbf` on the same arrivals.

    python tools/kernel/tbf.py                            16 courses, a minute; needs root
    python tools/kernel/tbf.py --seeds 1 --packets 500

Frames pass through `tc qdisc ... tbf` on a pair of virtual devices. The kernel reports when each frame
arrived at the queue and when it left. ackclock receives the measured arrivals, and computes the departures of
the frames that the kernel accepted. It judges two criteria:

- Departures: the kernel releases no frame more than 1 us before ackclock's time. It releases half of them at
  most 100 us after it.
- Drops: the kernel drops the frames that do not fit, for all but 1 in 1000. The queue's content follows from
  ackclock's departures or from the kernel's later ones. The order of two events within 20 us is unknown.

The bucket's tokens do not depend on the kernel's timer, so a late departure delays no other frame. On a busy
machine the timer can be late, so the largest lateness is shown and not judged. A late frame still occupies
the queue, so the kernel may drop a different frame than a punctual queue. The number of frames that
ackclock drops is therefore shown and not judged.

The exit code is 1 if a criterion fails, and 77 if a requirement is missing.
"""

import argparse
import json
import random
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import veth
from ackclock import _core
from veth import Passed

RATES_BPS = (8_000_000, 80_000_000)
FRAME = 1514
BURST = 10 * FRAME
LIMIT = 20 * FRAME
SIZES = (FRAME, FRAME, FRAME, 590, 60)
MEAN_BYTES = statistics.fmean(SIZES)
#: Bounds: the share of contrary verdicts, how early a departure is, and the median of how late, in ns.
CONTRARY = 0.001
EARLY_NS = 1_000
MEDIAN_LATE_NS = 100_000
#: Events that are closer than this may have happened in the other order.
APART_NS = 20_000

#: When a frame is to be sent, in ns, and its bytes.
Frame = tuple[int, int]


def poisson(draw: random.Random, rate_bps: int, frames: int) -> Iterator[Frame]:
    """Yield Poisson arrivals with loads that change between 0.3 and 2 of the rate."""
    at_ns, load = 0.0, 1.0
    for number in range(frames):
        if number % 100 == 0:
            load = draw.choice((0.3, 0.8, 1.0, 1.2, 2.0))
        at_ns += draw.expovariate(1.0) * 8e9 * MEAN_BYTES / rate_bps / load
        yield int(at_ns), draw.choice(SIZES)


def bursts(draw: random.Random, rate_bps: int, frames: int) -> Iterator[Frame]:
    """Yield bursts of 5 to 60 frames at a mean load of 0.8. The larger ones overflow the queue."""
    at_ns, left = 0.0, 0
    for _ in range(frames):
        if left == 0:
            left = draw.randint(5, 60)
            at_ns += left * 8e9 * MEAN_BYTES / rate_bps / 0.8
        left -= 1
        yield int(at_ns), draw.choice(SIZES)


COURSES = {"poisson": poisson, "bursts": bursts}


@dataclass(frozen=True)
class Compared:
    """The results of a course."""

    frames: int
    kernel_drops: int
    drops: int
    #: Of the kernel's verdicts, those that no backlog explains.
    contrary: int
    #: How much later than ackclock's each departure of the kernel is, in ns, ascending.
    late_ns: tuple[int, ...]

    @property
    def met(self) -> bool:
        """True if all is within the bounds."""
        return (
            self.contrary <= CONTRARY * self.frames
            and self.late_ns[0] >= -EARLY_NS
            and statistics.median(self.late_ns) <= MEDIAN_LATE_NS
        )

    @property
    def words(self) -> str:
        """The same in a line."""
        least, median, most = (
            late_ns / 1e3 for late_ns in (self.late_ns[0], statistics.median(self.late_ns), self.late_ns[-1])
        )
        return (
            f"{self.frames} frames, {self.kernel_drops} drops in the kernel, {self.drops} here,"
            f" {self.contrary} contrary verdicts; departures {least:.1f} us later at least,"
            f" {median:.1f} us in the median, {most:.0f} us at most"
        )


def compared(schedule: Sequence[Frame], passed: Passed, rate_bps: int) -> Compared:
    """Compare ackclock's departures and drops for these arrivals with the kernel's."""
    begin = min(passed.came.values())
    came = sorted((at_ns - begin, number) for number, at_ns in passed.came.items())
    kept = [(at_ns, number) for at_ns, number in came if number in passed.left]

    def served(limit: str, rows: Sequence[tuple[int, int]]) -> dict[int, tuple[int, str]]:
        queue = {"kind": "tbf", "limit": limit, "rate": f"{rate_bps} bit/s", "burst": f"{BURST} B"}
        arrivals = [(at_ns, schedule[number][1], 0, False) for at_ns, number in rows]
        # A link on which a frame takes 12 ns at the most.
        events = _core.serve_queue(json.dumps(queue), 1_000_000_000_000, 1, arrivals)
        return {rows[place][1]: (at_ns, what) for at_ns, place, what, _ in events}

    drops = sum(what == "dropped" for _, what in served(f"{LIMIT} B", came).values())
    leaves = {number: at_ns for number, (at_ns, _) in served("1000000 packets", kept).items()}
    left = {number: at_ns - begin for number, at_ns in passed.left.items()}
    soon = _fits(schedule, came, leaves, -APART_NS)
    late = _fits(schedule, came, left, APART_NS)
    contrary = sum(not soon[number] if number in left else late[number] for _, number in came)
    late_ns = sorted(left[number] - leaves[number] for number in leaves)
    return Compared(len(came), len(came) - len(kept), drops, contrary, tuple(late_ns))


def _fits(
    schedule: Sequence[Frame], came: Sequence[tuple[int, int]], departures: Mapping[int, int], later_ns: int
) -> dict[int, bool]:
    """Which arrivals fit into the queue: those with a departure are taken in, and leave so much later."""
    leaving = [number for _, number in came if number in departures]
    backlog, taken, gone, fits = 0, 0, 0, {}
    for at_ns, number in came:
        while gone < taken and departures[leaving[gone]] + later_ns <= at_ns:
            backlog -= schedule[leaving[gone]][1]
            gone += 1
        size = schedule[number][1]
        fits[number] = backlog + size <= LIMIT
        if number in departures:
            backlog += size
            taken += 1
    return fits


def through_the_kernel(schedule: Sequence[Frame], rate_bps: int) -> Passed:
    """Send frames through the kernel's queue, which is new and has a full bucket."""
    veth.connect("tbf", "rate", f"{rate_bps}bit", "burst", str(BURST), "limit", str(LIMIT))
    try:
        return veth.send(schedule, drain_s=0.1 + 8 * LIMIT / rate_bps)
    finally:
        veth.disconnect()


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, and return 1 if a criterion fails, and 77 if a requirement is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--seeds", type=int, default=4, metavar="N", help="courses of each kind (4)")
    parser.add_argument("--packets", type=int, default=5_000, metavar="N", help="frames in each (5000)")
    options = parser.parse_args(arguments)
    failures = 0
    try:
        veth.enter_namespace()
        for rate_bps in RATES_BPS:
            for name, course in COURSES.items():
                for seed in range(1, options.seeds + 1):
                    schedule = list(course(random.Random(seed), rate_bps, options.packets))
                    found = compared(schedule, through_the_kernel(schedule, rate_bps), rate_bps)
                    failures += not found.met
                    start = f"{rate_bps // 10**6:3} Mbit/s, {name:7} seed {seed:2}"
                    print(f"{start}  {'met' if found.met else 'NOT MET'}: {found.words}", flush=True)
    except veth.Unavailable as missing:
        print(f"compare-kernel: skipped, {missing}")
        return 77
    print(f"{len(RATES_BPS) * len(COURSES) * options.seeds} comparisons, {failures} not met")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
