"""Shows how New-AIMD locks a late-comer out: in the simulator, and with the kernel's TCP. Draws both.

    python tools/linux/late_comer.py           three minutes; as root
    python tools/linux/late_comer.py --write   docs/images/late-comer.svg and late-comer.json, too
    python tools/linux/late_comer.py --quick   a third of the time

Two flows share 10 Mbit/s, 40 ms and a drop-tail queue of 1 BDP; a third begins after a third of the run. In
the kernel New-AIMD is the eBPF program of `bpf/new_aimd.bpf.c`. Beside it AIMD(1, 0.5), which the kernel
calls reno. The share is that of the late-comer in the goodput of the last third of the run; a third is fair.

An emulation that marks itself as not valid is repeated, up to 3 runs. Ends with 1 where New-AIMD leaves the
late-comer more than half of what AIMD leaves it, with 77 where there is nothing to emulate with.
"""

import argparse
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars

from ackclock.errors import AckclockError
from ackclock.page.curves import Curve, Panel, draw
from ackclock.running.job import execute
from ackclock.running.work import Study
from ackclock.scenario import Scenario

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "late-comer.svg"
RESULTS = Path(__file__).with_name("late-comer.json")
LENGTH_S, QUICK_S = 60.0, 18.0
#: Of what is drawn.
INTERVAL_S = 0.5
RUNS = 3
BACKENDS = {"sim": "simulator", "linux": "Linux"}
ALGORITHMS = {"new-aimd": "New-AIMD", "aimd": "AIMD(1, 0.5)"}
LATE = "late-comer"


@dataclass(frozen=True)
class Run:
    """What a run shows of its flows."""

    #: Goodput in Mbit/s over time.
    curves: Mapping[str, Curve]
    #: Of the late-comer, in the last third.
    share: float
    faults: Sequence[str]


def scenario(algorithm: str, length_s: float) -> Scenario:
    """Return two flows, and one that comes late."""
    late_s = length_s / 3
    return Scenario.from_dict(
        {
            "schema": 2,
            "name": f"{LATE}, {algorithm}",
            "duration": f"{length_s:g} s",
            "warmup": f"{2 * length_s / 3:g} s",
            "topology": {
                "kind": "dumbbell",
                "rate": "10 Mbit/s",
                "delay": "20 ms",
                "queue": {"kind": "drop-tail", "limit": "1 BDP"},
            },
            "sampling": {"interval": f"{1000 * INTERVAL_S:g} ms"},
            "flows": [
                {"name": "first", "cc": algorithm},
                {"name": "second", "cc": algorithm, "start": "300 ms"},
                {"name": LATE, "cc": algorithm, "start": f"{late_s:g} s"},
            ],
        }
    )


def run(algorithm: str, backend: str, length_s: float) -> Run:
    """Run it, an emulation until it is valid, and read the samples."""
    job = Study.of(scenario(algorithm, length_s), samples=True, backend=backend).jobs[0]
    for _ in range(RUNS):
        outcome = execute(job)
        document = json.loads(outcome.result_json)
        faults = document.get("emulation", {}).get("reasons", [])
        if not faults:
            break
    assert outcome.flow_samples is not None, "samples were asked for"
    frame = polars.read_parquet(io.BytesIO(outcome.flow_samples))
    goodputs = [flow["goodput_bps"] for flow in document["flows"]]
    curves = {flow["name"]: curve(frame, flow["name"]) for flow in document["flows"]}
    return Run(curves, goodputs[-1] / sum(goodputs), faults)


def curve(frame: polars.DataFrame, flow: str) -> Curve:
    """Return the goodput of a flow in each interval, Mbit/s."""
    rows = list(frame.filter(polars.col("flow") == flow).select("time_ns", "delivered_bytes").iter_rows())
    return [
        (1e-9 * now, 8e-6 * (bytes_now - bytes_before) / (1e-9 * (now - before)))
        for (before, bytes_before), (now, bytes_now) in pairwise(rows)
        if bytes_now
    ]


def main() -> int:
    """Run, print and draw; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_S:g} seconds a run")
    parser.add_argument("--write", action="store_true", help="write the picture and the figures of the docs")
    given = parser.parse_args()
    length_s = QUICK_S if given.quick else LENGTH_S
    panels, shares, invalid = [], dict[str, float](), list[str]()
    for algorithm, title in ALGORITHMS.items():
        for backend, place in BACKENDS.items():
            try:
                result = run(algorithm, backend, length_s)
            except AckclockError as error:
                print(f"nothing can be emulated here: {error}", file=sys.stderr)
                return 77
            name = f"{title}, {place}"
            panels.append(Panel(f"{name}: goodput, Mbit/s", result.curves))
            shares[name] = result.share
            invalid += [name] if result.faults else []
            mark = f" (NOT VALID: {'; '.join(result.faults)})" if result.faults else ""
            print(f"{name}: the late-comer has {100 * result.share:.1f} % of the goodput{mark}", flush=True)
    if given.write:
        note = f"not valid, for the machine had no time: {', '.join(invalid)}" if invalid else ""
        title = f"A flow that comes after {length_s / 3:g} s"
        PICTURE.write_text(draw(panels, length_s, title, note), encoding="utf-8")
        RESULTS.write_text(
            json.dumps({"shares": shares, "invalid": invalid}, indent=1) + "\n", encoding="utf-8"
        )
    locked_out = [
        shares[f"{ALGORITHMS['new-aimd']}, {place}"] <= 0.5 * shares[f"{ALGORITHMS['aimd']}, {place}"]
        for place in BACKENDS.values()
    ]
    return 0 if all(locked_out) else 1


if __name__ == "__main__":
    sys.exit(main())
