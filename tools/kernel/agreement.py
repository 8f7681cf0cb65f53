"""Compares the simulator with a Linux kernel in virtual time on a grid of one-flow dumbbells.

    python tools/kernel/agreement.py                  all 300 configurations, about an hour of CPU time
    python tools/kernel/agreement.py --slice          10 configurations, one seed each, in 20 seconds
    python tools/kernel/agreement.py --only cubic     configurations with such names
    python tools/kernel/agreement.py --write          write agreement.json and the map of the documentation

A configuration is an algorithm, a rate, a round-trip time and a drop-tail queue. A run begins with the
handshake and lasts 60 seconds. Both sides delay each packet by up to one transmission time, from the same
random stream. The simulator uses `profile = "linux"`. A configuration has several seeds, and each runs on
both sides.

    goodput              within 1 %
    mean cwnd            within 5 %
    recoveries           within 15 %, or one

A measure is the mean of all seeds. It is inside, outside or undecided. Undecided means that the scatter of
the paired differences (95 %) explains the excess over the bound. `agreement.toml` names the causes of known
deviations. A configuration with a known cause is explained. Finished runs are kept in --store.

The exit code is 1 if a configuration is outside, and 77 without a kernel.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import ackclock
import agreement_page
from ackclock.cli.console import progress
from ackclock.errors import InputError
from ackclock.kernels import store as kernels
from ackclock.running.job import Job, with_kernel
from ackclock.running.store import Store
from ackclock.running.work import Study, fill
from ackclock.scenario import Scenario

sys.path.append(str(Path(__file__).resolve().parents[1] / "linux"))

import emulations

RESULTS = Path(__file__).with_name("agreement.json")
CAUSES = Path(__file__).with_name("agreement.toml")
STORE = Path(__file__).resolve().parents[2] / "target" / "kernel-agreement"
ALGORITHMS: Mapping[str, Any] = {
    "reno": "reno",
    "cubic": "cubic",
    "AIMD(2, 0.8)": emulations.AIMD,
    "New-AIMD": "new-aimd",
    "BBRv1": "bbr1",
}
RATES_MBIT = (1, 10, 30, 100, 300)
RTTS_MS = (10, 40, 100, 200)
BUFFERS_BDP = (0.25, 1, 4)
PACKET_BYTES = 1500
DURATION_S = 60
#: Seeds of a configuration by rate, and the factor of BBR, whose gain cycle begins at random.
SEEDS = {1: 8, 10: 3, 30: 2, 100: 1, 300: 1}
RANDOM_FACTOR = 2
MBIT = 1e6


@dataclass(frozen=True)
class Cell:
    """An algorithm, a bottleneck and the seeds of its runs."""

    algorithm: str
    mbit: int
    rtt_ms: int
    bdp: float
    seeds: int

    @property
    def name(self) -> str:
        """The name that `--only` searches."""
        return f"{self.algorithm}, {self.mbit} Mbit/s, {self.rtt_ms} ms, {self.bdp:g} BDP"

    @property
    def packets(self) -> int:
        """The size of the queue, at least two packets."""
        return max(2, round(self.bdp * self.mbit * MBIT * self.rtt_ms / 1e3 / 8 / PACKET_BYTES))

    def scenario(self, cc: Any, duration_s: int = DURATION_S, competitor: Any = None) -> Scenario:
        """Return its scenario with an algorithm, and with a flow of a competitor if there is one."""
        others = [] if competitor is None else [emulations.flow("competitor", competitor)]
        return Scenario.from_dict(
            {
                "schema": 2,
                "name": self.name,
                "duration": f"{duration_s} s",
                "warmup": "0 s",
                "topology": {
                    "kind": "dumbbell",
                    "rate": f"{self.mbit} Mbit/s",
                    "delay": f"{self.rtt_ms / 2:g} ms",
                    "queue": {"kind": "drop-tail", "limit": f"{self.packets} packets"},
                },
                "transport": emulations.TRANSPORT,
                "flows": [emulations.flow("test", cc), *others],
            }
        )


@dataclass(frozen=True)
class Measure:
    """A figure of both sides, and the verdict."""

    name: str
    simulated: float
    linux: float
    #: The deviation of the simulator and its random part, both as parts of the kernel's figure.
    deviation: float
    scatter: float
    verdict: str


#: A measure's key in results, its bound as a part, and the difference that is always inside.
MEASURES = {
    "goodput": ("goodput_bps", 0.01, 0.0),
    "cwnd": ("cwnd_mean_segments", 0.05, 0.0),
    "recoveries": ("congestion_events", 0.15, 1.0),
}


def grid() -> list[Cell]:
    """Return all configurations, those with short runs first."""
    return [
        Cell(
            name,
            mbit,
            rtt,
            bdp,
            SEEDS[mbit] * (RANDOM_FACTOR if name == "BBRv1" and mbit < RATES_MBIT[-1] else 1),
        )
        for mbit, name, rtt, bdp in product(RATES_MBIT, ALGORITHMS, RTTS_MS, BUFFERS_BDP)
    ]


def fast() -> list[Cell]:
    """Return the configurations of the slice: 10 Mbit/s, 40 ms and queues of a BDP or more."""
    return [
        replace(cell, seeds=1) for cell in grid() if (cell.mbit, cell.rtt_ms) == (10, 40) and cell.bdp >= 1
    ]


def jobs(cell: Cell, backend: str) -> tuple[Sequence[Job], Sequence[Job]]:
    """Return the jobs of both sides, by seed."""
    scenario = cell.scenario(ALGORITHMS[cell.algorithm])
    here = Study.of(scenario, samples=False, replicates=cell.seeds).jobs
    return here, Study.of(scenario, samples=False, replicates=cell.seeds, backend=backend).jobs


def measure(name: str, simulated: Sequence[float], linux: Sequence[float]) -> Measure:
    """Compare the figures of paired runs."""
    _, bound, least = MEASURES[name]
    here, there = statistics.fmean(simulated), statistics.fmean(linux)
    differences = [one - other for one, other in zip(simulated, linux, strict=True)]
    error = statistics.stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else 0.0
    scale = max(there, 1e-9)
    allowed = max(bound * there, least)
    excess = abs(here - there) - allowed
    verdict = "inside" if excess <= 0 else "undecided" if excess <= emulations.SIGMAS * error else "outside"
    return Measure(name, here, there, (here - there) / scale, emulations.SIGMAS * error / scale, verdict)


def row(cell: Cell, sides: Sequence[Sequence[Mapping[str, Any]]], causes: Causes) -> dict[str, Any]:
    """Return the row of a configuration from the results of its flow on both sides."""
    found = [
        measure(name, *([float(flow[key]) for flow in side] for side in sides))
        for name, (key, _, _) in MEASURES.items()
    ]
    verdicts = {each.verdict for each in found}
    verdict = next(each for each in ("outside", "undecided", "inside") if each in verdicts)
    cause = causes.of(cell) if verdict == "outside" else None
    return {
        "cell": cell.name,
        **asdict(cell),
        "verdict": verdict if cause is None else emulations.EXPLAINED,
        **({} if cause is None else {"cause": cause}),
        "measures": [asdict(each) for each in found],
    }


class Causes:
    """The causes of known deviations, by configuration."""

    def __init__(self, path: Path = CAUSES) -> None:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        self._of = {name: cause["says"] for cause in document["cause"] for name in cause["cells"]}
        if unknown := self._of.keys() - {cell.name for cell in grid()}:
            raise ValueError(f"{path.name}: no configuration is called {', '.join(sorted(unknown))}")

    def of(self, cell: Cell) -> str | None:
        """Return the cause of a configuration's deviation, or None."""
        return self._of.get(cell.name)


def compare(
    sides: Mapping[Cell, tuple[Sequence[Job], Sequence[Job]]], store: Store, workers: int
) -> Iterable[dict[str, Any]]:
    """Run the configurations with the jobs of both sides, and yield their rows."""
    flows: dict[str, Mapping[str, Any]] = {}
    failures: dict[str, str] = {}
    with progress("comparing") as tell:
        fill(
            [job for here, there in sides.values() for job in (*here, *there)],
            store,
            workers=workers,
            progress=tell,
            keep=lambda key, outcome: flows.__setitem__(key, json.loads(outcome.result_json)["flows"][0]),
            failed=lambda job, error: failures.__setitem__(job.key, str(error)),
        )
    causes = Causes()
    for cell, both in sides.items():
        if reasons := [failures[job.key] for side in both for job in side if job.key in failures]:
            yield {
                "cell": cell.name,
                **asdict(cell),
                "verdict": "invalid",
                "cause": reasons[0],
                "measures": [],
            }
            continue
        yield row(cell, [[flows[job.key] for job in side] for side in both], causes)


def write(rows: Sequence[Mapping[str, Any]], kernel: kernels.Kernel) -> None:
    """Write rows in the order of the grid. Earlier rows without a new measurement stay."""
    made = f"{kernel.title}, {time.strftime('%Y-%m-%d', time.gmtime())}"
    known = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"] if RESULTS.exists() else []
    new = [{**each, "made": made, "version": ackclock.__version__} for each in rows]
    by_name = {each["cell"]: each for each in (*known, *new)}
    names = [cell.name for cell in grid()]
    missing = {
        cell.name: {"cell": cell.name, **asdict(cell), "verdict": emulations.NOT_MEASURED} for cell in grid()
    }
    all_rows = [by_name.get(name, missing[name]) for name in names]
    kept = [by_name[name] for name in names if name in by_name]
    titles = dict.fromkeys(each["made"].rpartition(", ")[0] for each in kept)
    dates = sorted({each["made"].rpartition(", ")[2] for each in kept})
    places = f"{' and '.join(titles)}, {' and '.join(dates)}"
    document = {"made": f"{places}: {emulations.summary(all_rows)}", "rows": kept}
    RESULTS.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    agreement_page.PICTURE.write_text(agreement_page.picture(all_rows), encoding="utf-8")


def main() -> int:
    """Compare, print and write, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", default=[], help="part of a name; may be repeated")
    parser.add_argument("--slice", action="store_true", help="10 configurations with one seed each")
    parser.add_argument("--seeds", type=int, help="seeds of each one. Default: by rate and algorithm")
    parser.add_argument("--kernel", help="the kernel, as for `ackclock run`. Default: the newest")
    parser.add_argument(
        "--store", type=Path, default=STORE, help=f"folder of finished runs. Default: {STORE}"
    )
    parser.add_argument("--workers", type=int, default=2, help="runs side by side. Default: 2")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} and the map")
    given = parser.parse_args()
    cells = [
        cell for cell in (fast() if given.slice else grid()) if emulations.is_chosen(cell.name, given.only)
    ]
    if given.seeds is not None:
        cells = [replace(cell, seeds=given.seeds) for cell in cells]
    if given.write and given.slice:
        parser.error("--write needs the full runs; leave out --slice")
    try:
        kernel = kernels.find(given.kernel)
    except InputError as error:
        print(f"nothing can be compared here: {error}", file=sys.stderr)
        return 77
    with Store(None if given.slice else given.store) as store:
        sides = {cell: jobs(cell, with_kernel(kernel.name)) for cell in cells}
        rows = list(compare(sides, store, given.workers))
    for each in rows:
        print(agreement_page.line(each))
    print(emulations.summary(rows))
    if given.write:
        write(rows, kernel)
    return 1 if any(each["verdict"] in ("outside", "invalid") for each in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
