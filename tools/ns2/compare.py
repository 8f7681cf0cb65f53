"""Runs the same scenarios in ns-2 and in ackclock, and compares the means of their measures.

    python tools/ns2/compare.py                       configurations c, d and RED, 20 seeds each
    python tools/ns2/compare.py scenarios/d.toml --flows 3 --seeds 40
    python tools/ns2/compare.py scenarios/d.toml --profile both

For each measure it prints both means, the difference with Welch's 95 % interval, and a verdict. The verdict
is `inside` if the interval is within the bound, and `outside` if it is beyond. It is `undecided` if the
interval contains a bound.

    drop-tail   goodput 1 %, drops 25 %
    RED         goodput 1.5 %, drops, marks and retransmissions 15 %, mean queueing delay 10 %

Counts are judged if both sides have 100 or more. Other measures are not judged. The exit code is 1 if a
measure is outside. docs/validation/ns2.md lists the differences by design.

The senders of ackclock follow the profile of the scenario. `--profile both` runs them under the RFCs' rules
and under ns-2's, and compares both with the same runs of ns-2.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ns2
import sides
from ackclock import _core
from comparable import NotComparable
from intervals import Difference, counted, welch
from scenario import arguments
from scenario import flows as group_of
from sides import WORKERS, Measures

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
# The choices of --profile, and the profiles that each compares.
PROFILES = {"rfc": ("rfc",), "ns-2": ("ns-2",), "both": ("rfc", "ns-2")}


@dataclasses.dataclass(frozen=True)
class Cell:
    """One measure of one scenario, under one profile of ackclock's senders."""

    scenario: str
    flows: int
    profile: str
    measure: str
    difference: Difference
    bound: float | None

    @property
    def verdict(self) -> str:
        """inside, outside, undecided, or - where there is no bound."""
        room = None if self.bound is None else self.bound * abs(self.difference.first)
        return self.difference.verdict(room)


def compare(
    profiles: Sequence[_core.Scenario], flows: int, seeds: int, pool: ThreadPoolExecutor
) -> Iterator[tuple[Cell, ...]]:
    """A tuple per measure, with one cell for each of `profiles`: one scenario under different profiles."""
    words = arguments(profiles[0])
    if any(arguments(scenario) != words for scenario in profiles):
        raise NotComparable("--profile both: the profile changes what ns-2 is told")
    bounds = BOUNDS[str(words["queue"])]
    first = sides.in_ns2(profiles[0], seeds, pool)
    columns = [
        list(cells_of(scenario, flows, bounds, first, sides.in_ackclock(scenario, seeds, pool)))
        for scenario in profiles
    ]
    yield from zip(*columns, strict=True)


def cells_of(
    scenario: _core.Scenario,
    flows: int,
    bounds: Mapping[str, tuple[float, float]],
    first: Sequence[Measures],
    second: Sequence[Measures],
) -> Iterator[Cell]:
    """One cell per measure, from the runs of ns-2 and of ackclock."""
    if unpaired := first[0].keys() ^ second[0].keys():
        raise NotComparable(f"measured on one side only: {', '.join(sorted(unpaired))}")
    for measure in first[0]:
        difference = welch([run[measure] for run in first], [run[measure] for run in second])
        bound, least = bounds.get(measure, (None, 0.0))
        if min(difference.first, difference.second) < least:
            bound = None
        yield Cell(scenario.name, flows, profile_of(scenario), measure, difference, bound)


def profile_of(scenario: _core.Scenario) -> str:
    """The profile of the senders."""
    return str(group_of(json.loads(scenario.resolved_json()))["profile"])


def header(profile: str | None) -> str:
    """The headings of the table. `profile` is a choice of --profile."""
    start = f"set-up    flows  {'measure':<14}{'ns-2':>12}"
    if profile != "both":
        return f"{start} {'ackclock':>12}  {'difference in %':>17}   bound  verdict"
    return f"{start}   bound" + "".join(
        f"  {'difference in %':>17}  {f'under {name}':<10}" for name in PROFILES[profile]
    )


def row(cells: Sequence[Cell]) -> str:
    """A line of the table: a measure under one profile, or under several side by side."""
    cell = cells[0]
    start = f"{cell.scenario:<9} {cell.flows:>5}  {cell.measure:<14}{cell.difference.first:12.6g}"
    bounds = dict.fromkeys(f"±{cell.bound * 100:g} %" for cell in cells if cell.bound is not None)
    bound = f"{''.join(bounds):>6}"
    if len(cells) == 1:
        return f"{start} {cell.difference.second:12.6g}  {shift(cell.difference)}  {bound}  {cell.verdict}"
    columns = "".join(f"  {shift(cell.difference)}  {cell.verdict:<10}" for cell in cells)
    return f"{start}  {bound}{columns}".rstrip()


def shift(difference: Difference) -> str:
    """A difference and its interval, in percent of ns-2's mean."""
    if not difference.first:
        return f"{'-':>17}"
    percent = 100 / abs(difference.first)
    return f"{difference.value * percent:+8.2f} ± {difference.half_width * percent:6.2f}"


def rows(options: argparse.Namespace) -> Iterator[tuple[Cell, ...]]:
    """Everything asked for, measure by measure."""
    files: Sequence[Path] = options.scenarios or [SCENARIOS / f"{name}.toml" for name in SETUPS]
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        for file in files:
            for count in options.flows or SETUPS.get(file.stem) or (None,):
                sets = list(options.set) + ([] if count is None else [f"flows.0.count={count}"])
                profiles = list(scenarios(file, sets, options.profile))
                flows = len(json.loads(profiles[0].describe_json())["flows"])
                yield from compare(profiles, flows, options.seeds, pool)


def scenarios(file: Path, sets: Sequence[str], profile: str | None) -> Iterable[_core.Scenario]:
    """The scenario as it is, or under each of the profiles asked for."""
    text = file.read_text()
    if profile is None:
        yield _core.Scenario.from_toml(text, str(file), list(sets))
        return
    for name in PROFILES[profile]:
        scenario = _core.Scenario.from_toml(text, str(file), [*sets, f"transport.profile={name}"])
        if profile_of(scenario) != name:
            raise NotComparable(f"--profile: the flows of {scenario.name} have a profile of their own")
        yield scenario


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument(
        "scenarios", nargs="*", type=Path, metavar="SCENARIO", help="default: all configurations"
    )
    parser.add_argument(
        "--flows", type=int, nargs="+", help="numbers of flows (default: from the configuration)"
    )
    parser.add_argument("--seeds", type=int, default=20, help="runs on either side (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change the scenario")
    parser.add_argument(
        "--profile", choices=tuple(PROFILES), help="rules of ackclock's senders (default: the scenario's)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error("--seeds: at least 2")
    ns2.require()
    done: list[Cell] = []
    if not options.json:
        print(header(options.profile))
    for cells in rows(options):
        done += cells
        if not options.json:
            print(row(cells), flush=True)
    if options.json:
        print(json.dumps([{**dataclasses.asdict(cell), "verdict": cell.verdict} for cell in done], indent=1))
    verdicts = [cell.verdict for cell in done]
    print(counted(verdicts, options.seeds), file=sys.stderr)
    return 1 if "outside" in verdicts else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ns2.Ns2Error, NotComparable, _core.ScenarioError, OSError) as error:
        sys.exit(f"compare.py: {error}")
