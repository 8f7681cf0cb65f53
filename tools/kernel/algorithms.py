"""Compares algorithms that Linux also contains with the kernel in virtual time, on ten paths.

    python tools/kernel/algorithms.py bic htcp
    python tools/kernel/algorithms.py bic htcp --drawn 1

`--drawn` replaces the ten paths by six random ones. They have 5 to 100 Mbit/s, 10 to 150 ms and
0.25 to 4 BDP.

A path is a drop-tail dumbbell with one flow of 30 seconds. Both sides delay each packet by up to one
transmission time, from the same random stream. The simulator uses `profile = "linux"`. A figure is the mean
of three seeds, and of 20 for CDG, which draws random numbers. `tools/kernel/agreement.py` has the bounds.

The exit code is 1 if a cell is outside, and 77 without a kernel.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from itertools import product

import agreement
import agreement_page
from ackclock.errors import InputError
from ackclock.kernels import store as kernels
from ackclock.running.job import Job, with_kernel
from ackclock.running.store import Store
from ackclock.running.work import Study

#: Mbit/s, RTT in ms and buffer in BDP.
PATHS = (*product((10,), (20, 40, 100), (0.25, 1, 4)), (100, 40, 1))
SEEDS = 3
#: Seeds of algorithms that draw random numbers.
RANDOM_SEEDS = {"cdg": 20}
DURATION_S = 30
#: Drawn paths, and the ranges of their rates in Mbit/s, their RTTs in ms and their buffers in BDP.
DRAWN = 6
RANGES = ((5, 100), (10, 150), (0.25, 4))


def drawn(seed: int) -> list[tuple[int, int, float]]:
    """Return random paths, uniform in the logarithm of each quantity."""
    source = random.Random(seed)
    paths = []
    for _ in range(DRAWN):
        mbit, rtt, bdp = (low * (high / low) ** source.random() for low, high in RANGES)
        paths.append((round(mbit), round(rtt), round(bdp, 2)))
    return paths


def cells(algorithm: str, seed: int | None) -> list[agreement.Cell]:
    """Return the ten paths of an algorithm, or the drawn ones of a seed."""
    paths = PATHS if seed is None else drawn(seed)
    seeds = RANDOM_SEEDS.get(algorithm, SEEDS)
    return [agreement.Cell(algorithm, mbit, rtt, bdp, seeds) for mbit, rtt, bdp in paths]


def jobs(cell: agreement.Cell, backend: str) -> tuple[Sequence[Job], Sequence[Job]]:
    """Return the jobs of both sides, by seed."""
    here = cell.scenario(cell.algorithm, DURATION_S)
    there = cell.scenario({"kind": "kernel", "name": cell.algorithm}, DURATION_S)
    return (
        Study.of(here, samples=False, replicates=cell.seeds).jobs,
        Study.of(there, samples=False, replicates=cell.seeds, backend=backend).jobs,
    )


def main() -> int:
    """Compare, print, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("algorithm", nargs="+", help="name of an algorithm, the same on both sides")
    parser.add_argument("--drawn", type=int, metavar="SEED", help="compare on six random paths instead")
    parser.add_argument("--kernel", help="the kernel, as for `ackclock run`. Default: the newest")
    parser.add_argument("--workers", type=int, default=2, help="runs side by side. Default: 2")
    given = parser.parse_args()
    try:
        backend = with_kernel(kernels.find(given.kernel).name)
    except InputError as error:
        print(f"nothing can be compared here: {error}", file=sys.stderr)
        return 77
    chosen = {cell: jobs(cell, backend) for name in given.algorithm for cell in cells(name, given.drawn)}
    with Store() as store:
        rows = list(agreement.compare(chosen, store, given.workers))
    for each in rows:
        print(agreement_page.line(each))
    return 1 if any(each["verdict"] in ("outside", "invalid") for each in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
