"""Pages about papers: text with places for figures, filled from stored results.

In a text `{{ measured("loss-1", 2) }}` is what was measured of a claim, with two digits; see `Results`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2

from ackclock.reproduce.claims import claims_of
from ackclock.reproduce.paper import Paper

FOLDER = Path(__file__).resolve().parent / "papers"


class Results:
    """The stored results of a paper, as its text asks for them; what is not there is a `KeyError`."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self._claims = {each["id"]: each for each in document["claims"]}
        self._digits = {claim.id: claim.digits for claim in claims_of(Paper.load(document["paper"]["name"]))}
        self._tables = {each["id"]: each for each in document["tables"]}

    def claim(self, name: str) -> dict[str, Any]:
        """Return a claim."""
        found: dict[str, Any] = self._claims[name]
        return found

    def measured(self, name: str, digits: int) -> str:
        """Return what was measured of a claim, under the chosen reading."""
        return f"{self._claims[name]['measured']:.{digits}f}"

    def interval(self, name: str, digits: int) -> str:
        """Return its interval."""
        each = self._claims[name]
        return f"{each['low']:.{digits}f} to {each['high']:.{digits}f}"

    def span(self, names: list[str], digits: int) -> str:
        """Return the least and the greatest of what was measured of several claims."""
        values = [self._claims[name]["measured"] for name in names]
        return f"{min(values):.{digits}f} to {max(values):.{digits}f}"

    def verdict(self, name: str) -> str:
        """Return the verdict on a claim, under the chosen reading."""
        return str(self._claims[name]["verdict"])

    def readings(self, name: str) -> str:
        """Return under how many readings of how many a claim holds."""
        found = self._claims[name]["readings"]
        return f"{found['counts'].get('holds', 0)} of {found['tried']}"

    def status(self, name: str) -> str:
        """Return robust, depends or never."""
        return str(self._claims[name]["readings"]["status"])

    def full(self, name: str, digits: int) -> str:
        """Return what was measured of a claim under the chosen reading in full, where readings are quick."""
        return f"{self.document['full']['claims'][name]['measured']:.{digits}f}"

    def full_verdict(self, name: str) -> str:
        """Return the verdict on it."""
        return str(self.document["full"]["claims"][name]["verdict"])

    def alone(self, answer: str, claim: str, digits: int) -> str:
        """Return what is measured of a claim with one answer changed."""
        return f"{self.document['alone'][answer][claim]['measured']:.{digits}f}"

    def cell(self, table: str, row: Any, column: str, digits: int) -> str:
        """Return a measured cell of a table."""
        found = self._tables[table]
        (cells,) = (each["cells"] for each in found["rows"] if each[found["axis"]] == row)
        return f"{cells[found['columns'].index(column)]['measured']:.{digits}f}"

    def claims_table(self) -> str:
        """Return all claims with their verdicts, as a table in Markdown."""
        lines = [
            "| claim | over readings | as chosen | printed | measured | 95 % interval | unit |",
            "|---|---|---|---|---|---|---|",
        ]
        for each in self.document["claims"]:
            lines.append(f"| {' | '.join(self._row(each))} |")
        return "\n".join(lines)

    def dependence(self) -> str:
        """Return what verdicts hang on: of each claim that is not the same under all readings, some lines."""
        parts = []
        for each in self.document["claims"]:
            if each["readings"]["hangs_on"]:
                lines = "\n".join(each["readings"]["hangs_on"])
                parts.append(f"`{each['id']}`\n\n```text\n{lines}\n```")
        return "\n\n".join(parts)

    def skipped(self) -> str:
        """Return how many readings were skipped, and what the reasons are."""
        reasons = Counter(each["reason"].rpartition(": ")[2] for each in self.document["skipped"])
        return "; ".join(f"{count} times: {reason}" for reason, count in reasons.most_common())

    def _row(self, each: dict[str, Any]) -> Iterator[str]:
        found = each["readings"]
        unknown = (
            f", {found['counts']['undecidable']} undecidable" if "undecidable" in found["counts"] else ""
        )
        fitted = f", {found['counts']['fitted']} by a fit" if "fitted" in found["counts"] else ""
        in_full = self.document["full"]
        if in_full is not None:
            each = {**each, **in_full["claims"][each["id"]]}
        low, high, digits = each["low"], each["high"], self._digits[each["id"]]
        yield f"{each['statement']} (`{each['id']}`)"
        yield f"**{found['text']}**{unknown}{fitted}"
        yield each["verdict"]
        yield "" if each["printed"] is None else f"{each['printed']:.{digits}f}"
        yield "" if each["measured"] is None else f"{each['measured']:.{digits}f}"
        yield "" if low is None else "exact" if low == high else f"{low:.{digits}f} to {high:.{digits}f}"
        yield each["unit"]


def stored() -> dict[str, dict[str, Any]]:
    """Return the stored results, by paper."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


def pages() -> Iterator[tuple[str, str]]:
    """Give the name and the text of every page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    for name, document in stored().items():
        results = Results(document)
        places = {key: getattr(results, key) for key in dir(results) if not key.startswith("_")}
        yield name, environment.get_template(f"{name}.md.jinja").render(places)


def summary() -> str:
    """Return a line per paper: how its claims fare."""
    lines = ["| paper | claims | robust | depends | never | by the chosen reading | took |", "|---" * 7 + "|"]
    for name, document in stored().items():
        status = Counter(each["readings"]["status"] for each in document["claims"])
        verdicts = Counter(each["verdict"] for each in document["claims"])
        cells = (
            f"[{name}](../papers/{name}.md)",
            str(len(document["claims"])),
            *(str(status[each]) for each in ("robust", "depends", "never")),
            ", ".join(
                f"{verdicts[each]} {each}"
                for each in ("holds", "does not hold", "undecidable")
                if verdicts[each]
            ),
            f"{document['seconds'] / 60:.1f} min, {document['cpu_seconds'] / 60:.1f} of CPU time",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
