"""Measures the size of reports of large evaluations, and their opening time in Chromium.

    python tools/web/report_speed.py [--candidates 25] [--environments 40] [--rounds N] [--out FOLDER]

The environments come from the suite core, and one of them is added at other rates. The candidates are the
algorithms of the suite's panel, and AIMD with other decreases. They are compared with each other ("a panel of
24") and ranked ("a ranking of 25"). A report is open when it is loaded, its first screen is painted and its
script has run. Times count from the start of a new browser. The machine should be idle. FOLDER keeps the
runs. The tool needs `make web`, node and Chromium.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from chromium import chromium
from golden_on_web import missing

from ackclock.cli.console import show
from ackclock.evaluation import evaluate
from ackclock.evaluation.report import write_report
from ackclock.evaluation.suite import Suite
from ackclock.text.table import Column, Table

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "web" / "tests" / "report_speed.mjs"
REPLICATES = 2
MORE = """
[[environments]]
id = "rate-{rate}"
scenario = "slow.toml"
set = ["topology.rate={rate} Mbit/s"]
title = "{rate} Mbit/s, 2 flows"
question = "Do two flows share a link at {rate} Mbit/s?"
"""


def write_suite(folder: Path, environments: int) -> None:
    """Write the suite: core, with paths to its scenarios, and more environments."""
    core = Suite.load("core")
    assert core.folder is not None
    text = (core.folder / "suite.toml").read_text().replace('scenario = "', f'scenario = "{core.folder}/')
    more = [MORE.format(rate=6 + at) for at in range(environments - len(core.environments))]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "suite.toml").write_text(
        "".join([text, *more]).replace('"slow.toml"', f'"{core.folder}/slow.toml"')
    )


def algorithms(count: int) -> list[str]:
    """The algorithms."""
    panel = Suite.load("core").panel
    return [*panel, *(f"aimd(remaining={0.4 + 0.01 * at:.2f})" for at in range(count - len(panel)))][:count]


def reports(folder: Path, candidates: int, environments: int) -> Iterator[tuple[str, Path]]:
    """The reports, by their descriptions."""
    suite = folder / "suite"
    write_suite(suite, environments)
    first, *others = algorithms(candidates)
    for name, given, against in (
        (f"a panel of {candidates - 1}", first, others),
        (f"a ranking of {candidates}", [first, *others], None),
    ):
        evaluation = evaluate(
            given,
            against=against,
            suite=str(suite),
            replicates=REPLICATES,
            out=folder / "runs",
            within_table=True,
        )
        for is_interactive in (False, True):
            report = write_report(
                evaluation, folder / "runs", command="ackclock evaluate", is_interactive=is_interactive
            )
            kept = (
                folder / f"{'ranking' if against is None else 'panel'}{'-interactive' * is_interactive}.html"
            )
            report.replace(kept)
            yield f"{name}{', with the simulator' * is_interactive}", kept


def opened(report: Path) -> dict[str, float]:
    """Return the figures of a new browser."""
    command = ["node", str(PROGRAM), str(chromium()), report.as_uri()]
    found: dict[str, float] = json.loads(
        subprocess.run(command, check=True, capture_output=True, timeout=300).stdout
    )
    assert not found.pop("problems"), report
    return found


def spread(times_ms: list[float]) -> str:
    """The median of times and their range, in seconds."""
    least, middle, most = (f"{each(times_ms) / 1000:.2f}" for each in (min, statistics.median, max))
    return f"{middle} ({least} to {most})"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--candidates", type=int, default=25)
    parser.add_argument("--environments", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    problem = missing("chromium")
    if problem is not None:
        print(f"report speed: skipped, {problem}")
        return 77
    table = Table("report", *(Column(name, right=True) for name in ("MB", "first text, s", "open, s")))
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.out or Path(scratch)).resolve()
        for name, report in reports(folder, options.candidates, options.environments):
            rounds = [opened(report) for _ in range(options.rounds)]
            times = [spread([found[key] for found in rounds]) for key in ("paint", "opened")]
            table.add_row(name, f"{report.stat().st_size / 1e6:.2f}", *times)
    show(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
