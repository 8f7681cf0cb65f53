"""Results of the rows of `rows.toml`, and the tables that the documentation shows of them.

A result names the version of ackclock that ran. `outdated` finds results of earlier versions.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rows import ROOT, Row

sys.path.append(str(ROOT / "tools" / "markdown"))

from generated_parts import renewed

PAGE = ROOT / "docs" / "validation" / "README.md"
SLICES_PAGE = ROOT / "docs" / "project" / "evidence.md"
RESULTS = Path(__file__).with_name("results.json")

HEAD = """\
| claim | against | result | measured | command |
|---|---|---|---|---|
"""
SLICES_HEAD = """\
| row | slice |
|---|---|
"""


@dataclass(frozen=True)
class Result:
    """The outcome of a row at full length. An empty text means none."""

    command: str
    figure: str
    #: The reason of a failure.
    failure: str
    date: str
    commit: str
    seconds: int
    #: The requirements that were missing at the last attempt.
    skipped: str = ""
    #: The version of ackclock that ran.
    version: str = ""


def current_version() -> str:
    """The version of ackclock in this repository."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return str(manifest["workspace"]["package"]["version"])


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version. A missing version is older than any other."""
    return tuple(map(int, re.findall(r"\d+", re.split(r"[-+]", version)[0])))


def is_older(version: str, than: str) -> bool:
    """Whether a version precedes another one."""
    return _numbers(version) < _numbers(than)


def outdated(results: Mapping[str, Result], version: str) -> list[str]:
    """A line for each row whose figure was measured with an earlier version."""
    return [
        f"{name}: measured with {result.version or 'an unknown version'}, before {version}"
        for name, result in results.items()
        if result.figure and is_older(result.version, version)
    ]


def stored() -> dict[str, Result]:
    """The stored results, by the name of the row."""
    if not RESULTS.exists():
        return {}
    return {name: Result(**table) for name, table in json.loads(RESULTS.read_text(encoding="utf-8")).items()}


def known(rows: Sequence[Row], results: Mapping[str, Result]) -> dict[str, Result]:
    """The results with those that commands store in files of their own, unless a later run is stored."""
    found = dict(results)
    for row in rows:
        own = _kept(row)
        if own is not None and (row.name not in found or found[row.name].date < own.date):
            found[row.name] = own
    return found


def _kept(row: Row) -> Result | None:
    documents: list[dict[str, Any]] = [
        json.loads((ROOT / file).read_text(encoding="utf-8")) for file in row.kept if (ROOT / file).exists()
    ]
    measured = [each for document in documents for each in document["rows"]]
    if not measured:
        return None
    figure = row.full.reading.figure("\n".join(document["made"] for document in documents))
    dates = re.findall(r"\d{4}-\d\d-\d\d", " ".join(each["made"] for each in measured))
    version = min((each.get("version", "") for each in measured), key=_numbers)
    return Result(row.full.command, figure or "", "", min(dates), "", 0, version=version)


def store(results: Mapping[str, Result], rows: Sequence[Row]) -> None:
    """Keep the results of these rows, and renew the tables of both pages."""
    kept = {row.name: asdict(results[row.name]) for row in rows if row.name in results}
    RESULTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    parts = {"validation": overview(rows, known(rows, results)), "slices": slices(rows)}
    for page in (PAGE, SLICES_PAGE):
        page.write_text(renewed(page.read_text(encoding="utf-8"), parts.__getitem__), encoding="utf-8")


def overview(rows: Sequence[Row], results: Mapping[str, Result], version: str | None = None) -> str:
    """The tables of the overview, a section each."""
    version = version or current_version()
    parts = []
    for section in dict.fromkeys(row.section for row in rows):
        lines = [_line(row, results.get(row.name), version) for row in rows if row.section == section]
        parts.append(f"## {section}\n\n{HEAD}" + "\n".join(lines))
    return "\n\n".join(parts)


def slices(rows: Sequence[Row]) -> str:
    """The table of the slices."""
    return SLICES_HEAD + "\n".join(f"| {row.name} | {_slice(row)} |" for row in rows)


def _line(row: Row, result: Result | None, version: str) -> str:
    against = row.against
    if row.page is not None:
        against = f"[{against}]({os.path.relpath(ROOT / row.page, PAGE.parent)})"
    command = f"{_code(row.full.command.replace('.venv/bin/', ''))}, {row.full.takes}"
    cells = (row.claim, against, *_measured(row, result, version), command)
    return f"| {' | '.join(cells)} |"


def _measured(row: Row, result: Result | None, version: str) -> tuple[str, str]:
    """The result, and its date, version and commit."""
    nothing = f"not measured in {version}"
    if result is None:
        return nothing, ""
    if not result.date or is_older(result.version, version):
        return ". ".join(filter(None, (nothing, result.skipped))), ""
    when = ", ".join(filter(None, (result.date, result.version, _code(result.commit))))
    return _said(row, result), when


def _said(row: Row, result: Result) -> str:
    """The figure, with a failure before it and remarks behind it."""
    figure = re.sub(r", 0 (?:undecided|explained|invalid|without bounds|not measured)\b", "", result.figure)
    failed = f"**failed**, {result.failure}"
    return ". ".join(
        filter(
            None,
            [
                ": ".join(filter(None, [failed, figure])) if result.failure else figure,
                f"The command was {_code(result.command)}" if result.command != row.full.command else "",
                result.skipped,
            ],
        )
    )


def _slice(row: Row) -> str:
    if row.slice is None:
        return "the tests run the whole row"
    remark = "the tests run it" if row.slice.tested else row.slice.note
    return _code(row.slice.command) + (f": {remark}" if remark else "")


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
