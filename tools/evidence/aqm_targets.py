"""Measures how closely PIE and DualPI2 hold their target for long flows.

    python tools/evidence/aqm_targets.py               the whole grid, a minute
    python tools/evidence/aqm_targets.py --rates 20    one rate

Long Reno flows share a link, with and without ECN. A case is left out if the path and the target hold fewer
than 4 segments for each flow. The exit code is 1 if a mean queueing delay is not within 20 % of the target.
"""

import argparse
import itertools
import json
import sys
from collections.abc import Sequence

from ackclock import _core

TARGET_MS = 15.0
BOUND = 0.2
SEGMENT_BITS = 1500 * 8
LEAST_SEGMENTS = 4
FLOWS = (10, 20, 50)
RATES = (20, 50, 100)
RTTS = (20, 50, 100)
#: Queues by name, and the ECN of the flows.
QUEUES: dict[str, tuple[dict[str, object], str]] = {
    "pie": ({"kind": "pie"}, "off"),
    "pie, ECN": ({"kind": "pie", "ecn": True}, "classic"),
    "dualpi2": ({"kind": "dualpi2"}, "off"),
    "dualpi2, ECN": ({"kind": "dualpi2"}, "classic"),
}


def segments(flows: int, rate: int, rtt: int) -> float:
    """Return the segments of each flow on the path and in a queue at the target."""
    return rate * 1e6 * (rtt + TARGET_MS) / 1e3 / SEGMENT_BITS / flows


def mean_delay_ms(queue: dict[str, object], ecn: str, flows: int, rate: int, rtt: int) -> float:
    """Return the mean queueing delay between 20 s and 60 s."""
    tree = {
        "schema": 2,
        "duration": "60 s",
        "warmup": "20 s",
        "topology": {
            "kind": "dumbbell",
            "rate": f"{rate} Mbit/s",
            "delay": f"{rtt / 2} ms",
            "queue": {**queue, "limit": "20000 packets"},
        },
        "sampling": {"interval": "none"},
        "flows": [
            {
                "name": "long",
                "count": flows,
                "cc": "reno",
                "ecn": ecn,
                "start": {"uniform": ["0 s", "2 s"]},
            }
        ],
    }
    result = json.loads(_core.Scenario.from_json(json.dumps(tree)).run().to_json())
    bottleneck = next(link for link in result["links"] if link["name"] == "bottleneck")
    return 1e3 * float(bottleneck["queue_delay_mean_s"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each case. Return 1 if a mean is out of its bound."""
    parser = argparse.ArgumentParser(description="Compare mean queueing delays with the target.")
    parser.add_argument("--rates", type=int, nargs="+", default=RATES, metavar="MBIT", help="rates in Mbit/s")
    options = parser.parse_args(arguments)
    inside, outside = 0, 0
    for name, (queue, ecn) in QUEUES.items():
        for flows, rate, rtt in itertools.product(FLOWS, options.rates, RTTS):
            if segments(flows, rate, rtt) < LEAST_SEGMENTS:
                continue
            mean = mean_delay_ms(queue, ecn, flows, rate, rtt)
            is_inside = abs(mean / TARGET_MS - 1.0) <= BOUND
            inside, outside = inside + is_inside, outside + (not is_inside)
            verdict = "inside" if is_inside else "OUTSIDE"
            print(f"{name:13} {flows:3} flows {rate:4} Mbit/s {rtt:4} ms  {mean:5.1f} ms  {verdict}")
    print(f"{inside + outside} comparisons, {outside} not met")
    return int(outside > 0)


if __name__ == "__main__":
    sys.exit(main())
