"""Compares the slow start of CUBIC in the simulator with Linux in virtual time.

    python tools/linux/slow_start.py                all configurations of slow-start.json, some seconds
    python tools/linux/slow_start.py "50 Mbit/s"    configurations with all of these words
    python tools/linux/slow_start.py --write        measure the kernel again, and write slow-start.json

The file contains the kernel's figures: one flow over a drop-tail dumbbell for three seconds. Neither side
delays packets at random. A line for each configuration shows the simulator's figure and the kernel's:

    end            by HyStart, or by a loss                           the same
    ssthresh       that it leaves, segments                           10 % or 3
    retransmits    in the first second                                25 % or 5
    megabyte       seconds until a megabyte is acknowledged           3 % or 20 ms

A configuration with an explanation in the file may differ. The exit code is 1 if another figure is outside,
and 77 if a measurement finds no kernel.
"""

import argparse
import io
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars

from ackclock.errors import InputError
from ackclock.kernels import store as kernels
from ackclock.running.job import SIM, execute, with_kernel
from ackclock.running.work import Study
from ackclock.scenario import Scenario

RESULTS = Path(__file__).with_name("slow-start.json")
LENGTH_S = 3
INTERVAL_MS = 10
SECOND_NS = 10**9
MEGABYTE = 10**6


@dataclass(frozen=True)
class Cell:
    """A bottleneck and its queue in packets."""

    mbit: int
    rtt_ms: int
    queue: int

    @property
    def name(self) -> str:
        """The name that the words of the command line must match."""
        return f"{self.mbit} Mbit/s, {self.rtt_ms} ms, {self.queue} packets"


@dataclass(frozen=True)
class Figures:
    """The course of a slow start. `None` marks an event that did not happen."""

    end: str | None
    ssthresh: float | None
    retransmits: int
    megabyte_s: float | None


def measured(cell: Cell, backend: str = SIM) -> Figures:
    """Run a configuration."""
    scenario = Scenario.from_dict(
        {
            "schema": 2,
            "duration": f"{LENGTH_S} s",
            "topology": {
                "kind": "dumbbell",
                "rate": f"{cell.mbit} Mbit/s",
                "delay": f"{cell.rtt_ms / 2:g} ms",
                "queue": {"kind": "drop-tail", "limit": f"{cell.queue} packets"},
            },
            "sampling": {"interval": f"{INTERVAL_MS} ms"},
            "flows": [{"name": "test", "cc": "cubic"}],
        }
    )
    samples = execute(Study.of(scenario, samples=True, backend=backend).jobs[0]).flow_samples
    assert samples is not None, "samples were asked for"
    frame = polars.read_parquet(io.BytesIO(samples))
    ended = frame.filter(polars.col("ssthresh_segments").is_finite())
    first = frame.filter(polars.col("time_ns") <= SECOND_NS)
    # The sender knows of it when the ACK is back. Samples are multiples of 10 ms.
    megabyte = frame.filter(polars.col("delivered_bytes") >= MEGABYTE)
    return Figures(
        end=None if ended.is_empty() else "loss" if ended["phase"][0] == "fast-recovery" else "hystart",
        ssthresh=None if ended.is_empty() else ended["ssthresh_segments"][0],
        retransmits=int(first["retransmits"][-1]),
        megabyte_s=None
        if megabyte.is_empty()
        else round(megabyte["time_ns"][0] / 1e9 + cell.rtt_ms / 2e3, 6),
    )


def outside(simulator: Figures, kernel: Figures) -> list[str]:
    """Return the figures that differ by more than their bounds."""

    def differs(here: float | None, there: float | None, part: float, least: float) -> bool:
        if here is None or there is None:
            return here is not there
        return abs(here - there) > max(part * there, least)

    found = {
        "end": simulator.end != kernel.end,
        "ssthresh": differs(simulator.ssthresh, kernel.ssthresh, 0.1, 3),
        "retransmits": differs(simulator.retransmits, kernel.retransmits, 0.25, 5),
        "megabyte": differs(simulator.megabyte_s, kernel.megabyte_s, 0.03, 0.02),
    }
    return [name for name, is_outside in found.items() if is_outside]


def explanations() -> dict[Cell, str]:
    """Return why configurations differ that are known to."""
    document = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {cell_of(row): row["explained"] for row in document["cells"] if "explained" in row}


def cell_of(row: Mapping[str, Any]) -> Cell:
    """Return the configuration of a row of the file."""
    return Cell(row["mbit"], row["rtt_ms"], row["queue"])


def known() -> dict[Cell, Figures]:
    """Return the configurations with the kernel's figures."""
    document = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {cell_of(row): Figures(**row["linux"]) for row in document["cells"]}


def write(source: str, figures: Mapping[Cell, Figures], explained: Mapping[Cell, str]) -> None:
    """Keep the kernel's figures."""
    cells: list[dict[str, Any]] = [
        {**asdict(cell), "linux": asdict(found)} for cell, found in figures.items()
    ]
    for row in cells:
        if cell_of(row) in explained:
            row["explained"] = explained[cell_of(row)]
    lines = ",\n  ".join(json.dumps(cell) for cell in cells)
    RESULTS.write_text(
        f'{{\n "source": {json.dumps(source)},\n "cells": [\n  {lines}\n ]\n}}\n', encoding="utf-8"
    )


def line(cell: Cell, simulator: Figures, kernel: Figures, explained: str | None = None) -> str:
    """Return both as the line of a table in Markdown."""

    def pair(key: str) -> str:
        both = (getattr(side, key) for side in (simulator, kernel))
        return ", ".join(
            "-" if each is None else f"{each:.4g}" if isinstance(each, float) else str(each) for each in both
        )

    cells = (cell.name, *map(pair, ("end", "ssthresh", "retransmits", "megabyte_s")))
    return f"| {' | '.join((*cells, verdict(simulator, kernel, explained)))} |"


def verdict(simulator: Figures, kernel: Figures, explained: str | None) -> str:
    """Return "inside", or the figures that are outside, and why if it is known."""
    found = ", ".join(outside(simulator, kernel))
    return f"{found}, explained: {explained}" if found and explained else found or "inside"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare or measure, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help="words of the name, default: all")
    parser.add_argument("--write", action="store_true", help=f"measure the kernel, and write {RESULTS.name}")
    parser.add_argument("--kernel", help="the kernel, as for `ackclock run`. Default: the newest")
    given = parser.parse_args(arguments)
    figures, reasons = known(), explanations()
    if given.write:
        try:
            kernels.check_host()
            kernel = kernels.find(given.kernel)
        except InputError as error:
            print(f"nothing can be measured here: {error}", file=sys.stderr)
            return 77
        write(kernel.title, {cell: measured(cell, with_kernel(kernel.name)) for cell in figures}, reasons)
        figures = known()
    chosen = {
        cell: found for cell, found in figures.items() if all(word in cell.name for word in given.words)
    }
    if not chosen:
        parser.error(f"no configuration has all of these words: {' '.join(given.words)}")
    counts = Counter[str]()
    for cell, linux in chosen.items():
        simulator = measured(cell)
        differs = "explained" if cell in reasons else "outside"
        counts[differs if outside(simulator, linux) else "inside"] += 1
        print(line(cell, simulator, linux, reasons.get(cell)), flush=True)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("inside", "explained", "outside"))
    print(f"{len(chosen)} configurations: {verdicts}")
    return 1 if counts["outside"] else 0


if __name__ == "__main__":
    sys.exit(main())
