"""Presents evidence as a table, as Markdown, and as JSON with its schema."""

from __future__ import annotations

import json
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.evaluation.scoreboard import figure
from ackclock.evidence import Answer, Evidence, Row
from ackclock.evidence.criteria import VERDICTS
from ackclock.running.cells import command as cell_command
from ackclock.statistics.estimates import CONFIDENCE, estimate_json
from ackclock.text.table import Column, Table

#: The version of the JSON. It increases when a key is removed or changes its meaning.
SCHEMA = 1
_SCHEMA_FILE = "evidence.schema.json"
#: The sign after the figure of another algorithm, by judgement of the candidate.
SIGNS = {"better": "▲", "worse": "▼", "": "·"}
MARKDOWN, PAGE, DATA = "evidence.md", "evidence.html", "evidence.json"


def summary_table(evidence: Evidence) -> Table:
    """Return the criteria with how far each is measured, and how the candidate compares."""
    others = evidence.algorithms[1:]
    table = Table(
        "section",
        "criterion",
        "",
        *(Column(f"vs {each.label}", right=True) for each in others),
        title=f"{evidence.candidate.label}: {evidence.criteria.document}",
        caption=f"figures in which {evidence.candidate.label} is better, worse, not significantly different",
    )
    for answer in evidence.answers:
        criterion = answer.criterion
        counts = [balance(answer, place) for place in range(1, len(evidence.algorithms))]
        table.add_row(criterion.section, criterion.title, criterion.verdict, *counts)
    return table


def balance(answer: Answer, place: int) -> str:
    """Return the numbers of figures that are better, worse and not significantly different."""
    counts = Counter(row.figures[place].judgement for row in answer.rows)
    return f"{counts['better']}, {counts['worse']}, {counts['']}" if answer.rows else ""


def sentences(evidence: Evidence) -> list[str]:
    """Return the report in a few sentences, which never judge a criterion."""
    verdicts = Counter(answer.criterion.verdict for answer in evidence.answers)
    measured, in_part, human = (verdicts[verdict] for verdict in VERDICTS)
    found = [
        f"{len(evidence.answers)} criteria: {measured} measured, {in_part} measured in part, "
        f"{human} for a human to judge."
    ]
    for place, other in enumerate(evidence.algorithms[1:], 1):
        better, worse, open_ = (evidence.count(judgement, place) for judgement in ("better", "worse", ""))
        found.append(
            f"Compared with {other.label}, {evidence.candidate.label} is better in {better} figures, worse "
            f"in {worse}, and not significantly different in {open_}."
        )
    found.append("The working group decides whether a criterion is met.")
    return found


def runs_text(evidence: Evidence) -> str:
    """Return the number of runs, and the meaning of figures and signs."""
    label, count = evidence.candidate.label, evidence.replicates
    changed = f", with {', '.join(evidence.sets)}" if evidence.sets else ""
    return (
        f"All algorithms ran {count} replicate{'s' if count > 1 else ''} of each environment with seed "
        f"{evidence.seed} and the same random draws{changed}. Each figure is a mean with half of its "
        f"{100 * CONFIDENCE:.0f} % interval. The sign ▲ means that {label} is better than "
        "the other algorithm. The sign ▼ means that it is worse. A · means that the difference is not "
        "significant."
    )


def markdown(evidence: Evidence, folder: Path, command: str) -> str:
    """Return the report as Markdown. `folder` contains the runs."""
    head = [
        f"# {evidence.candidate.label}: evidence for {evidence.criteria.document}",
        "",
        " ".join(sentences(evidence)),
        "",
        runs_text(evidence),
        "",
        f"Quoted: {evidence.criteria.quoted}.",
        "",
        *(f"- {each}" for each in evidence.criteria.differences),
    ]
    if not evidence.whole:
        sections = ", ".join(each.criterion.section for each in evidence.answers)
        head += ["", f"**This report contains only sections {sections}.**"]
    parts = [line for answer in evidence.answers for line in _section(evidence, answer, folder)]
    foot = ["", "## Provenance", "", f"ackclock {_core.BUILD}", "", "```sh", command, "```"]
    return "\n".join([*head, *parts, *foot]) + "\n"


def _section(evidence: Evidence, answer: Answer, folder: Path) -> list[str]:
    criterion = answer.criterion
    lines = [
        "",
        f"## {criterion.section} {criterion.title}",
        "",
        f"**{criterion.verdict.capitalize()}.**",
        "",
    ]
    lines += [f"> {criterion.quote}", ""]
    if criterion.published:
        lines += [f"As published: “{criterion.published}”", ""]
    if criterion.interpretation:
        lines += [criterion.interpretation, ""]
    if answer.rows:
        labels = [each.label for each in evidence.algorithms]
        lines += [
            _line(["environment", "figure", *labels]),
            _line(["---", "---", *["---:"] * len(labels)]),
            *(_row(row) for row in answer.rows),
            "",
            "These commands rerun the first replicates. Append `#N` to the name for replicate N.",
            "",
            "```sh",
            *commands(answer, folder),
            "```",
            "",
        ]
    if criterion.human:
        lines += [f"**Needs a human:** {criterion.human}"]
    return lines


def commands(answer: Answer, folder: Path) -> list[str]:
    """Return the distinct commands of a criterion's figures."""
    cells = dict.fromkeys(figure.cell for row in answer.rows for figure in row.figures)
    return [cell_command(folder, cell) for cell in cells]


def figure_text(row: Row, place: int) -> str:
    """Return a figure with its interval and the sign of the comparison."""
    found = row.figures[place]
    return figure(found.score) + (f" {SIGNS[found.judgement]}" if place else "")


def _row(row: Row) -> str:
    return _line(
        [row.environment.title, row.metric.heading, *(figure_text(row, at) for at in range(len(row.figures)))]
    )


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def evidence_json(evidence: Evidence, folder: Path) -> dict[str, Any]:
    """Return the whole report. `json_schema` describes it."""
    return {
        "schema": SCHEMA,
        "build": _core.BUILD,
        "document": evidence.criteria.document,
        "quoted": evidence.criteria.quoted,
        "differences": list(evidence.criteria.differences),
        "suite": {"name": evidence.criteria.suite.name, "version": evidence.criteria.suite.version},
        "seed": evidence.seed,
        "replicates": evidence.replicates,
        "sets": list(evidence.sets),
        "confidence": CONFIDENCE,
        "whole": evidence.whole,
        "algorithms": [{"label": each.label, "cc": each.resolved} for each in evidence.algorithms],
        "summary": sentences(evidence),
        "warnings": [each.json("environments") for each in evidence.warnings],
        "criteria": [_criterion_json(evidence, answer, folder) for answer in evidence.answers],
    }


def _criterion_json(evidence: Evidence, answer: Answer, folder: Path) -> dict[str, Any]:
    criterion = answer.criterion
    return {
        "section": criterion.section,
        "title": criterion.title,
        "level": criterion.level,
        "quote": criterion.quote,
        "published": criterion.published or None,
        "verdict": criterion.verdict,
        "interpretation": criterion.interpretation or None,
        "human": criterion.human or None,
        "figures": [
            {
                "environment": row.environment.id,
                "metric": row.metric.name,
                "heading": row.metric.label,
                "unit": row.metric.unit,
                "better": row.metric.better,
                "algorithms": [
                    {
                        "label": algorithm.label,
                        **estimate_json(found.score.value),
                        "values": list(found.score.values),
                        "difference": estimate_json(found.difference),
                        "judgement": found.judgement,
                        "command": cell_command(folder, found.cell),
                    }
                    for algorithm, found in zip(evidence.algorithms, row.figures, strict=True)
                ],
            }
            for row in answer.rows
        ],
    }


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of `evidence_json`."""
    text = resources.files("ackclock.evidence").joinpath(_SCHEMA_FILE).read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
