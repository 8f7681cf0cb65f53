"""Runs environments with cross traffic of constant rate in ns-2 and in ackclock, and compares their scores.

    python tools/ns2/environments.py                    64 cases, 20 seeds each, half an hour
    python tools/ns2/environments.py sq-high red reno   those that have all of these words
    python tools/ns2/environments.py --write            renew the table of docs/ns2.md

For each case it prints what ns-2 measures and the difference of ackclock, with Welch's 95 % interval, and a
verdict: `inside` if the intervals of all judged measures lie within their bounds, `outside` if one lies
without, else `undecided`. The exit code is 1 if anything is outside. Judged are

    goodput fraction   goodput over the mean rate that cross traffic leaves, .02
    loss               drops over arrivals at the bottleneck, 25 %, where both have 100 drops or more
    queueing delay     mean at the bottleneck, 10 %

and shown beside them goodput over the rest that cross traffic really left, and the part of what the test
flows sent that was not acknowledged: their losses, what they sent again in vain, and what is under way.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import track

import ns2
import sides
from ackclock import _core
from cases import SCENARIO, Case, cases
from comparable import NotComparable
from scores import Row, header, judge

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ns2.md"
TABLE = ("<!-- environments -->", "<!-- end of environments -->")


def compare(chosen: Sequence[Case], options: argparse.Namespace) -> list[Row]:
    """Runs the cases on both sides, and prints each as it comes."""
    console = Console(stderr=True)
    rows: list[Row] = []
    with ThreadPoolExecutor(max_workers=sides.WORKERS) as pool:
        for case in track(chosen, "cases", console=console, transient=True, disable=not console.is_terminal):
            scenario = compiled(case, options.set)
            rows.append(judge(case, scenario, sides.both(scenario, options.seeds, pool)))
            if not options.json:
                print(rows[-1].text, flush=True)
    return rows


def compiled(case: Case, sets: Sequence[str] = ()) -> _core.Scenario:
    """The scenario of a case."""
    return _core.Scenario.from_toml(SCENARIO.read_text(), str(SCENARIO), [*case.sets(), *sets])


def main() -> int:
    """Compares, prints, and says by the exit code whether all is well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("words", nargs="*", help="names that a case must have; all cases by default")
    parser.add_argument("--seeds", type=int, default=20, help="runs on either side (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change the scenario")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--write", action="store_true", help="renew the table of docs/ns2.md")
    options = parser.parse_intermixed_args()
    if options.seeds < 2:
        parser.error("--seeds: at least 2")
    chosen = [case for case in cases() if set(options.words) <= set(case.words)]
    if not chosen:
        parser.error(f"no case has all of these words: {' '.join(options.words)}")
    ns2.require()
    head = header(compiled(chosen[0], options.set))
    if not options.json:
        print("\n".join(head))
    rows = compare(chosen, options)
    if options.json:
        print(json.dumps([{**dataclasses.asdict(row), "verdict": row.verdict} for row in rows], indent=1))
    if options.write:
        before, _, rest = PAGE.read_text().partition(TABLE[0])
        after = rest.partition(TABLE[1])[2]
        table = "\n".join([*head, *(row.text for row in rows)])
        PAGE.write_text(f"{before}{TABLE[0]}\n\n{table}\n\n{TABLE[1]}{after}")
    return 1 if any(row.verdict == "outside" for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ns2.Ns2Error, NotComparable, _core.ScenarioError, OSError) as error:
        sys.exit(f"environments.py: {error}")
