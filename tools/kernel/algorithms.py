"""Compares algorithms that Linux also contains with the kernel in virtual time, on ten paths.

    python tools/kernel/algorithms.py bic htcp
    python tools/kernel/algorithms.py bic htcp --drawn 1
    python tools/kernel/algorithms.py bic htcp --against cubic itself

`--drawn` replaces the ten paths by six random ones. They have 5 to 100 Mbit/s, 10 to 150 ms and
0.25 to 4 BDP. `--against` adds a flow of a competitor on two paths, and the figures are the first flow's.

A path is a drop-tail dumbbell with one flow of 30 seconds. Both sides delay each packet by up to one
transmission time, from the same random stream. The simulator uses `profile = "linux"`. A figure is the mean
of three seeds, and of 20 for CDG, which draws random numbers. `tools/kernel/agreement.py` has the bounds.

The exit code is 1 if a configuration is outside, and 77 without a kernel.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
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
#: The paths with a competitor.
SHARED_PATHS = ((10, 40, 1), (100, 40, 1))
#: Two flows need more seeds, because their shares scatter.
SHARED_SEEDS = 10
#: Seeds of algorithms that draw random numbers.
RANDOM_SEEDS = {"cdg": 20}
DURATION_S = 30
#: Drawn paths, and the ranges of their rates in Mbit/s, their RTTs in ms and their buffers in BDP.
DRAWN = 6
RANGES = ((5, 100), (10, 150), (0.25, 4))


#: The competitor that is the algorithm.
ITSELF = "itself"


@dataclass(frozen=True)
class Shared(agreement.Cell):
    """A path with a flow of a competitor."""

    competitor: str

    @property
    def name(self) -> str:
        """The name of the path, with the competitor."""
        return f"{super().name}, against {self.competitor}"


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


def shared_cells(algorithm: str, competitors: Sequence[str]) -> list[Shared]:
    """Return the paths of an algorithm with each competitor."""
    return [
        Shared(algorithm, *path, SHARED_SEEDS, algorithm if name == ITSELF else name)
        for name, path in product(competitors, SHARED_PATHS)
    ]


def jobs(cell: agreement.Cell, backend: str) -> tuple[Sequence[Job], Sequence[Job]]:
    """Return the jobs of both sides, by seed."""
    competitor = cell.competitor if isinstance(cell, Shared) else None
    of_kernel = None if competitor is None else {"kind": "kernel", "name": competitor}
    here = cell.scenario(cell.algorithm, DURATION_S, competitor)
    there = cell.scenario({"kind": "kernel", "name": cell.algorithm}, DURATION_S, of_kernel)
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
    parser.add_argument("--against", nargs="+", default=[], metavar="CC", help="competitors, or `itself`")
    parser.add_argument("--kernel", help="the kernel, as for `ackclock run`. Default: the newest")
    parser.add_argument("--workers", type=int, default=2, help="runs side by side. Default: 2")
    given = parser.parse_args()
    try:
        backend = with_kernel(kernels.find(given.kernel).name)
    except InputError as error:
        print(f"nothing can be compared here: {error}", file=sys.stderr)
        return 77
    paths = [
        cell
        for name in given.algorithm
        for cell in (shared_cells(name, given.against) if given.against else cells(name, given.drawn))
    ]
    chosen = {cell: jobs(cell, backend) for cell in paths}
    with Store() as store:
        rows = list(agreement.compare(chosen, store, given.workers))
    for each in rows:
        print(agreement_page.line(each))
    return 1 if any(each["verdict"] in ("outside", "invalid") for each in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
