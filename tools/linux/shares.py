"""Compares how two algorithms share a link: in the simulator, and with the kernel's TCP.

    python tools/linux/shares.py           all pairs, in virtual time
    python tools/linux/shares.py --write   also write the results of docs/validation/linux.md
    python tools/linux/shares.py --quick   runs of ten seconds, one to three of each
    python tools/linux/shares.py --only BBR   pairs with such names
    python tools/linux/shares.py --real-time  the running kernel, twenty minutes, as root on an idle machine

Two flows share 10 Mbit/s, 40 ms and a drop-tail queue of 1 BDP. The second one starts a moment later. The
share is the first flow's part of both goodputs after the warm-up. Single runs of the kernel differ by ten
points and more. The tool therefore compares means of 30 simulations and 30 runs in virtual time. In real
time, ten valid emulations count. An invalid emulation is repeated.

    inside      the means are within 5 points of each other
    undecided   the means differ by more, and their interval (95 %, Welch) contains the bound
    outside     the interval is beyond the bound
    invalid     fewer than ten of thirty emulations are valid

The exit code is 1 if a pair is outside, and 77 where the kernel cannot run.
"""

import argparse
import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import emulations
from ackclock.errors import AckclockError
from ackclock.running.job import Job, execute
from ackclock.running.work import Study
from ackclock.scenario import Scenario

RESULTS = Path(__file__).with_name("shares.json")
LENGTH_S, QUICK_S = 20.0, 10.0
REPLICATES, RUNS = 30, 10
#: Points of a share.
BOUND = 5.0


@dataclass(frozen=True)
class Pair:
    """Two algorithms that share a link."""

    name: str
    first: str | Mapping[str, Any]
    second: str | Mapping[str, Any]

    def scenario(self, length_s: float) -> Scenario:
        """Return the run of both."""
        return Scenario.from_dict(
            {
                "schema": 2,
                "name": f"shares, {self.name}",
                "duration": f"{length_s:g} s",
                "warmup": f"{length_s / 4:g} s",
                "topology": emulations.SHARED_LINK,
                "transport": emulations.TRANSPORT,
                "flows": [
                    emulations.flow("first", self.first),
                    emulations.flow("second", self.second, start="100 ms"),
                ],
            }
        )


PAIRS = (
    Pair("AIMD(1, 0.5) and AIMD(2, 0.8)", "reno", emulations.AIMD),
    Pair("Reno and CUBIC", "reno", "cubic"),
    Pair("BBR and CUBIC", "bbr1", "cubic"),
    Pair("BBR and Reno", "bbr1", "reno"),
    Pair("BBR and BBR", "bbr1", "bbr1"),
)


@dataclass(frozen=True)
class Run:
    """The result of a run."""

    #: Of the first flow, in percent.
    share: float
    faults: Sequence[str]


def run(job: Job) -> Run:
    """Run it once."""
    document = json.loads(execute(job).result_json)
    first, second = (flow["goodput_bps"] for flow in document["flows"])
    return Run(100 * first / (first + second), document.get("emulation", {}).get("reasons", ()))


def compare(
    pair: Pair, backend: emulations.Backend, length_s: float, replicates: int, runs: int
) -> dict[str, Any]:
    """Return the row of a pair."""
    scenario = pair.scenario(length_s)
    simulated = [run(job).share for job in Study.of(scenario, replicates=replicates).jobs]
    wanted = backend.wanted(runs)
    valid, refused = emulations.until_valid(map(run, backend.jobs(scenario, runs)), wanted)
    linux = [each.share for each in valid]
    row = {"pair": pair.name, "simulated": simulated, "linux": linux, "invalid": len(refused)}
    return {**row, "verdict": verdict(simulated, linux) if len(linux) == wanted else "invalid"}


def verdict(simulated: Sequence[float], linux: Sequence[float]) -> str:
    """Return inside, undecided or outside."""
    off = statistics.fmean(linux) - statistics.fmean(simulated)
    return emulations.verdict(off, BOUND, emulations.scatter(simulated, linux))


def line(row: Mapping[str, Any]) -> str:
    """Return a row as the line of a table in Markdown."""
    if row["verdict"] == emulations.NOT_MEASURED:
        return emulations.unmeasured(row["pair"], len(HEADINGS))

    def mean(of: str) -> str:
        values = row[of]
        if not values:
            return "-"
        return (
            f"{statistics.fmean(values):.1f} % ({min(values):.1f} to {max(values):.1f}, {len(values)} runs)"
        )

    off = statistics.fmean(row["linux"]) - statistics.fmean(row["simulated"]) if row["linux"] else math.nan
    cells = (
        row["pair"],
        mean("simulated"),
        mean("linux") + (f", {row['invalid']} invalid" if row["invalid"] else ""),
        f"{off:+.1f}",
        row["verdict"],
    )
    return f"| {' | '.join(cells)} |"


HEADINGS = (
    "pair",
    "share of the first, simulator",
    "share of the first, Linux",
    "points between the means",
    "verdict",
)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of the documentation."""
    return "\n".join([*emulations.head(HEADINGS), *map(line, rows)])


def main() -> int:
    """Compare, print and write, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_S:g} seconds a run, one of each")
    parser.add_argument(
        "--write", action="store_true", help=f"write {RESULTS.name}, which the documentation shows"
    )
    parser.add_argument(
        "--only", action="append", default=[], help="part of the name of a pair; may be repeated"
    )
    emulations.add_backend(parser)
    given = parser.parse_args()
    if given.write and given.quick:
        parser.error("--write is of all runs; leave out --quick")
    pairs = [pair for pair in PAIRS if emulations.is_chosen(pair.name, given.only)]
    if not pairs:
        parser.error(f"no pair has such a name; there are: {'; '.join(pair.name for pair in PAIRS)}")
    try:
        backend = emulations.backend_of(given)
    except AckclockError as error:
        print(f"nothing can be compared here: {error}", file=sys.stderr)
        return 77
    rows = []
    length_s, replicates, runs = (QUICK_S, 2, 1) if given.quick else (LENGTH_S, REPLICATES, RUNS)
    for pair in pairs:
        rows.append(compare(pair, backend, length_s, replicates, runs))
        print(line(rows[-1]), flush=True)
    print(emulations.summary(rows))
    if given.write:
        emulations.write(RESULTS, backend.title, rows, "pair", [pair.name for pair in PAIRS], table)
    return 1 if any(row["verdict"] == "outside" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
