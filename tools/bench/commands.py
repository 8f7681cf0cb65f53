"""Measures whole commands: wall-clock time, CPU time, and the part of it outside of the engine.

    python tools/bench/commands.py                       the short ones
    python tools/bench/commands.py --only evaluate,tune  any of them
    python tools/bench/commands.py --json

The engine is the simulation of runs. Start, scenarios, storage, statistics and reports are outside. Each
command runs once in an empty folder, on all cores. The engine's CPU time is the sum over the stored runs.
"""

import argparse
import json
import sqlite3
import sys
import tempfile
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import process
from ackclock.cli.console import progress, show
from ackclock.running.index import INDEX
from ackclock.text.table import Column, Table
from backends import ACKCLOCK
from workloads import FOLDER

_LINUX = ("--set=transport.profile=linux", "--set=flows.test.cc=cubic")
#: Commands by name, in less than a minute each and in minutes.
SHORT = {
    "run": ("run", str(FOLDER / "w1.toml"), *_LINUX),
    "evaluate --quick": ("evaluate", "cubic", "--quick"),
    "tune": ("tune", "aimd", "--budget=430"),
    "attack": ("attack", "reno", "--family=path", "--budget=600"),
}
LONG = {
    "evaluate": ("evaluate", "cubic"),
    "reproduce jasem-efficiency": ("reproduce", "jasem-efficiency", "--quick"),
    "reproduce jasem-utilization": ("reproduce", "jasem-utilization", "--quick"),
    "reproduce psaras-mr-aimd": ("reproduce", "psaras-mr-aimd", "--quick"),
    "reproduce reddy-linear": ("reproduce", "reddy-linear", "--quick"),
    "league --quick": ("league", "--quick"),
}
COMMANDS = SHORT | LONG


@dataclass(frozen=True)
class Command:
    """The cost of a command."""

    name: str
    runs: int
    wall_s: float
    cpu_s: float
    engine_s: float

    @property
    def outside(self) -> float:
        """The part of the CPU time outside of the engine."""
        return 1 - self.engine_s / self.cpu_s


def measured(name: str) -> Command:
    """Run a command."""
    with tempfile.TemporaryDirectory() as folder:
        # A single run stores nothing, and prints its result.
        is_single = name == "run"
        out = ["--json"] if is_single else ["--out", folder]
        usage = process.measure([ACKCLOCK, *COMMANDS[name], *out])
        runs, engine_s = (1, json.loads(usage.stdout)["engine_cpu_s"]) if is_single else stored(Path(folder))
    return Command(name, runs, usage.wall_s, usage.cpu_s, engine_s)


def stored(folder: Path) -> tuple[int, float]:
    """The number of runs in all stores below a folder, and the CPU seconds of the engine."""
    runs, engine_s = 0, 0.0
    for index in folder.rglob(INDEX):
        with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as rows:
            query = "SELECT count(*), total(json_extract(result_json, '$.engine_cpu_s')) FROM runs"
            [(count, seconds)] = rows.execute(query)
            runs, engine_s = runs + count, engine_s + seconds
    return runs, engine_s


def table(commands: list[Command]) -> Table:
    headings = ("runs", "wall-clock time, s", "CPU time, s", "outside of the engine, %")
    shown = Table("command", *(Column(heading, right=True) for heading in headings))
    for each in commands:
        times = (f"{each.wall_s:.2f}", f"{each.cpu_s:.2f}", f"{100 * each.outside:.0f}")
        shown.add_row(each.name, str(each.runs), *times)
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--only", metavar="NAMES", help=f"comma between them: {', '.join(COMMANDS)}")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(SHORT)
    if unknown := [name for name in names if name not in COMMANDS]:
        parser.error(f"--only: {', '.join(unknown)}: there are {', '.join(COMMANDS)}")
    commands = []
    with progress("commands") as advance:
        for number, name in enumerate(names):
            advance(number, len(names))
            commands.append(measured(name))
    if options.json:
        print(json.dumps([asdict(each) for each in commands], indent=1))
    else:
        show(table(commands))


if __name__ == "__main__":
    try:
        main()
    except (process.Failed, OSError) as error:
        sys.exit(f"commands.py: {error}")
