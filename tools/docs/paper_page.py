"""Pages about papers: templates with placeholders for figures, filled from stored results.

In a template, `{{ measured("loss-1", 2) }}` is the measured value of a claim with two digits.
`Results` defines the placeholders.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2

from ackclock.reproduce.claims import FAILS, HOLDS, UNDECIDABLE, claims_of
from ackclock.reproduce.paper import Paper
from ackclock.reproduce.readings import CHOSEN

FOLDER = Path(__file__).resolve().parent / "papers"


class Results:
    """The stored results of a paper, by the names that its template uses. An unknown name is a `KeyError`."""

    def __init__(self, document: dict[str, Any]) -> None:
        paper = Paper.load(document["paper"]["name"])
        self.document = document
        self._claims = {each["id"]: each for each in document["claims"]}
        self._digits = {claim.id: claim.digits for claim in claims_of(paper)}
        self._fitted = {name for name in self._claims if CHOSEN.is_fitted_to(name, paper.choices)}
        self._tables = {each["id"]: each for each in document["tables"]}

    def claim(self, name: str) -> dict[str, Any]:
        """Return a claim."""
        found: dict[str, Any] = self._claims[name]
        return found

    def measured(self, name: str, digits: int) -> str:
        """Return the measured value of a claim under the chosen interpretation."""
        return f"{self._claims[name]['measured']:.{digits}f}"

    def interval(self, name: str, digits: int) -> str:
        """Return the interval of a claim."""
        each = self._claims[name]
        return f"{each['low']:.{digits}f} to {each['high']:.{digits}f}"

    def span(self, names: list[str], digits: int) -> str:
        """Return the least and the greatest measured value of several claims."""
        values = [self._claims[name]["measured"] for name in names]
        return f"{min(values):.{digits}f} to {max(values):.{digits}f}"

    def verdict(self, name: str) -> str:
        """Return the verdict on a claim under the chosen interpretation."""
        return str(self._claims[name]["verdict"])

    def readings(self, name: str) -> str:
        """Return the number of interpretations under which a claim holds, and their total."""
        found = self._claims[name]["interpretations"]
        return f"{found['counts'].get('holds', 0)} of {found['tried']}"

    def status(self, name: str) -> str:
        """Return robust, depends or never."""
        return str(self._claims[name]["interpretations"]["status"])

    def full(self, name: str, digits: int) -> str:
        """Return the measured value of a claim at full length, where the interpretations are quick."""
        return f"{self.document['full']['claims'][name]['measured']:.{digits}f}"

    def full_verdict(self, name: str) -> str:
        """Return the verdict on a claim at full length."""
        return str(self.document["full"]["claims"][name]["verdict"])

    def alone(self, answer: str, claim: str, digits: int) -> str:
        """Return the measured value of a claim with one answer changed."""
        return f"{self.document['alone'][answer][claim]['measured']:.{digits}f}"

    def cell(self, table: str, row: Any, column: str, digits: int) -> str:
        """Return a measured cell of a table."""
        found = self._tables[table]
        (cells,) = (each["cells"] for each in found["rows"] if each[found["axis"]] == row)
        return f"{cells[found['columns'].index(column)]['measured']:.{digits}f}"

    def part(self, label: str, names: list[str], result: str) -> str:
        """Return a row of the summary: a part of the paper, its verdicts, and the result in a few words."""
        verdicts = Counter(self.chosen(name)["verdict"] for name in names)
        if len(verdicts) > 1:
            outcome = f"{verdicts[HOLDS]} of {len(names)}"
        else:
            (verdict,) = verdicts
            outcome = {HOLDS: "yes", FAILS: "no"}.get(verdict, verdict)
        if verdicts[HOLDS] and self._fitted.intersection(names):
            outcome += ", by a fit"
        kinds = dict.fromkeys(self._kind(name) for name in names)
        over = self._claims[names[0]]["interpretations"]["text"] if len(names) == 1 else ", ".join(kinds)
        return f"| {label} | **{outcome}** | {over} | {result} |"

    def claims_table(self) -> str:
        """Return all claims with their verdicts as a Markdown table."""
        lines = [
            "| claim | all interpretations | as chosen | printed | measured | 95 % interval | unit |",
            "|---|---|---|---|---|---|---|",
        ]
        for each in self.document["claims"]:
            lines.append(f"| {' | '.join(self._row(each))} |")
        return "\n".join(lines)

    def dependence(self) -> str:
        """Return the choices that decide verdicts: some lines for each claim whose verdict varies."""
        parts = []
        for each in self.document["claims"]:
            if each["interpretations"]["hangs_on"]:
                lines = "\n".join(each["interpretations"]["hangs_on"])
                parts.append(f"`{each['id']}`\n\n```text\n{lines}\n```")
        return "\n\n".join(parts)

    def skipped(self) -> str:
        """Return the reasons for skipped interpretations, each with its count."""
        reasons = Counter(each["reason"].rpartition(": ")[2] for each in self.document["skipped"])
        return ", ".join(f"{count} times: {reason}" for reason, count in reasons.most_common())

    def chosen(self, name: str) -> dict[str, Any]:
        """Return the values of a claim under the chosen interpretation, at full length if stored."""
        each, full = self._claims[name], self.document["full"]
        return each if full is None else {**each, **full["claims"][name]}

    def _kind(self, name: str) -> str:
        found = self._claims[name]["interpretations"]
        return "by a fit" if found["text"].startswith("by a fit") else str(found["status"])

    def _row(self, each: dict[str, Any]) -> Iterator[str]:
        found = each["interpretations"]
        unknown = (
            f", {found['counts']['undecidable']} undecidable" if "undecidable" in found["counts"] else ""
        )
        fitted = f", {found['counts']['fitted']} by a fit" if "fitted" in found["counts"] else ""
        each = self.chosen(each["id"])
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
        text = environment.get_template(f"{name}.md.jinja").render(places)
        yield name, "\n\n".join(map(wrapped, re.sub("\n{3,}", "\n\n", text).strip().split("\n\n"))) + "\n"


def wrapped(block: str) -> str:
    """Wrap a paragraph at 100 characters. Tables, headings, lists and code stay as they are."""
    if block.startswith(("|", "```", "#", "- ", "`")):
        return block
    return textwrap.fill(block, 100, break_long_words=False, break_on_hyphens=False)


def summary() -> str:
    """Return a line per paper with the counts of its verdicts and the time that it took."""
    lines = ["| paper | claims | robust | depends | never | as chosen | time |", "|---" * 7 + "|"]
    for name, document in stored().items():
        results = Results(document)
        status = Counter(each["interpretations"]["status"] for each in document["claims"])
        verdicts = Counter(results.chosen(each["id"])["verdict"] for each in document["claims"])
        cells = (
            f"[`{name}`](../papers/{name}.md)",
            str(len(document["claims"])),
            *(str(status[each]) for each in ("robust", "depends", "never")),
            ", ".join(
                f"{verdicts[each]} {words}"
                for each, words in ((HOLDS, "hold"), (FAILS, "do not hold"), (UNDECIDABLE, "undecidable"))
                if verdicts[each]
            ),
            f"{document['seconds'] / 60:.0f} min ({document['cpu_seconds'] / 60:.0f} min of CPU time)",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
