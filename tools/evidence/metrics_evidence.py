"""Compares the metrics of random scenarios with an independent computation from a trace of every packet.

    python tools/evidence/metrics_evidence.py                       200 scenarios, from seed 1 on
    python tools/evidence/metrics_evidence.py --count 1 --seed 17   one scenario
    python tools/evidence/metrics_evidence.py --json                the same as JSON

Each scenario runs twice: without a trace for the metrics, and with one. A line for each metric
shows the number of compared values, of nonzero values and of excluded values with reasons. It also shows the
largest difference. The exit code is 1 if a value differs by more than rounding, or a percentile by more
than 1 %. Each such value is printed with its seed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import polars
from rich.console import Console
from rich.progress import track

from ackclock import _core
from network import network_of
from random_scenarios import Tree, random_scenario, with_events_at_the_edges
from reader import Answer, Found, LeftOut, Place, read

#: Which key names the rows of a list of the results.
NAMED_BY = {"flows": "name", "transfers": "group", "datagrams": "name", "meters": "name", "links": "name"}
#: Metrics that a trace does not contain, as a pattern for each list of the results.
NOT_READ = {
    "summary": r"rtt_.*",
    "flows": r"acknowledged_bytes|timeouts|congestion_events|ecn_events|rtt_.*_s"
    r"|cwnd_mean_segments|base_rtt_s|completion_time_s|completed|fct_.*",
    "transfers": r"flows|started|refused|unfinished|active_mean|completed|fct_.*|offered_bps|timeouts"
    r"|late|late_rate|stalls|stalled_s|bit_rate_bps|switches|startup_s",
    "datagrams": r"sources|leaves_bps|late_rate|lost_or_late_rate|green|yellow|red|policed",
    "links": r"capacity_bps|.*_drops|.*_marks|losses|corruptions|reordered|attempts|failed_attempts",
}


@dataclass(frozen=True)
class Comparison:
    """A value of the results and the value of the reader."""

    seed: int
    place: Place
    value: float | None
    answer: Answer

    @property
    def deviation(self) -> float:
        """The difference, infinite if only one value exists."""
        if isinstance(self.answer, LeftOut) or self.value is self.answer.value:
            return 0.0
        if self.value is None or self.answer.value is None:
            return float("inf")
        return abs(self.value - self.answer.value)

    @property
    def differs(self) -> bool:
        """Whether they are further apart than rounding explains."""
        if isinstance(self.answer, LeftOut):
            return False
        allowed = self.answer.absolute + self.answer.relative * abs(self.answer.value or 0.0)
        return self.deviation > allowed

    def __str__(self) -> str:
        found = self.answer.value if isinstance(self.answer, Found) else None
        return f"seed {self.seed}: {' '.join(filter(None, self.place))}: {self.value}, from the trace {found}"


@dataclass
class Line:
    """The outcome of one metric."""

    compared: int = 0
    #: Of the values compared, those that are neither 0 nor none.
    nonzero: int = 0
    largest_deviation: float = 0.0
    left_out: Counter[str] = field(default_factory=Counter)


def scenario_of(seed: int) -> Tree:
    """The scenario of a seed. Every second scenario has a window that begins and ends at events."""
    tree = random_scenario(seed)
    if seed % 2:
        return tree
    trace = _trace(tree).filter(polars.col("timer").is_null())
    events = trace.group_by(polars.col("event").cast(polars.String)).agg("time_ns").sort("event")
    return with_events_at_the_edges(tree, dict(events.iter_rows()))


def _checked(tree: Tree) -> _core.Scenario:
    return _core.Scenario.from_json(json.dumps(tree))


def _trace(tree: Tree) -> polars.DataFrame:
    return polars.DataFrame(_checked(tree).run().packets)


def answers_of(tree: Tree) -> dict[Place, Answer]:
    """The values that the reader computes from the trace of a scenario."""
    slots = {
        flow["name"]: flow.get("count", 1) for flow in tree["flows"] if flow["traffic"]["kind"] == "arrivals"
    }
    network = network_of(json.loads(_checked(tree).describe_json()), slots)
    return read(_trace(tree), network, tree)


def document_of(tree: Tree) -> dict[str, Any]:
    """The results of a scenario, run without a trace."""
    document: dict[str, Any] = json.loads(_checked(tree | {"sampling": {"packets": False}}).run().to_json())
    return document


def compare(seed: int, document: dict[str, Any], answers: dict[Place, Answer]) -> list[Comparison]:
    """Every value that the reader speaks of, and whether the packets of each flow add up."""
    values = {place: value for place, value in _values(document) if place in answers}
    rows = {place[:2] for place, _ in _values(document)}
    unread = [
        place
        for place, _ in _values(document)
        if place[0] == "summary" and place not in answers and not re.fullmatch(NOT_READ["summary"], place[2])
    ]
    assert not unread and rows >= {place[:2] for place in answers}, f"seed {seed}: not read: {unread}"
    read_rows = {place[:2] for place in answers}
    assert rows - read_rows <= {("transfers", name) for _, name in rows}, f"seed {seed}: {rows - read_rows}"
    compared = [Comparison(seed, place, values[place], answer) for place, answer in answers.items()]
    return compared + [
        Comparison(seed, ("flows", flow["name"], "conservation"), _unaccounted(flow), Found(0))
        for flow in document["flows"]
    ]


def _values(document: dict[str, Any]) -> Iterator[tuple[Place, float | None]]:
    for metric, value in document["summary"].items():
        yield ("summary", "", metric), value
    for table, name in NAMED_BY.items():
        for row in document.get(table, []):
            for metric, value in row.items():
                yield (table, row[name], metric), value


def _unaccounted(flow: dict[str, Any]) -> float:
    """Data packets of a flow that came into being and are nowhere."""
    came: int = flow["in_flight_start"] + flow["sent"] + flow["copies"]
    went: int = flow["arrived"] + flow["lost"] + flow["corrupted"] + flow["in_flight_end"]
    return came - went


def lines(comparisons: Iterable[Comparison]) -> dict[str, Line]:
    """A line for each metric, with the summary first."""
    table: dict[str, Line] = {}
    for one in comparisons:
        line = table.setdefault(f"{one.place[0]} {one.place[2]}", Line())
        if isinstance(one.answer, LeftOut):
            line.left_out[one.answer.reason] += 1
        else:
            line.compared += 1
            line.nonzero += bool(one.value)
            line.largest_deviation = max(line.largest_deviation, one.deviation)
    order = ["summary", *NAMED_BY]
    return dict(sorted(table.items(), key=lambda item: order.index(item[0].split()[0])))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200, help="how many scenarios")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    console = Console(stderr=True)
    comparisons = [
        comparison
        for seed in track(
            seeds, "scenarios", console=console, transient=True, disable=not console.is_terminal
        )
        for tree in [scenario_of(seed)]
        for comparison in compare(seed, document_of(tree), answers_of(tree))
    ]
    table = lines(comparisons)
    mismatches = [str(one) for one in comparisons if one.differs]
    if options.json:
        metrics = {name: asdict(line) for name, line in table.items()}
        print(json.dumps({"scenarios": len(seeds), "metrics": metrics, "mismatches": mismatches}, indent=2))
    else:
        _print(len(seeds), table, mismatches)
    return 1 if mismatches else 0


def _print(scenarios: int, table: dict[str, Line], mismatches: list[str]) -> None:
    print(f"{'metric':40} {'compared':>8} {'not 0':>6} {'largest deviation':>18}  left out")
    for name, line in table.items():
        reasons = "; ".join(f"{count}: {reason}" for reason, count in line.left_out.items())
        print(
            f"{name:40} {line.compared:8} {line.nonzero:6} {line.largest_deviation:18.3g}  {reasons}".rstrip()
        )
    compared = sum(line.compared for line in table.values())
    left_out = sum(line.left_out.total() for line in table.values())
    print(
        f"{scenarios} scenarios: {compared} values compared, {left_out} left out, {len(mismatches)} differ",
        *mismatches,
        sep="\n",
    )


if __name__ == "__main__":
    sys.exit(main())
