"""A reproduction as tables and as JSON."""

from __future__ import annotations

from typing import Any

from ackclock import _core
from ackclock.reproduce import Reproduction
from ackclock.reproduce.choices import Answer
from ackclock.reproduce.claims import FAILS, HOLDS, UNDECIDABLE, Verdict
from ackclock.reproduce.figures import Figure
from ackclock.reproduce.readings import Reading
from ackclock.reproduce.support import Branch, Support, counts_text, tree_lines
from ackclock.reproduce.tables import Entry, Table
from ackclock.running.job import KERNEL, LINUX
from ackclock.statistics.estimates import CONFIDENCE
from ackclock.text import table

#: The mark of each verdict. Its words follow the mark or are in a caption.
MARKS = {HOLDS: "✓", FAILS: "✗", UNDECIDABLE: "?"}


def value_text(entry: Entry) -> str:
    """Return a measured value and half of its interval."""
    value = entry.value.value
    if value is None:
        return "-"
    if value.half_width is None:
        return f"{value.mean:.{entry.digits}f}"
    return f"{value.mean:.{entry.digits}f} ±{value.half_width:.{entry.digits}f}"


def printed_text(entry: Entry) -> str:
    """Return a printed value, or nothing."""
    return "" if entry.printed is None else f"{entry.printed:.{entry.digits}f}"


def claim_texts(verdict: Verdict) -> tuple[str, str, str]:
    """Return the printed value, the measured value and its interval, with the digits of the claim."""
    digits = verdict.claim.digits
    printed = "" if verdict.claim.printed is None else f"{verdict.claim.printed:.{digits}f}"
    measured = "-" if verdict.measured is None else f"{verdict.measured:.{digits}f}"
    if verdict.interval is None:
        return printed, measured, ""
    low, high = verdict.interval
    return printed, measured, "exact" if verdict.decisive.exact else f"{low:.{digits}f} … {high:.{digits}f}"


def claims_table(reproduction: Reproduction) -> table.Table:
    """Return one row per claim: its status over all interpretations, then under the chosen one."""
    made = table.Table(
        "interpretations",
        "chosen",
        "claim",
        *(table.Column(heading, right=True) for heading in ("printed", "measured", "±")),
        "unit",
        title="claims",
        caption=(
            "Interpretations: number under which the claim holds. A ? means that some are undecidable. By a "
            "fit: only where an answer was fitted to the claim. Chosen: under the chosen interpretation the "
            "claim holds (✓), does not hold (✗), or is undecidable (?). Measured: the value there, ± half of "
            f"the {100 * CONFIDENCE:.0f} % interval over {reproduction.replicates} replicates."
        ),
    )
    section = ""
    for verdict in reproduction.verdicts:
        if verdict.claim.section != section:
            section = verdict.claim.section
            made.add_section(section)
        printed, measured, _ = claim_texts(verdict)
        made.add_row(
            reproduction.support[verdict.claim.id].text,
            MARKS[verdict.verdict],
            verdict.claim.id,
            printed,
            measured,
            _half_width(verdict),
            verdict.claim.unit,
        )
    return made


def _half_width(verdict: Verdict) -> str:
    value = verdict.decisive.value
    half = None if value is None else value.half_width
    return "" if half is None else f"{half:.{verdict.claim.digits}f}"


#: The kernels of the backends in titles.
_KERNELS = {LINUX: "the running kernel", KERNEL: "a kernel in virtual time"}


def changes_table(reproduction: Reproduction) -> table.Table:
    """Return the claims with the printed value, the simulated value, and the kernel's."""
    emulated = reproduction.emulated
    assert emulated is not None, "there are emulations"
    invalid = (
        f"; {emulated.invalid} of {emulated.runs} emulations are not valid"
        if emulated.backend == LINUX
        else ""
    )
    made = table.Table(
        "",
        "claim",
        *(table.Column(heading, right=True) for heading in ("printed", "simulated", emulated.backend)),
        "unit",
        title=f"claims with the TCP of {_KERNELS[emulated.backend]}",
        caption=(
            "the claim holds (✓), does not hold (✗), or is undecidable (?): first simulated, then "
            f"{emulated.backend}; {emulated.replicates} replicates of {emulated.backend}{invalid}"
        ),
    )
    for verdict in reproduction.verdicts:
        there = emulated.verdicts.get(verdict.claim.id)
        if there is not None:
            printed, simulated, _ = claim_texts(verdict)
            marks = f"{MARKS[verdict.verdict]} {MARKS[there.verdict]}"
            made.add_row(
                marks, verdict.claim.id, printed, simulated, claim_texts(there)[1], verdict.claim.unit
            )
    return made


def changes_text(reproduction: Reproduction) -> str:
    """Return a sentence with the verdicts that the kernel's TCP changes."""
    if not reproduction.changed:
        return "With the kernel's TCP no verdict changes."
    changes = (
        f"{here.claim.id} (simulated: {here.verdict}, kernel: {there.verdict})"
        for here, there in reproduction.changed
    )
    return f"With the kernel's TCP these verdicts change: {', '.join(changes)}."


def paper_table(shown: Table, emulated: Table | None = None, backend: str = "") -> table.Table:
    """Return a table with printed values above measured ones, and the values of a backend below."""
    made = table.Table(
        shown.axis,
        *(("",) if shown.is_printed or emulated else ()),
        *(table.Column(title, right=True) for title in shown.columns),
        title=shown.title,
    )
    for index, (value, row) in enumerate(shown.rows):
        rows = [("measured", [value_text(entry) for entry in row])]
        if shown.is_printed:
            rows.insert(0, ("printed", [printed_text(entry) for entry in row]))
        if emulated is not None:
            rows.append((backend, [value_text(entry) for entry in emulated.rows[index][1]]))
        for line, (what, cells) in enumerate(rows):
            named = (what,) if len(rows) > 1 else ()
            made.add_row("" if line else str(value), *named, *cells)
    return made


def dependence_table(reproduction: Reproduction) -> table.Table:
    """Return the choices that decide verdicts: a tree for each claim whose verdict varies."""
    made = table.Table(
        "claim",
        "depends on",
        title="choices that decide verdicts",
        caption=(
            f"{len(reproduction.interpretations) + 1} interpretations; all but the chosen one with "
            f"{reproduction.reading_replicates} replicates, so more claims are undecidable there"
        ),
    )
    for verdict in reproduction.verdicts:
        name, found = verdict.claim.id, reproduction.support[verdict.claim.id]
        if len(found.counts) > 1:
            digits = verdict.claim.digits
            for index, line in enumerate(support_lines(found, digits)):
                made.add_row("" if index else name, line)
    return made


def support_lines(support: Support, digits: int) -> list[str]:
    """Return lines with the counts of verdicts, the single answers that change it, and a tree."""
    lines = [counts_text(support.counts)]
    if support.alone:
        alone = (
            f"{answer} {verdict}" + ("" if value is None else f" ({value:.{digits}f})")
            for answer, verdict, value in support.alone
        )
        lines.append(f"alone: {', '.join(alone)}")
    if support.tree is not None:
        lines += tree_lines(support.tree)
    return lines


def skipped_table(reproduction: Reproduction) -> table.Table:
    """Return the interpretations that were not run, with the reasons."""
    made = table.Table(
        "interpretation", "reason", title="skipped interpretations: their answers contradict each other"
    )
    for each in reproduction.skipped:
        made.add_row(each.reading.name, each.reason)
    return made


def origin_text(answer: Answer) -> str:
    """Return the origin of an answer, and the time when it was written down."""
    chosen = {"before": "before results", "with": "together with results", "after": "after results"}
    origin = f"fitted to {', '.join(answer.fits)}" if answer.fits else answer.origin
    when = f"chosen {chosen[answer.chosen]}" if answer.chosen else ""
    return ", ".join(part for part in (origin, when) if part)


def reproduction_json(reproduction: Reproduction) -> dict[str, Any]:
    """Return all results."""
    paper = reproduction.paper
    return {
        "build": _core.BUILD,
        "paper": {"name": paper.name, "title": paper.title, "reference": paper.reference},
        "seed": reproduction.seed,
        "replicates": reproduction.replicates,
        "confidence": CONFIDENCE,
        "summary": reproduction.sentence,
        "warnings": [each.json("cells") for each in reproduction.warnings],
        "choices": [
            {
                "id": choice.id,
                "question": choice.question,
                "source": choice.source,
                "why": choice.why,
                "answers": [_answer_json(answer) for answer in choice.answers],
            }
            for choice in paper.choices
        ],
        "claims": [
            _claim_json(verdict)
            | {"interpretations": _support_json(reproduction.support[verdict.claim.id], verdict.claim.digits)}
            | _emulated_json(reproduction, verdict.claim.id)
            for verdict in reproduction.verdicts
        ],
        **(
            {}
            if reproduction.emulated is None
            else {
                reproduction.emulated.backend: {
                    "replicates": reproduction.emulated.replicates,
                    "runs": reproduction.emulated.runs,
                    "invalid": reproduction.emulated.invalid,
                    "changed": [here.claim.id for here, _ in reproduction.changed],
                    "tables": [_table_json(table) for table in reproduction.emulated.tables],
                }
            }
        ),
        "tables": [_table_json(table) for table in reproduction.tables],
        "figures": [_figure_json(figure) for figure in reproduction.figures],
        "interpretations": [
            _reading_json(reading)
            | {
                "replicates": reproduction.reading_replicates,
                "verdicts": {name: verdict.verdict for name, verdict in verdicts.items()},
                "measured": {name: verdict.measured for name, verdict in verdicts.items()},
            }
            for reading, verdicts in reproduction.interpretations
        ],
        "skipped": [_reading_json(each.reading) | {"reason": each.reason} for each in reproduction.skipped],
    }


def _emulated_json(reproduction: Reproduction, claim: str) -> dict[str, Any]:
    """Return the results of a claim with the kernel's TCP, if there are any."""
    emulated = reproduction.emulated
    if emulated is None or claim not in emulated.verdicts:
        return {}
    kept = ("measured", "low", "high", "verdict", "reason", "parts")
    told = _claim_json(emulated.verdicts[claim])
    return {emulated.backend: {key: told[key] for key in kept}}


def _answer_json(answer: Answer) -> dict[str, Any]:
    return {
        "id": answer.id,
        "title": answer.title,
        "origin": answer.origin,
        "fits": list(answer.fits),
        "chosen": answer.chosen,
        "set": [
            {"set": list(change.sets), "grids": list(change.grids), "where": dict(change.where)}
            for change in answer.changes
        ],
        "metrics": dict(answer.metrics),
    }


def _reading_json(reading: Reading) -> dict[str, Any]:
    return {
        "name": reading.name,
        "answers": {choice.id: answer.id for choice, answer in reading.instead},
    }


def _support_json(support: Support, digits: int) -> dict[str, Any]:
    return {
        "status": support.status,
        "tried": support.tried,
        "text": support.text,
        "counts": dict(support.counts),
        "alone": [
            {"answer": answer, "verdict": verdict, "measured": value}
            for answer, verdict, value in support.alone
        ],
        "tree": _branch_json(support.tree),
        "hangs_on": support_lines(support, digits) if len(support.counts) > 1 else [],
    }


def _branch_json(branch: Branch | None) -> dict[str, Any] | None:
    if branch is None:
        return None
    return {
        "counts": dict(branch.counts),
        "choice": branch.choice,
        "answer": branch.answer,
        "with": _branch_json(branch.with_it),
        "without": _branch_json(branch.without),
    }


def _claim_json(verdict: Verdict) -> dict[str, Any]:
    claim = verdict.claim
    low, high = verdict.interval or (None, None)
    return {
        "id": claim.id,
        "section": claim.section,
        "statement": claim.statement,
        "unit": claim.unit,
        "printed": claim.printed,
        "expected": claim.region.text,
        "measured": verdict.measured,
        "low": low,
        "high": high,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "note": verdict.note,
        "parts": [
            {"label": part.label, "measured": None if part.value is None else part.value.mean}
            | dict(zip(("low", "high"), part.interval or (None, None), strict=True))
            for part in verdict.parts
        ],
    }


def _table_json(table: Table) -> dict[str, Any]:
    return {
        "id": table.id,
        "title": table.title,
        "axis": table.axis,
        "columns": list(table.columns),
        "rows": [
            {table.axis: value, "cells": [_entry_json(entry) for entry in row]} for value, row in table.rows
        ],
    }


def _entry_json(entry: Entry) -> dict[str, Any]:
    low, high = entry.value.interval or (None, None)
    value = entry.value.value
    return {
        "printed": entry.printed,
        "measured": None if value is None else value.mean,
        "low": low,
        "high": high,
    }


def _figure_json(figure: Figure) -> dict[str, Any]:
    return {
        "id": figure.id,
        "title": figure.title,
        "kind": figure.kind,
        "x": figure.x_label,
        "panels": [
            {
                "title": panel.title,
                "unit": panel.unit,
                "lines": [
                    {
                        "label": line.label,
                        "x": list(line.x),
                        "y": list(line.y),
                        "low": list(line.low),
                        "high": list(line.high),
                    }
                    for line in panel.lines
                ],
            }
            for panel in figure.panels
        ],
    }
