"""The speed of a workload in Chromium beside that of the native engine, in turns.

    python tools/web/speed_on_web.py [--rounds N] [--workload W1] [--json]

Packets that the bottleneck forwards in a second of the run: of CPU time natively, of time in the page; the
machine should have nothing else to do. The first run in Chromium is not counted: its code is compiled
meanwhile. The ratio is taken round by round.
Needs `make web`, node and Chromium.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from chromium import chromium, served
from golden_on_web import missing

from ackclock.cli.console import show
from ackclock.text.table import Column, Table

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools" / "bench"))

from workloads import WORKLOADS  # noqa: E402

PROGRAM = ROOT / "web" / "tests" / "speed.mjs"


def rounds(workload: str, count: int) -> Iterator[tuple[float, float]]:
    """Packets a second, native and in Chromium, of each round."""
    scenario = next(each for each in WORKLOADS if each.name == workload).scenario("routers")
    with served() as address:
        command = ["node", str(PROGRAM), str(chromium()), address]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as browser:
            assert browser.stdin is not None and browser.stdout is not None
            asked, told = browser.stdin, browser.stdout

            def in_chromium() -> float:
                asked.write(json.dumps(json.loads(scenario.resolved_json())) + "\n")
                asked.flush()
                took_ms, packets = json.loads(told.readline())
                return float(packets / took_ms * 1e3)

            in_chromium()
            for _ in range(count):
                run = json.loads(scenario.run().to_json())
                yield run["packets_forwarded"] / run["engine_cpu_s"], in_chromium()
            asked.close()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workload", default="W1", choices=[each.name for each in WORKLOADS])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    problem = missing("chromium")
    if problem is not None:
        print(f"speed: skipped, {problem}")
        return 77
    found = list(rounds(options.workload, options.rounds))
    native, page = (statistics.median(speeds) for speeds in zip(*found, strict=True))
    ratios = sorted(page / native for native, page in found)
    if options.json:
        json.dump({"native": native, "chromium": page, "ratios": ratios}, sys.stdout)
        return 0
    speeds = (Column(f"{name}, M packets a second", right=True) for name in ("native", "Chromium"))
    table = Table("workload", *speeds, "ratio")
    ratio = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
    table.add_row(options.workload, f"{native / 1e6:.2f}", f"{page / 1e6:.2f}", ratio)
    show(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
