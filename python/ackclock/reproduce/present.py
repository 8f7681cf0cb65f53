"""A reproduction as tables, and as JSON."""

from __future__ import annotations

from typing import Any

from ackclock import _core, table
from ackclock.reproduce import Reproduction, tally
from ackclock.reproduce.claims import Verdict
from ackclock.reproduce.figures import Figure
from ackclock.reproduce.tables import Entry, Table
from ackclock.stats import CONFIDENCE


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
    """Return what is printed, what is measured, and its interval, with the digits of the claim."""
    digits = verdict.claim.digits
    printed = "" if verdict.claim.printed is None else f"{verdict.claim.printed:.{digits}f}"
    measured = "-" if verdict.measured is None else f"{verdict.measured:.{digits}f}"
    if verdict.interval is None:
        return printed, measured, ""
    low, high = verdict.interval
    return printed, measured, "exact" if verdict.decisive.exact else f"{low:.{digits}f} … {high:.{digits}f}"


def claims_table(reproduction: Reproduction) -> table.Table:
    """Return one row per claim."""
    made = table.Table(
        "claim",
        *(table.Column(heading, right=True) for heading in ("printed", "measured", "interval")),
        "unit",
        "verdict",
        title="claims",
        caption=f"interval: {100 * CONFIDENCE:.0f} % over {reproduction.replicates} replicates",
    )
    section = ""
    for verdict in reproduction.verdicts:
        if verdict.claim.section != section:
            section = verdict.claim.section
            made.add_section(section)
        made.add_row(verdict.claim.id, *claim_texts(verdict), verdict.claim.unit, verdict.verdict)
    return made


def paper_table(shown: Table) -> table.Table:
    """Return a table with what is printed above what is measured."""
    made = table.Table(
        shown.axis,
        *(("",) if shown.is_printed else ()),
        *(table.Column(title, right=True) for title in shown.columns),
        title=shown.title,
    )
    for value, row in shown.rows:
        if shown.is_printed:
            made.add_row(str(value), "printed", *(printed_text(entry) for entry in row))
            made.add_row("", "measured", *(value_text(entry) for entry in row))
        else:
            made.add_row(str(value), *(value_text(entry) for entry in row))
    return made


def alternatives_table(reproduction: Reproduction) -> table.Table:
    """Return how the verdicts differ under each other answer to what the paper leaves open."""
    made = table.Table("instead", "then", title="other answers to what the paper leaves open")
    for other, verdicts in reproduction.alternatives:
        changed = [
            f"{chosen.claim.id}: {verdict.verdict}"
            for chosen in reproduction.verdicts
            if (verdict := verdicts.get(chosen.claim.id)) is not None and verdict.verdict != chosen.verdict
        ]
        made.add_row(other.title, f"{tally(verdicts.values())} Changed: {', '.join(changed) or 'none'}.")
    return made


def reproduction_json(reproduction: Reproduction) -> dict[str, Any]:
    """Return everything that was measured."""
    paper = reproduction.paper
    return {
        "build": _core.BUILD,
        "paper": {"name": paper.name, "title": paper.title, "reference": paper.reference},
        "seed": reproduction.seed,
        "replicates": reproduction.replicates,
        "confidence": CONFIDENCE,
        "summary": reproduction.sentence,
        "choices": [
            {
                "question": choice.question,
                "answer": choice.answer,
                "why": choice.why,
                "set": list(choice.sets),
            }
            for choice in paper.choices
        ],
        "claims": [_claim_json(verdict) for verdict in reproduction.verdicts],
        "tables": [_table_json(table) for table in reproduction.tables],
        "figures": [_figure_json(figure) for figure in reproduction.figures],
        "alternatives": [
            {
                "id": other.id,
                "title": other.title,
                "set": list(other.sets),
                "replicates": min(reproduction.replicates, paper.alternative_replicates),
                "verdicts": {name: verdict.verdict for name, verdict in verdicts.items()},
                "measured": {name: verdict.measured for name, verdict in verdicts.items()},
            }
            for other, verdicts in reproduction.alternatives
        ],
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
