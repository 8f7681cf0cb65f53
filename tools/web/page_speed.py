"""Measures the live page in Chromium: its first picture, and frames per second with many flows.

    python tools/web/page_speed.py [--from server|disk] [--flows N] [--rate RATE] [--speed 100]
        [--rounds N] [--json]

The first picture is the first frame in which the page draws a run. Its time counts from the opening of the
page, in a new browser and again. From disk, the page is a file of `ackclock play --save`. Frames are counted
for 5 s. Pictures are the frames that show new data. The machine should be idle. The tool needs `make web`,
node and Chromium.
"""

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chromium import chromium, served
from golden_on_web import missing

from ackclock.cli.console import show
from ackclock.text.table import Column, Table

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "web" / "tests" / "page_speed.mjs"
SECONDS = "5"
SCENARIO = """
schema = 2
duration = "3600 s"
topology = {{ kind = "dumbbell", rate = "{rate}", delay = "20 ms" }}
flows = [{{ cc = "cubic", count = {flows} }}]
"""


@contextlib.contextmanager
def opened(place: str, text: str) -> Iterator[str]:
    """The address of a page with a scenario in it: from a server, or from disk."""
    with tempfile.TemporaryDirectory() as folder:
        file, page = Path(folder, "scenario.toml"), Path(folder, "page.html")
        file.write_text(text)
        if place == "server":
            with served(file) as address:
                yield address
        else:
            play = [sys.executable, "-m", "ackclock", "play", str(file), "--save", str(page)]
            subprocess.run(play, check=True, stdout=subprocess.DEVNULL)
            yield page.as_uri()


def rounds(place: str, text: str, speed: str, count: int) -> Iterator[Any]:
    """Return the figures of a new browser in each round."""
    with opened(place, text) as address:
        for _ in range(count):
            command = ["node", str(PROGRAM), str(chromium()), address, speed, SECONDS]
            yield json.loads(subprocess.run(command, check=True, capture_output=True, timeout=300).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--from", dest="place", choices=("server", "disk"), default="server")
    parser.add_argument("--flows", type=int, default=20)
    parser.add_argument("--rate", default="50 Mbit/s")
    parser.add_argument(
        "--speed", default="100", help="how much faster than the clock, as the page offers it"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    problem = missing("chromium")
    if problem is not None:
        print(f"page speed: skipped, {problem}")
        return 77
    scenario = SCENARIO.format(rate=options.rate, flows=options.flows)
    found = list(rounds(options.place, scenario, options.speed, options.rounds))
    figures = {
        "first picture, ms": [each["first"][0] for each in found],
        "again, ms": [each["first"][1] for each in found],
        "frames a second": [each["frames"] for each in found],
        "pictures a second": [each["pictures"] for each in found],
        "times as fast as the clock": [each["speed"] for each in found],
    }
    if options.json:
        json.dump(figures, sys.stdout)
        return 0
    table = Table("figure", Column("median", right=True), "range")
    for name, values in figures.items():
        table.add_row(name, f"{statistics.median(values):.0f}", f"{min(values):.0f}-{max(values):.0f}")
    show(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
