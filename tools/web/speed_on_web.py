"""Compares the speed of a workload in a browser or in Node with the native engine, in turns.

    python tools/web/speed_on_web.py [--in chromium|node] [--rounds N] [--workload W1] [--json]

It counts packets that the bottleneck forwards per second of CPU time. The first round in the browser does
not count, because it includes compilation. The tool computes the ratio of each round.
Needs `make web`, node and Chromium.
"""

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from chromium import chromium, files
from golden_on_web import MODULE, PROGRAMS, missing

from ackclock.cli.console import show
from ackclock.text.table import Column, Table

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools" / "bench"))

from workloads import WORKLOADS  # noqa: E402


@contextlib.contextmanager
def command(place: str) -> Iterator[list[str]]:
    """The command that runs scenarios in this place."""
    if place == "node":
        yield ["node", "--no-liftoff", str(PROGRAMS / "speed_node.mjs"), str(MODULE)]
        return
    with files() as address:
        yield ["node", str(PROGRAMS / "speed.mjs"), str(chromium()), address]


def rounds(place: str, workload: str, count: int) -> Iterator[tuple[float, float]]:
    """Packets a second, native and in this place, of each round."""
    scenario = next(each for each in WORKLOADS if each.name == workload).scenario("routers")
    with (
        command(place) as runs,
        subprocess.Popen(runs, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as browser,
    ):
        assert browser.stdin is not None and browser.stdout is not None
        asked, told = browser.stdin, browser.stdout

        def in_place() -> float:
            asked.write(json.dumps(json.loads(scenario.resolved_json())) + "\n")
            asked.flush()
            took_ms, packets = json.loads(told.readline())
            return float(packets / took_ms * 1e3)

        in_place()
        for _ in range(count):
            run = json.loads(scenario.run().to_json())
            yield run["packets_forwarded"] / run["engine_cpu_s"], in_place()
        asked.close()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--in", dest="place", choices=("chromium", "node"), default="chromium")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workload", default="W1", choices=[each.name for each in WORKLOADS])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    problem = missing(options.place)
    if problem is not None:
        print(f"speed: skipped, {problem}")
        return 77
    found = list(rounds(options.place, options.workload, options.rounds))
    native, page = (statistics.median(speeds) for speeds in zip(*found, strict=True))
    ratios = sorted(page / native for native, page in found)
    if options.json:
        json.dump({"native": native, options.place: page, "ratios": ratios}, sys.stdout)
        return 0
    speeds = (Column(f"{name}, M packets a second", right=True) for name in ("native", options.place.title()))
    table = Table("workload", *speeds, "ratio")
    ratio = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
    table.add_row(options.workload, f"{native / 1e6:.2f}", f"{page / 1e6:.2f}", ratio)
    show(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
