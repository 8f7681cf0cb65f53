"""Shows how New-AIMD locks a newcomer out, in the simulator and with the kernel's TCP, and draws both.

    python tools/linux/newcomer.py               in virtual time, a minute
    python tools/linux/newcomer.py --write       also writes docs/images/newcomer.svg and newcomer.json
    python tools/linux/newcomer.py --quick       runs of 18 seconds, one to three of each
    python tools/linux/newcomer.py --real-time   the running kernel, four to twelve minutes, as root

Two flows share 10 Mbit/s, 40 ms and a drop-tail queue of 1 BDP. A third flow starts after a third of the run.
In the kernel New-AIMD is the eBPF program of `bpf/new_aimd.bpf.c`. AIMD(1, 0.5), the kernel's reno, serves as
the reference. The share is the newcomer's part of the goodput, from 5 s after its start. A third is fair.

Runs differ much from one another. The table shows the mean, the least and the largest share. There are 20
simulations, and 15 runs in virtual time or 5 valid emulations. The figure shows the run with the middle
share. Invalid emulations are repeated up to 15 times, and counted.

The exit code is 1 if New-AIMD leaves the newcomer as much as AIMD. It is 77 where the kernel cannot run.
"""

import argparse
import io
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars

import emulations
from ackclock.errors import AckclockError
from ackclock.page.curves import Curve, Panel, draw
from ackclock.running.job import Job, execute
from ackclock.running.work import Study
from ackclock.scenario import Scenario

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "newcomer.svg"
RESULTS = Path(__file__).with_name("newcomer.json")
LENGTH_S, QUICK_S = 24.0, 18.0
#: Seconds between points of the figure.
INTERVAL_S = 0.5
#: Seconds after the start of the newcomer before its share counts.
ARRIVAL_S = 5.0
REPLICATES, RUNS = 20, 5
ALGORITHMS = {"new-aimd": "New-AIMD", "aimd": "AIMD(1, 0.5)"}
LATE = "newcomer"
SIMULATOR, KERNEL = "simulator", "Linux"


@dataclass(frozen=True)
class Run:
    """The flows of a run."""

    #: Goodput in Mbit/s over time.
    curves: Mapping[str, Curve]
    #: The share of the newcomer.
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
            "warmup": f"{late_s + ARRIVAL_S:g} s",
            "topology": emulations.SHARED_LINK,
            "transport": emulations.TRANSPORT,
            "sampling": {"interval": f"{1000 * INTERVAL_S:g} ms"},
            "flows": [
                emulations.flow("first", algorithm),
                emulations.flow("second", algorithm, start="300 ms"),
                emulations.flow(LATE, algorithm, start=f"{late_s:g} s"),
            ],
        }
    )


def simulated(algorithm: str, length_s: float, count: int) -> list[Run]:
    """Return simulations, sorted by the share of the newcomer."""
    jobs = Study.of(scenario(algorithm, length_s), samples=True, replicates=count).jobs
    return sorted(map(run, jobs), key=lambda each: each.share)


def with_linux(
    algorithm: str, backend: emulations.Backend, length_s: float, count: int
) -> tuple[list[Run], int]:
    """Run until enough runs are valid. Return the valid runs and the number of others.

    The runs are sorted by the share of the newcomer. If none is valid, the invalid ones are returned.
    """
    jobs = backend.jobs(scenario(algorithm, length_s), count, samples=True)
    valid, refused = emulations.until_valid(map(run, jobs), backend.wanted(count))
    return sorted(valid or refused, key=lambda each: each.share), len(refused)


def run(job: Job) -> Run:
    """Run it once, and read the samples."""
    outcome = execute(job)
    document = json.loads(outcome.result_json)
    assert outcome.flow_samples is not None, "samples were asked for"
    frame = polars.read_parquet(io.BytesIO(outcome.flow_samples))
    goodputs = [flow["goodput_bps"] for flow in document["flows"]]
    curves = {flow["name"]: curve(frame, flow["name"]) for flow in document["flows"]}
    faults = document.get("emulation", {}).get("reasons", [])
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
    """Run, print and draw, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_S:g} seconds a run")
    parser.add_argument("--write", action="store_true", help="write the picture and the figures of the docs")
    emulations.add_backend(parser)
    given = parser.parse_args()
    try:
        backend = emulations.backend_of(given)
    except AckclockError as error:
        print(f"nothing can be compared here: {error}", file=sys.stderr)
        return 77
    length_s, replicates, count = (QUICK_S, 1, 1) if given.quick else (LENGTH_S, REPLICATES, RUNS)
    panels, figures = [], dict[str, dict[str, float]]()
    for algorithm, title in ALGORITHMS.items():
        sides = {
            SIMULATOR: (simulated(algorithm, length_s, replicates), 0),
            KERNEL: with_linux(algorithm, backend, length_s, count),
        }
        for place, (found, invalid) in sides.items():
            name, middle = f"{title}, {place}", found[len(found) // 2]
            panels.append(Panel(f"{name}: goodput, Mbit/s", middle.curves))
            figures[name] = {
                "mean": statistics.fmean(each.share for each in found),
                "least": found[0].share,
                "largest": found[-1].share,
                "runs": len(found),
                "invalid": invalid,
                "valid": not any(each.faults for each in found),
            }
            print(line(name, figures[name]), flush=True)
    if given.write:
        are_valid = all(each["valid"] for each in figures.values())
        note = "" if are_valid else "The emulations are not valid, for the machine had no time"
        title = f"A flow that comes after {length_s / 3:g} s"
        PICTURE.write_text(draw(panels, length_s, title, note), encoding="utf-8")
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    new, old = ALGORITHMS["new-aimd"], ALGORITHMS["aimd"]
    is_locked_out = [
        figures[f"{new}, {place}"]["mean"] < figures[f"{old}, {place}"]["mean"]
        for place in (SIMULATOR, KERNEL)
    ]
    return 0 if all(is_locked_out) else 1


def line(name: str, figures: Mapping[str, float]) -> str:
    """Return the figures of a kind of runs in words."""
    mean, least, largest = (100 * figures[key] for key in ("mean", "least", "largest"))
    invalid = f"; {figures['invalid']:g} not valid" if figures["invalid"] else ""
    return (
        f"{name}: the newcomer has {mean:.1f} % of the goodput "
        f"({least:.1f} to {largest:.1f}, {figures['runs']:g} runs{invalid})"
    )


if __name__ == "__main__":
    sys.exit(main())
