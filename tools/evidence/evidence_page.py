"""Results of the rows of `rows.toml` at full length, and the page that is made from them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rows import ROOT, Row

PAGE = ROOT / "docs" / "validation" / "README.md"
RESULTS = Path(__file__).with_name("results.json")

HEAD = """\
# Evidence

```sh
make evidence                                                     # every row at full length: some six hours
.venv/bin/python tools/evidence/evidence_full.py --only verify-ns2 model
make evidence-slice                                               # a small slice of each: minutes
```

`make evidence` runs each claim of this page, and writes the page. Every figure was
read from the output of the command beside it, on that date, with the sources of that commit; `-dirty` says
that they had uncommitted changes. A row that is run alone leaves the others as they were.
`tools/evidence/rows.toml` holds the rows.

| claim | command | figure | date | commit |
|---|---|---|---|---|
"""

SLICES = """
## What every test run repeats

`./dev test` runs a slice of each row, so that no command breaks unnoticed; at its end it says what it
skipped, and why. A slice of few seeds leaves most comparisons undecided. It shows that the command works and
that nothing is grossly wrong, and gives no figure for the table above.

| row | slice |
|---|---|
"""


@dataclass(frozen=True)
class Result:
    """What came of a row at full length.

    Attributes:
        figure: as it was read from the output; empty if there was none.
        failure: why it failed; empty if it did not.
        skipped: what was missing when it was to run again.
    """

    command: str
    figure: str
    failure: str
    date: str
    commit: str
    seconds: int
    skipped: str = ""


def stored() -> dict[str, Result]:
    """The results so far, by the name of the row."""
    if not RESULTS.exists():
        return {}
    return {name: Result(**table) for name, table in json.loads(RESULTS.read_text(encoding="utf-8")).items()}


def store(results: Mapping[str, Result], rows: Sequence[Row]) -> None:
    """Keep the results of these rows, and write the page."""
    kept = {row.name: asdict(results[row.name]) for row in rows if row.name in results}
    RESULTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(rows, results), encoding="utf-8")


def page(rows: Sequence[Row], results: Mapping[str, Result]) -> str:
    """The whole page."""
    lines = [_line(row, results.get(row.name)) for row in rows]
    slices = [f"| {row.name} | {_slice(row)} |" for row in rows]
    return HEAD + "\n".join(lines) + "\n" + SLICES + "\n".join(slices) + "\n"


def _line(row: Row, result: Result | None) -> str:
    what, date, commit = ("not run yet", "", "")
    if result is not None:
        what, date, commit = _said(row, result), result.date, result.commit
    command = f"{_code(row.full.command)}, {row.full.takes}"
    return f"| {row.claim} | {command} | {what} | {date} | {_code(commit)} |"


def _said(row: Row, result: Result) -> str:
    """What there is to say of a result, its figure first."""
    failed = f"**failed**, {result.failure}"
    return "; ".join(
        filter(
            None,
            [
                ": ".join(filter(None, [failed, result.figure])) if result.failure else result.figure,
                f"the command was {_code(result.command)}" if result.command != row.full.command else "",
                result.skipped,
            ],
        )
    )


def _slice(row: Row) -> str:
    if row.slice is None:
        return "the tests run all of it"
    return _code(row.slice.command) + (f": {row.slice.note}" if row.slice.note else "")


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
