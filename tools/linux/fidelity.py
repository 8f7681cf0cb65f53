"""Compares a Linux kernel in virtual time with the running kernel in real time.

    python tools/linux/fidelity.py             ten configurations, 15 minutes, as root on an idle machine
    python tools/linux/fidelity.py --write     also write fidelity.json, which the documentation shows
    python tools/linux/fidelity.py --quick --only cubic    configurations with such names, one emulation each

Both backends carry packets of a real kernel through the same simulated network. A configuration is one flow
over a dumbbell, 15 seconds from the handshake. It consists of nine runs in virtual time and three valid
emulations.

    goodput      0.5 %
    mean cwnd    2 %
    recoveries   10 % or one

A measure is the mean of the runs. It is inside, outside or undecided. Undecided means that the scatter of
the runs (95 %) explains the excess over the bound. Where the versions of both kernels differ, so may their
TCP. The exit code is 1 if a configuration is outside, and 77 where one of both cannot run.
"""

import argparse
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import emulations
import episodes
from ackclock.errors import AckclockError
from episodes import Episode

RESULTS = Path(__file__).with_name("fidelity.json")
LENGTH_S, QUICK_S = 15.0, 5.0
RUNS = 3
MEASURES = (
    replace(episodes.GOODPUT, bound=0.005),
    replace(episodes.CWND, bound=0.02),
    episodes.RECOVERIES,
)
HEADINGS = ("configuration", "runs", "virtual time, real time", "verdict")


def cell(cc: str, mbit: int, rtt_ms: int, bdp: float) -> Episode:
    """A bulk transfer over a drop-tail queue."""
    queue = {"queue": {"kind": "drop-tail", "limit": f"{bdp:g} BDP"}}
    return Episode(f"drop-tail {bdp:g} BDP", cc, mbit, rtt_ms, LENGTH_S, MEASURES, queue)


CELLS = (
    cell("reno", 10, 10, 1),
    cell("reno", 10, 40, 0.25),
    cell("reno", 10, 40, 1),
    cell("reno", 50, 20, 1),
    cell("cubic", 10, 40, 0.25),
    cell("cubic", 10, 40, 1),
    cell("cubic", 10, 100, 1),
    cell("cubic", 50, 20, 1),
    cell("new-aimd", 10, 40, 1),
    cell("bbr1", 10, 40, 4),
)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of the documentation."""
    return "\n".join([*emulations.head(HEADINGS), *map(episodes.line, rows)])


def main() -> int:
    """Compare, print and write, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", action="append", default=[], help="part of the name of a configuration; may be repeated"
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_S:g} seconds, one emulation")
    parser.add_argument("--kernel", help="the kernel, as for `ackclock run`. Default: the newest")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    given = parser.parse_args()
    cells = [each for each in CELLS if emulations.is_chosen(each.title, given.only)]
    if not cells:
        parser.error(
            f"no configuration has such a name; there are: {'; '.join(each.title for each in CELLS)}"
        )
    if given.write and given.quick:
        parser.error("--write is of all runs; leave out --quick")
    try:
        virtual = emulations.backend_of(Namespace(kernel=given.kernel, real_time=False))
        real = emulations.backend_of(Namespace(real_time=True))
    except AckclockError as error:
        print(f"nothing can be compared here: {error}", file=sys.stderr)
        return 77
    runs = 1 if given.quick else RUNS
    if given.quick:
        cells = [replace(each, length_s=QUICK_S) for each in cells]
    rows = []
    for each in cells:
        here, there = (backend.jobs(each.scenario(), runs, samples=True) for backend in (virtual, real))
        rows.append(episodes.compare(each, here, there, real.wanted(runs)))
        print(episodes.line(rows[-1]), flush=True)
    print(emulations.summary(rows))
    if given.write:
        title = f"{virtual.title} and {real.title} in real time"
        emulations.write(RESULTS, title, rows, "cell", [each.title for each in CELLS], table)
    return 1 if any(row["verdict"] == "outside" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
