"""Runs long TCP flows behind CoDel and FQ-CoDel in ns-3 and in ackclock, and compares the queues.

    python tools/ns3/behind_tcp.py                           6 cases, 20 seeds each, five minutes
    python tools/ns3/behind_tcp.py fq-codel "5 flows"        cases with all of these words
    python tools/ns3/behind_tcp.py --tcp ns3::TcpLinuxReno   with a congestion control of ns-3's own

A seed draws the starts and the base RTTs of the flows, equal on both sides. Each row shows ns-3's value,
the difference of ackclock and a verdict. The 95 % interval belongs to the differences seed by seed. The
verdict is `inside` if the intervals of all judged measures are within their bounds. It is `outside` if one
is beyond its bound, and `undecided` otherwise. These measures are judged:

    goodput               of all flows; FQ-CoDel: 1 %
    drops                 10 %, where both have 100 or more
    sojourn, mean         time in the queue of what left it; CoDel: 5 %, FQ-CoDel: 7 %
    sojourn, 95th         its 95th percentile; FQ-CoDel: 7 %

Both queues compute the next drop by Newton's method. Both TCPs follow RFC 5681 and RFC 6675 without delayed
ACKs. docs/queues/codel.md lists the deviations of ns-3's own TCP. The exit code is 1 if a case is outside,
and 77 without ns-3.
"""

import argparse
import itertools
import json
import random
import statistics
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import ns3_program
from ackclock import _core

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "ns2"))

from intervals import counted, paired  # noqa: E402
from scores import Score, judge, line  # noqa: E402
from sides import WORKERS, Measures  # noqa: E402

SOURCE = HERE / "behind_tcp.cc"
PROGRAM = HERE.parents[1] / "target" / "ns3" / "behind_tcp"
MODULES = ("applications", "internet", "point-to-point", "traffic-control", "network", "core")
#: Reno by RFC 5681, which the program adds to ns-3's congestion controls.
RENO = "Reno"

RATE_BPS = 20_000_000
DELAY_NS = 5_000_000
WARMUP_NS = 10_000_000_000
END_NS = 70_000_000_000
LATEST_START_NS = 1_000_000_000
#: One-way delays between a host and the bottleneck: base RTTs of 20 to 80 ms.
HOST_DELAYS_NS = (5_000_000, 35_000_000)


@dataclass(frozen=True)
class Queue:
    """A queue of ackclock, the queue discipline of ns-3, and the bounds of its judged measures."""

    kind: str
    discipline: str
    limit: str
    goodput: float | None
    sojourn: float
    percentile: float | None

    @property
    def scores(self) -> tuple[Score, ...]:
        """The compared measures."""
        return (
            Score("goodput, Mbit/s", lambda run: run["goodput_bps"] / 1e6, self.goodput),
            Score("drops", lambda run: run["drops"], 0.1, of_drops=True),
            Score("sojourn, mean, ms", lambda run: run["sojourn_mean_s"] * 1e3, self.sojourn),
            Score("sojourn, 95th, ms", lambda run: run["sojourn_p95_s"] * 1e3, self.percentile),
        )


QUEUES = (
    Queue("codel", "ns3::CoDelQueueDisc", "1000 packets", None, 0.05, None),
    Queue("fq-codel", "ns3::FqCoDelQueueDisc", "10240 packets", 0.01, 0.07, 0.07),
)
FLOWS = {"2 flows": 2, "5 flows": 5, "10 flows": 10}


@dataclass(frozen=True)
class Flow:
    """A long flow with the one-way delay between its host and the bottleneck."""

    start_ns: int
    delay_ns: int


def drawn(count: int, seed: int) -> list[Flow]:
    """The flows of a seed."""
    draw = random.Random(f"{count} {seed}")
    return [Flow(draw.randrange(LATEST_START_NS), draw.randrange(*HOST_DELAYS_NS)) for _ in range(count)]


def in_ns3(queue: Queue, tcp: str, flows: Sequence[Flow]) -> Measures:
    """Run ns-3 and return its measures."""
    text = "".join(f"{flow.start_ns} {flow.delay_ns}\n" for flow in flows)
    numbers = map(str, (RATE_BPS, DELAY_NS, WARMUP_NS, END_NS))
    command = [str(PROGRAM), queue.discipline, tcp, *numbers]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    words = (word.split("=") for word in done.stdout.split())
    return {key: float(value) for key, value in words}


def scenario(queue: Queue, flows: Sequence[Flow]) -> _core.Scenario:
    """The same in ackclock."""
    tree = {
        "schema": 1,
        "duration": f"{END_NS} ns",
        "warmup": f"{WARMUP_NS} ns",
        "topology": {
            "kind": "dumbbell",
            "rate": f"{RATE_BPS} bit/s",
            "delay": f"{DELAY_NS} ns",
            "queue": {"kind": queue.kind, "limit": queue.limit, "control_law": "newton"},
        },
        "sampling": {"interval": "none"},
        "flows": [
            {
                "name": f"flow{number}",
                "cc": "reno",
                "recovery": "sack",
                "start": f"{flow.start_ns} ns",
                "rtt": f"{2 * (DELAY_NS + flow.delay_ns)} ns",
            }
            for number, flow in enumerate(flows)
        ],
    }
    return _core.Scenario.from_json(json.dumps(tree))


def in_ackclock(queue: Queue, flows: Sequence[Flow]) -> Measures:
    """Run ackclock and return its measures."""
    run = json.loads(scenario(queue, flows).run().to_json())
    bottleneck = next(link for link in run["links"] if link["name"] == "bottleneck")
    return {
        "goodput_bps": run["summary"]["goodput_bps"],
        "drops": bottleneck["drops"],
        "forwarded": bottleneck["forwarded"],
        "sojourn_mean_s": bottleneck["queue_delay_mean_s"],
        "sojourn_p95_s": bottleneck["queue_delay_p95_s"],
        "cwnd_mean_segments": statistics.mean(flow["cwnd_mean_segments"] for flow in run["flows"]),
    }


def compare(cases: Sequence[tuple[Queue, str]], seeds: int, tcp: str) -> list[str]:
    """Run the cases on both sides, print each as it comes, and return the verdicts."""
    verdicts = []
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        for queue, words in cases:
            flows = [drawn(FLOWS[words], seed) for seed in range(1, seeds + 1)]
            runs = (
                list(pool.map(in_ns3, itertools.repeat(queue), itertools.repeat(tcp), flows)),
                list(pool.map(in_ackclock, itertools.repeat(queue), flows)),
            )
            row = judge((queue.kind, words), queue.scores, runs, paired)
            verdicts.append(row.verdict)
            print(row.text, flush=True)
    return verdicts


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the chosen cases."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("words", nargs="*", help="names that a case must have; all cases by default")
    parser.add_argument("--seeds", type=int, default=20, help="runs on either side (default: %(default)s)")
    parser.add_argument("--tcp", default=RENO, help="congestion control in ns-3 (default: %(default)s)")
    options = parser.parse_intermixed_args(arguments)
    if options.seeds < 2:
        parser.error("--seeds: at least 2")
    cases = [
        (queue, words)
        for queue, words in itertools.product(QUEUES, FLOWS)
        if {*options.words} <= {queue.kind, words}
    ]
    if not cases:
        parser.error(f"no case has all of these words: {' '.join(options.words)}")
    problem = ns3_program.compiled(SOURCE, PROGRAM, MODULES)
    if problem is not None:
        print(f"behind_tcp: skipped, ns-3: {problem}")
        return 77
    columns = ["queue", "flows", *(score.name for score in QUEUES[0].scores), "verdict"]
    print(line(columns), line(["---"] * len(columns)), sep="\n")
    verdicts = compare(cases, options.seeds, options.tcp)
    print(counted(verdicts, options.seeds), file=sys.stderr)
    return 1 if "outside" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
