"""Compare the simulator with a kernel in virtual time, cell by cell.

    agreement.py                     all 300 cells, with the results in agreement.json
    agreement.py --slice             twelve cells of twenty seconds, without writing
    agreement.py --rates 10,100 --cc cubic   chosen cells, without writing

A cell is one flow on a link with a drop-tail queue. Both sides delay each packet at random by at most its
transmission time, from the same random stream. Several runs of each side have the same seeds.

    inside      the means of both sides agree: goodput 1 %, cwnd 5 %, recoveries 15 % or one
    undecided   a mean differs by more, and the 95 % interval of the paired difference contains the bound
    outside     an interval lies beyond its bound
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ackclock import Scenario, _core, kernel
from ackclock.kernels import store
from ackclock.statistics.estimates import estimate

RESULTS = Path(__file__).with_name("agreement.json")
ALGORITHMS: dict[str, Any] = {
    "reno": "reno",
    "cubic": "cubic",
    "bbr1": "bbr1",
    "aimd(2, 0.8)": {"kind": "aimd", "increase": 2, "remaining": 0.8},
    "new-aimd": "new-aimd",
}
RATES_MBPS = (1.0, 10.0, 30.0, 100.0, 300.0)
RTTS_MS = (10.0, 40.0, 100.0, 200.0)
BUFFERS_BDP = (0.25, 1.0, 4.0)
#: Bounds of relative differences.
BOUNDS = {"goodput": 0.01, "cwnd": 0.05, "recoveries": 0.15}
#: A difference of recoveries that needs no relative bound.
ONE = 1.0
PACKET_BITS = 12_000


@dataclass(frozen=True)
class Cell:
    """An algorithm on a path."""

    cc: str
    rate_mbps: float
    rtt_ms: float
    buffer_bdp: float

    def scenario(self, length_s: float) -> Scenario:
        """Return the run of one flow, from its first packet on."""
        packets = self.rate_mbps * self.rtt_ms * 1e3 / PACKET_BITS * self.buffer_bdp
        return Scenario(
            name=str(self),
            duration=f"{length_s} s",
            warmup="0 s",
            topology={
                "kind": "dumbbell",
                "rate": f"{self.rate_mbps} Mbit/s",
                "delay": f"{self.rtt_ms / 2} ms",
                "queue": {"kind": "drop-tail", "limit": f"{max(2, round(packets))} packets"},
            },
            flows=[{"name": "test", "cc": ALGORITHMS[self.cc], "send_jitter": "1 packet"}],
        )

    def __str__(self) -> str:
        return f"{self.cc}, {self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms, {self.buffer_bdp:g} BDP"


def measures(document: str) -> dict[str, float]:
    """Return the compared figures of a run."""
    flow = json.loads(document)["flows"][0]
    return {
        "goodput": flow["goodput_bps"],
        "cwnd": flow["cwnd_mean_segments"] or 0.0,
        "recoveries": flow["congestion_events"],
    }


def judge(name: str, simulated: Sequence[float], emulated: Sequence[float]) -> str:
    """Return the verdict on one figure from paired runs."""
    reference = statistics.fmean(emulated)
    bound = BOUNDS[name] * abs(reference)
    if name == "recoveries":
        bound = max(bound, ONE)
    differences = [one - other for one, other in zip(simulated, emulated, strict=True)]
    if abs(statistics.fmean(differences)) <= bound:
        return "inside"
    found = estimate(differences)
    half = found.half_width or 0.0
    return "undecided" if abs(found.mean) - half <= bound else "outside"


def compare(cell: Cell, length_s: float, runs: int, image: tuple[str, str, str]) -> dict[str, Any]:
    """Return the figures of both sides of a cell, and the verdict."""
    core = cell.scenario(length_s)._core
    sides: dict[str, list[dict[str, float]]] = {"simulated": [], "kernel": []}
    for seed in range(1, runs + 1):
        sides["simulated"].append(measures(core.run(seed, samples=False).to_json()))
        emulated = core.emulate(seed, samples=False, objects=kernel.folder(), kernel=image)
        sides["kernel"].append(measures(emulated.to_json()))
    verdicts = {
        name: judge(name, *([run[name] for run in sides[side]] for side in ("simulated", "kernel")))
        for name in BOUNDS
    }
    means = {
        side: {name: statistics.fmean(run[name] for run in runs) for name in BOUNDS}
        for side, runs in sides.items()
    }
    worst = max(verdicts.values(), key=["inside", "undecided", "outside"].index)
    return {**asdict(cell), **means, "verdicts": verdicts, "verdict": worst}


def numbers(text: str) -> list[float]:
    """Return the numbers of an option."""
    return [float(number) for number in text.split(",")]


def main() -> int:
    """Compare the cells. Returns 1 if one is outside."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--slice", action="store_true")
    parser.add_argument("--cc", type=lambda text: text.split(";"))
    parser.add_argument("--rates", type=numbers)
    parser.add_argument("--rtts", type=numbers)
    parser.add_argument("--buffers", type=numbers)
    parser.add_argument("--length", type=float, default=60.0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--kernel")
    asked = parser.parse_args()
    chosen = [asked.cc, asked.rates, asked.rtts, asked.buffers]
    if asked.slice:
        chosen = [["reno", "cubic", "aimd(2, 0.8)"], [10.0], [40.0, 200.0], [1.0, 4.0]]
        asked.length, asked.runs = 20.0, 3
    every = (list(ALGORITHMS), RATES_MBPS, RTTS_MS, BUFFERS_BDP)
    axes: Any = [given or default for given, default in zip(chosen, every, strict=True)]
    cells = [Cell(*values) for values in itertools.product(*axes)]
    found = store.find(asked.kernel)
    image = (str(found.image), str(found.initrd), found.title)
    rows = []
    with ThreadPoolExecutor(2) as workers:
        for row in workers.map(lambda cell: compare(cell, asked.length, asked.runs, image), cells):
            rows.append(row)
            if row["verdict"] != "inside" or sys.stderr.isatty():
                print(f"{len(rows)} of {len(cells)}  {line(row)}", flush=True)
    counts = {
        name: sum(row["verdict"] == name for row in rows) for name in ("inside", "undecided", "outside")
    }
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    if not any(chosen):
        about = {"kernel": found.version, "length_s": asked.length, "runs": asked.runs, "build": _core.BUILD}
        RESULTS.write_text(json.dumps({**about, "cells": rows}, indent=1) + "\n")
    return 1 if counts["outside"] else 0


def line(row: dict[str, Any]) -> str:
    """Return a cell in one line."""
    cell = Cell(*(row[name] for name in ("cc", "rate_mbps", "rtt_ms", "buffer_bdp")))
    simulated, emulated = row["simulated"], row["kernel"]
    figures = ", ".join(f"{name} {simulated[name]:.4g} for {emulated[name]:.4g}" for name in BOUNDS)
    return f"{cell}: {row['verdict']}: {figures}"


if __name__ == "__main__":
    sys.exit(main())
