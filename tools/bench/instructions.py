"""Counts the instructions per forwarded packet by callgrind, independent of other load on the machine.

    python tools/bench/instructions.py [--only W1] [--cache] [--record] [--json]

Each workload runs twice, for a short and for a longer time. The difference is the cost of the packets
between them, without start and setup. Only the engine's thread counts. The output compares the result with
the last line of `bench/history.csv`. `--cache` also counts misses of the last cache level and mispredicted
branches, by callgrind's models. `--record` adds a line for each workload, with the packets per CPU second,
measured without valgrind. No number makes the command fail.
"""

import argparse
import csv
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ackclock import _core
from ackclock.cli.console import show
from ackclock.text.table import Column, Table
from workloads import TOPOLOGIES, WORKLOADS, Workload

ROOT = Path(__file__).resolve().parents[2]
HISTORY = ROOT / "bench" / "history.csv"
#: The two simulated times of each workload, in milliseconds. Both are after the starts of the flows.
#: "hosts" in a name adds links from and to hosts.
TIMES = {
    "W1": (2_000, 6_000),
    "W1 hosts": (2_000, 6_000),
    "W1-BBRv3": (2_000, 6_000),
    "W1-linux-CUBIC": (2_000, 6_000),
    "W1-linux-BBRv3": (2_000, 6_000),
    "W1-QUIC": (2_000, 6_000),
    "W2": (1_500, 2_500),
    "W3": (1_500, 2_500),
    "W3 hosts": (1_500, 2_500),
    "S10000 hosts": (1_500, 2_000),
}
#: The names of callgrind's events, which add up to a figure.
INSTRUCTIONS, MISSES, MISPREDICTIONS = ("Ir",), ("ILmr", "DLmr", "DLmw"), ("Bcm", "Bim")
#: Runs without valgrind, of the whole workload.
ROUNDS = 5
COLUMNS = ("commit", "workload", "instructions_per_packet", "packets_per_cpu_s")


@dataclass(frozen=True)
class Count:
    """Costs per packet of a workload, and the instructions in the last line of the history."""

    workload: str
    instructions_per_packet: float
    before: float | None
    #: Misses of the last cache level, and branches that are predicted wrongly. None if they were not counted.
    misses_per_packet: float | None = None
    mispredictions_per_packet: float | None = None

    @property
    def change(self) -> str:
        """Against the last line."""
        return (
            "-" if self.before is None else f"{100 * (self.instructions_per_packet / self.before - 1):+.1f} %"
        )


def scenario(workload: str, *sets: str) -> _core.Scenario:
    chosen, settings = named(workload)
    return _core.Scenario.from_toml(chosen.path.read_text(), str(chosen.path), [*settings, *sets])


def named(workload: str) -> tuple[Workload, tuple[str, ...]]:
    """The workload and its settings."""
    name, _, hosts = workload.partition(" ")
    chosen = next(each for each in WORKLOADS if each.name == name)
    return chosen, chosen.settings(hosts or TOPOLOGIES[0])


def callgrind(workload: str, duration_ms: int, folder: Path, *options: str) -> Path:
    """Run a workload for this length. Return the profile of the engine's thread, a file in `folder`."""
    out = folder / "threads"
    chosen, settings = named(workload)
    valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}"]
    run = [sys.executable, str(ROOT / "tools" / "bench" / "one_run.py"), str(chosen.path), *settings]
    subprocess.run([*valgrind, *options, *run, f"duration={duration_ms} ms"], check=True, capture_output=True)
    # The first thread is Python's, the second one the engine's.
    return Path(f"{out}-02")


def events(workload: str, duration_ms: int, *options: str) -> dict[str, int]:
    """Events of the engine's thread in a run of this length, by callgrind's names."""
    with tempfile.TemporaryDirectory() as folder:
        lines = callgrind(workload, duration_ms, Path(folder), *options).read_text().splitlines()
    heads = {line.partition(":")[0]: line.partition(":")[2].split() for line in lines if ":" in line}
    return dict(zip(heads["events"], map(int, heads["totals"]), strict=True))


def packets(workload: str, duration_ms: int) -> int:
    """Packets that the bottleneck forwards in a run of this length."""
    run = json.loads(scenario(workload, f"duration={duration_ms} ms").run().to_json())
    return int(run["packets_forwarded"])


def per_packet(workload: str, *options: str) -> dict[str, float]:
    """Events per packet between the two times."""
    short, long = TIMES[workload]
    forwarded = packets(workload, long) - packets(workload, short)
    before, after = events(workload, short, *options), events(workload, long, *options)
    return {event: (after[event] - before[event]) / forwarded for event in after}


def packets_per_cpu_s(workload: str) -> float:
    """The speed of the whole workload without valgrind, median."""
    runs = [json.loads(scenario(workload).run().to_json()) for _ in range(ROUNDS)]
    return statistics.median(float(run["packets_forwarded"] / run["engine_cpu_s"]) for run in runs)


def history() -> dict[str, float]:
    """The last count of each workload."""
    if not HISTORY.exists():
        return {}
    with HISTORY.open(encoding="utf-8", newline="") as file:
        return {line["workload"]: float(line["instructions_per_packet"]) for line in csv.DictReader(file)}


def record(counts: list[Count]) -> None:
    """Add a line for each to the history."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    is_new = not HISTORY.exists()
    with HISTORY.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        for count in counts:
            speed = round(packets_per_cpu_s(count.workload), -4)
            writer.writerow((commit, count.workload, f"{count.instructions_per_packet:.1f}", f"{speed:.0f}"))


def counted(workloads: list[str], cache: bool) -> Iterator[Count]:
    before = history()
    options = ("--cache-sim=yes", "--branch-sim=yes") if cache else ()
    for workload in workloads:
        found = per_packet(workload, *options)
        instructions, misses, mispredictions = (
            sum(found[event] for event in kinds) if kinds[0] in found else None
            for kinds in (INSTRUCTIONS, MISSES, MISPREDICTIONS)
        )
        assert instructions is not None
        yield Count(workload, instructions, before.get(workload), misses, mispredictions)


def table(counts: list[Count]) -> Table:
    figures = ["instructions a packet", "last recorded", "change"]
    is_cache = counts[0].misses_per_packet is not None
    more = ["last-level misses", "mispredictions"] if is_cache else []
    shown = Table("workload", *(Column(heading, right=True) for heading in [*figures, *more]))
    for count in counts:
        before = "-" if count.before is None else f"{count.before:.1f}"
        others = (count.misses_per_packet, count.mispredictions_per_packet) if is_cache else ()
        cells = [f"{count.instructions_per_packet:.1f}", before, count.change]
        shown.add_row(count.workload, *cells, *(f"{other:.2f}" for other in others))
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--only", choices=list(TIMES), help="default: all of them")
    parser.add_argument("--cache", action="store_true", help="count misses and mispredictions too")
    parser.add_argument("--record", action="store_true", help=f"add to {HISTORY.relative_to(ROOT)}")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("instructions are not counted: valgrind is not installed (Debian: apt-get install valgrind)")
        return
    counts = list(counted([options.only] if options.only else list(TIMES), options.cache))
    if options.json:
        print(json.dumps([asdict(count) for count in counts], indent=1))
    else:
        show(table(counts))
    if options.record:
        record(counts)


if __name__ == "__main__":
    main()
