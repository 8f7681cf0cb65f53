"""Measures the queueing delay of a sparse flow behind FQ-CoDel, separately for shared queues.

    python tools/evidence/sparse_flow.py              300 replicates, half a minute
    python tools/evidence/sparse_flow.py --count 20

A link of 100 Mbit/s carries 10 bulk flows and a sparse one. The sparse flow sends a quantum of 1500 B every
1.5 ms. A round of the others takes at least 1.2 ms. Each replicate draws the flows that share one of the
1024 queues. A trace of every packet shows them. Two flows share a queue if
no packet of one ever overtakes a waiting packet of the other.

The exit code is 1 if the 99th percentile reaches 0.5 ms for a sparse flow alone in its queue.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import polars

from ackclock import _core

BOUND_MS = 0.5
BULK = 10
WARMUP_S = 2
SPARSE = "sparse"
LEFT = ("transmit", "drop")


@dataclass(frozen=True)
class Waited:
    """The queueing delays of the sparse flow in a replicate, and the flows of its queue."""

    replicate: int
    #: The bulk flows in its queue.
    beside: tuple[str, ...]
    p50_ms: float
    p99_ms: float


def scenario(queues: int = 1024) -> _core.Scenario:
    """The scenario, with so many queues."""
    tree = {
        "schema": 1,
        "duration": "6 s",
        "warmup": f"{WARMUP_S} s",
        "topology": {
            "kind": "dumbbell",
            "rate": "100 Mbit/s",
            "delay": "10 ms",
            "queue": {"kind": "fq-codel", "flows": queues},
        },
        "sampling": {"interval": "none", "packets": True},
        "flows": [
            {
                "name": "bulk",
                "count": BULK,
                "cc": "reno",
                "recovery": "sack",
                "start": {"uniform": ["0 s", "1 s"]},
            },
            {
                "name": SPARSE,
                "traffic": {"kind": "cbr", "rate": "8 Mbit/s", "packet": "1500 B"},
                "start": {"uniform": ["0 s", "1 ms"]},
            },
        ],
    }
    return _core.Scenario.from_json(json.dumps(tree))


def waited(made: _core.Scenario, replicate: int) -> Waited:
    """Run a replicate and read its trace."""
    text = [polars.col(name).cast(polars.String) for name in ("link", "flow", "event")]
    events = (
        polars.DataFrame(made.run(replicate=replicate).packets)
        .with_columns(text)
        .filter(polars.col("link") == "bottleneck", polars.col("event").is_in(["enter", *LEFT]))
    )
    of_sparse = _with_counts(events).filter(polars.col("flow") == SPARSE)
    came = of_sparse.filter(polars.col("event") == "enter")
    went = of_sparse.filter(polars.col("event") == "transmit")
    both = came.join(went, on="seq", suffix="_went").filter(polars.col("time_ns") >= WARMUP_S * 10**9)
    names = [f"bulk.{number}" for number in range(BULK)]
    overtakes = [(both[f"{name} came"] != both[f"{name} left_went"]).any() for name in names]
    delays = (both["time_ns_went"] - both["time_ns"]).cast(polars.Int64) / 1e6
    return Waited(
        replicate,
        tuple(name for name, passes in zip(names, overtakes, strict=True) if not passes),
        _percentile(delays, 0.5),
        _percentile(delays, 0.99),
    )


def _with_counts(events: polars.DataFrame) -> polars.DataFrame:
    """With how many packets of each bulk flow had come and had left when something happened."""
    counts = []
    for number in range(BULK):
        name = f"bulk.{number}"
        of_flow = polars.col("flow") == name
        counts += [
            (of_flow & (polars.col("event") == "enter")).cum_sum().alias(f"{name} came"),
            (of_flow & polars.col("event").is_in(LEFT)).cum_sum().alias(f"{name} left"),
        ]
    return events.with_columns(counts)


def _percentile(values: polars.Series, share: float) -> float:
    found = values.quantile(share, "higher")
    assert found is not None, "a sparse flow whose packets all vanish"
    return float(found)


def report(found: Sequence[Waited]) -> list[str]:
    """The results of the replicates, as lines."""
    shared = [each for each in found if each.beside]
    alone = [each for each in found if not each.beside]
    lines = [
        f"replicate {each.replicate}: in the queue of {' and '.join(each.beside)},"
        f" median {each.p50_ms:.3f} ms, 99th percentile {each.p99_ms:.3f} ms"
        for each in shared
    ]
    expected = f"{len(found) * (1 - (1 - 1 / 1024) ** BULK):.1f} expected"
    if shared:
        delays = [each.p99_ms for each in shared]
        expected += f", 99th percentile {min(delays):.1f} to {max(delays):.1f} ms"
    lines.append(f"in the queue of a bulk flow: {len(shared)} of {len(found)} replicates, {expected}")
    if alone:
        median = statistics.median(each.p50_ms for each in alone)
        most = max(each.p99_ms for each in alone)
        lines.append(
            f"alone: {len(alone)} replicates, median {median:.3f} ms, 99th percentile at most {most:.3f} ms"
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, report, and say by the exit code whether the bound is kept."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--count", type=int, default=300, help="replicates (default: %(default)s)")
    options = parser.parse_args(arguments)
    made = scenario()
    found = [waited(made, replicate) for replicate in range(options.count)]
    print(*report(found), sep="\n")
    alone = [each.p99_ms for each in found if not each.beside]
    return 0 if alone and max(alone) < BOUND_MS else 1


if __name__ == "__main__":
    sys.exit(main())
