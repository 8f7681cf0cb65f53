"""Measures the packets per CPU second of ackclock, compared with ns-2 and ns-3.

    python tools/bench/speed.py [--quick] [--rounds N] [--only W1,S10] [--json | --write]
    python tools/bench/speed.py --read FILE --write    tables and plot from the output of --json

A packet counts once, when the bottleneck forwards it. The work includes its other links and its ACK, and in
ackclock metrics and samples. The CPU time covers the events. The setup of the network has its own column.
Every round runs everything once, so all simulators meet the same machine. Ratios compare medians, and ranges
show the ratios within rounds. A simulator that is not installed is omitted. A simulator that exhausts its
CPU seconds does not run again.
"""

import argparse
import os
import platform
import sys
from pathlib import Path

import backends
import process
import singles
import speed_tables
from ackclock.cli.console import progress, show
from measured import Report, Row
from workloads import QUICK, TOPOLOGIES, WORKLOADS, Workload

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation" / "performance.md"
PLOT = ROOT / "docs" / "images" / "speed.svg"


def rows(chosen: list[Workload], rounds: int, budget_s: int) -> list[Row]:
    """Run everything, round by round."""
    ready, missing = backends.available()
    for line in missing:
        print(line, file=sys.stderr)
    cells = {
        (workload, topology): Row(workload.name, topology) for workload in chosen for topology in TOPOLOGIES
    }
    turns = [
        (workload, topology, name)
        for workload, topology in cells
        for name in ready
        if workload.has_rivals or name == "ackclock"
    ]
    with progress("runs") as advance:
        for turn in range(rounds * len(turns)):
            advance(turn, rounds * len(turns))
            workload, topology, name = turns[turn % len(turns)]
            row = cells[workload, topology]
            if name in row.not_run:
                continue
            try:
                limit_s = None if name == "ackclock" else budget_s
                row.runs.setdefault(name, []).append(ready[name](workload, topology, limit_s))
            except process.OverBudget:
                row.leave_out(name, f"> {budget_s} s")
            except process.Failed as error:
                if name == "ackclock":
                    raise
                row.leave_out(name, "fails")
                print(f"{workload.name}, {topology}: {error}", file=sys.stderr)
    return list(cells.values())


def machine() -> str:
    """Return a description of the machine."""
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":")[1] for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0].strip() if names else model
    return f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[2]:.1f} (average of 15 minutes)"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    names = [workload.name for workload in WORKLOADS]
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--only", metavar="NAMES", help=f"workloads, comma between them: {', '.join(names)}")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument(
        "--budget",
        type=int,
        default=60,
        metavar="S",
        help="CPU seconds of another simulator (default: %(default)s)",
    )
    parser.add_argument("--read", type=Path, metavar="FILE", help="measure nothing: take a file of --json")
    parser.add_argument("--write", action="store_true", help=f"renew {PAGE.name} and its plot")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else QUICK if options.quick else names
    if unknown := [name for name in wanted if name not in names]:
        parser.error(f"--only: {', '.join(unknown)}: there are {', '.join(names)}")
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    if options.read:
        report = Report.from_json(options.read.read_text(encoding="utf-8"))
    else:
        chosen = [workload for workload in WORKLOADS if workload.name in wanted]
        measured = rows(chosen, options.rounds, options.budget)
        beside = [] if options.only else list(singles.measure(options.rounds, options.quick))
        report = Report(machine(), options.rounds, measured, [*beside, *singles.derived(measured)])
    if options.json:
        print(report.to_json())
    else:
        for table in speed_tables.tables(report):
            show(table.for_terminal())
    if options.write:
        import speed_plot

        speed_tables.write(PAGE, report)
        speed_plot.draw(report, PLOT)


if __name__ == "__main__":
    try:
        main()
    except (process.Failed, OSError) as error:
        sys.exit(f"speed.py: {error}")
