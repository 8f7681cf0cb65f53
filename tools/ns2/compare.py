"""Runs the same scenarios in ns-2 and in ackclock, and compares the means of what they measure.

    python tools/ns2/compare.py                       set-ups c, d and the three of RED, 20 seeds each
    python tools/ns2/compare.py scenarios/d.toml --flows 3 --seeds 40

For each measure it prints both means, the difference with Welch's 95 % interval, and a verdict: `inside` if
the interval lies within the bound, `outside` if it lies without, `undecided` if it holds a bound. Bounds with
drop-tail: goodput 1 %, drops 25 % where both have 100 or more; with RED: goodput 1.5 %; drops, marks and
retransmissions 15 % where both have 100 or more; mean queueing delay 10 %. Everything else is shown and not
judged. The exit code is 1 if anything is outside. docs/ns2.md says where the two differ by design.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ns2
import sides
from ackclock import _core
from comparable import NotComparable
from intervals import Difference, welch
from scenario import arguments
from sides import WORKERS

SCENARIOS = Path(__file__).with_name("scenarios")
# Set-up, and the numbers of flows to run it with.
SETUPS = {
    "c": (2, 3, 4, 5),
    "d": (1, 2, 3, 4, 5),
    "red": (10, 40, 100),
    "red-bytes": (2, 4),
    "red-ecn": (10, 40, 100),
}
# Relative bounds by the queue of the bottleneck, and the least mean of both for the bound to apply.
BOUNDS = {
    "DropTail": {"goodput_Bps": (0.01, 0.0), "drops": (0.25, 100.0), "access_drops": (0.25, 100.0)},
    "RED": {
        "goodput_Bps": (0.015, 0.0),
        "drops": (0.15, 100.0),
        "retransmits": (0.15, 100.0),
        "marks": (0.15, 100.0),
        "queue_delay_s": (0.1, 0.0),
    },
}
HEADER = (
    f"set-up    flows  {'measure':<14}{'ns-2':>12} {'ackclock':>12}  {'difference in %':>17}   bound  verdict"
)


@dataclasses.dataclass(frozen=True)
class Cell:
    """One measure of one scenario."""

    scenario: str
    flows: int
    measure: str
    difference: Difference
    bound: float | None

    @property
    def verdict(self) -> str:
        """inside, outside, undecided, or - where there is no bound."""
        room = None if self.bound is None else self.bound * abs(self.difference.first)
        return self.difference.verdict(room)


def compare(scenario: _core.Scenario, flows: int, seeds: int, pool: ThreadPoolExecutor) -> Iterator[Cell]:
    """One cell per measure."""
    bounds = BOUNDS[str(arguments(scenario)["queue"])]
    first, second = sides.both(scenario, seeds, pool)
    for measure in first[0]:
        difference = welch([run[measure] for run in first], [run[measure] for run in second])
        bound, least = bounds.get(measure, (None, 0.0))
        if min(difference.first, difference.second) < least:
            bound = None
        yield Cell(scenario.name, flows, measure, difference, bound)


def row(cell: Cell) -> str:
    """A line of the table."""
    difference = cell.difference
    percent = 100 / abs(difference.first) if difference.first else 0.0
    shift = (
        f"{difference.value * percent:+8.2f} ± {difference.half_width * percent:6.2f}"
        if percent
        else f"{'-':>17}"
    )
    bound = f"±{cell.bound * 100:g} %" if cell.bound is not None else ""
    means = f"{difference.first:12.6g} {difference.second:12.6g}"
    return (
        f"{cell.scenario:<9} {cell.flows:>5}  {cell.measure:<14}{means}  {shift}  {bound:>6}  {cell.verdict}"
    )


def cells(options: argparse.Namespace) -> Iterator[Cell]:
    """Everything asked for, cell by cell."""
    files: Sequence[Path] = options.scenarios or [SCENARIOS / f"{name}.toml" for name in SETUPS]
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        for file in files:
            text = file.read_text()
            counts = options.flows or SETUPS.get(file.stem) or (None,)
            for count in counts:
                sets = list(options.set) + ([] if count is None else [f"flows.0.count={count}"])
                scenario = _core.Scenario.from_toml(text, str(file), sets)
                flows = len(json.loads(scenario.describe_json())["flows"])
                yield from compare(scenario, flows, options.seeds, pool)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("scenarios", nargs="*", type=Path, metavar="SCENARIO", help="default: all set-ups")
    parser.add_argument(
        "--flows", type=int, nargs="+", help="numbers of flows (default: those of the set-up)"
    )
    parser.add_argument("--seeds", type=int, default=20, help="runs on either side (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change the scenario")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error("--seeds: at least 2")
    ns2.require()
    done = []
    if not options.json:
        print(HEADER)
    for cell in cells(options):
        done.append(cell)
        if not options.json:
            print(row(cell), flush=True)
    if options.json:
        print(json.dumps([{**dataclasses.asdict(cell), "verdict": cell.verdict} for cell in done], indent=1))
    verdicts = [cell.verdict for cell in done]
    count = ", ".join(
        f"{verdicts.count(verdict)} {verdict}" for verdict in ("inside", "undecided", "outside")
    )
    print(f"{options.seeds} seeds each: {count}", file=sys.stderr)
    return 1 if "outside" in verdicts else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ns2.Ns2Error, NotComparable, _core.ScenarioError, OSError) as error:
        sys.exit(f"compare.py: {error}")
