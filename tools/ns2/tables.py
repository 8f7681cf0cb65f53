"""Cases that are run in ns-2 and in ackclock, and the table of docs/validation/ns2.md that they fill."""

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.progress import track

import ns2
import sides
from ackclock import _core
from intervals import counted
from scores import Row, Score, judge, line

PAGE = Path(__file__).resolve().parents[2] / "docs" / "validation" / "ns2.md"


class Case(Protocol):
    """A change of the scenario, and its name."""

    @property
    def words(self) -> tuple[str, ...]:
        """Its names, one per column."""

    def sets(self) -> list[str]:
        """The changes, as for `--set`."""


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of cases, in this order.

    Comments with its `name` enclose it on the page. The first `columns` show the words of a case. The cases
    change the file `scenario`, and `scores` gives the measures of a scenario.
    """

    name: str
    columns: tuple[str, ...]
    scenario: Path
    cases: tuple[Case, ...]
    scores: Callable[[_core.Scenario], tuple[Score, ...]]

    def compiled(self, case: Case, sets: Sequence[str] = ()) -> _core.Scenario:
        """The scenario of a case. `sets` replace settings of the case with the same keys."""
        keys = {text.partition("=")[0] for text in sets}
        own = [text for text in case.sets() if text.partition("=")[0] not in keys]
        return _core.Scenario.from_toml(self.scenario.read_text(), str(self.scenario), [*own, *sets])

    def header(self) -> list[str]:
        """The first two lines."""
        scores = self.scores(self.compiled(self.cases[0]))
        columns = [*self.columns, *(score.name for score in scores), "verdict"]
        return [line(columns), line(["---"] * len(columns))]

    def renewed(self, page: str, rows: Iterable[Row]) -> str:
        """The page with these rows instead of the rows of the same cases. Other rows stay."""
        begin, end = f"<!-- {self.name} -->", f"<!-- end of {self.name} -->"
        before, _, rest = page.partition(begin)
        table, _, after = rest.partition(end)
        places = {line(case.words).removesuffix("|"): case.words for case in self.cases}
        found = {
            words: text
            for text in table.splitlines()
            for start, words in places.items()
            if text.startswith(start)
        }
        found |= {row.words: row.text for row in rows}
        lines = [*self.header(), *(found[case.words] for case in self.cases if case.words in found)]
        return "\n".join([before + begin, "", *lines, "", end + after])


def compare(table: Table, chosen: Sequence[Case], options: argparse.Namespace) -> list[Row]:
    """Runs cases on both sides, and prints each as it comes."""
    console = Console(stderr=True)
    rows: list[Row] = []
    with ThreadPoolExecutor(max_workers=sides.WORKERS) as pool:
        for case in track(chosen, "cases", console=console, transient=True, disable=not console.is_terminal):
            scenario = table.compiled(case, options.set)
            runs = sides.both(scenario, options.seeds, pool)
            rows.append(judge(case.words, table.scores(scenario), runs))
            if not options.json:
                print(rows[-1].text, flush=True)
    return rows


def main(table: Table, description: str | None) -> int:
    """Compares, prints, and says by the exit code whether all is well."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("words", nargs="*", help="names that a case must have; all cases by default")
    parser.add_argument("--seeds", type=int, default=20, help="runs on either side (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change the scenario")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--write", action="store_true", help="renew the rows of docs/validation/ns2.md")
    options = parser.parse_intermixed_args()
    if options.seeds < 2:
        parser.error("--seeds: at least 2")
    chosen = [case for case in table.cases if set(options.words) <= set(case.words)]
    if not chosen:
        parser.error(f"no case has all of these words: {' '.join(options.words)}")
    ns2.require()
    if not options.json:
        print("\n".join(table.header()))
    rows = compare(table, chosen, options)
    if options.json:
        print(json.dumps([{**dataclasses.asdict(row), "verdict": row.verdict} for row in rows], indent=1))
    if options.write:
        PAGE.write_text(table.renewed(PAGE.read_text(), rows))
    verdicts = [row.verdict for row in rows]
    print(counted(verdicts, options.seeds), file=sys.stderr)
    return 1 if "outside" in verdicts else 0
