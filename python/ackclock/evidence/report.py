"""Writes the report as a page, as Markdown and as JSON, with the cells that can be rerun."""

from __future__ import annotations

import json
from pathlib import Path

from ackclock.evidence import Evidence
from ackclock.evidence.present import (
    DATA,
    MARKDOWN,
    PAGE,
    balance,
    evidence_json,
    figure_text,
    markdown,
    runs_text,
    sentences,
)
from ackclock.files.writing import keeping_runs, write_whole
from ackclock.page import render
from ackclock.running.cells import command as cell_command
from ackclock.running.cells import write_cells

_TEMPLATES = Path(__file__).parent / "templates"


def write_report(evidence: Evidence, folder: Path, *, command: str) -> Path:
    """Write the report into the folder of the runs, and return the path of the page.

    Raises `StoreError`.
    """
    path = folder / PAGE
    with keeping_runs(path):
        write_cells(folder, evidence.cells)
        write_whole(folder / MARKDOWN, markdown(evidence, folder, command).encode())
        write_whole(folder / DATA, (json.dumps(evidence_json(evidence, folder), indent=2) + "\n").encode())
        write_whole(path, page(evidence, folder, command).encode())
    return path


def page(evidence: Evidence, folder: Path, command: str) -> str:
    """Return the text of the page."""
    return render(
        _TEMPLATES / "evidence.html.jinja",
        evidence=evidence,
        labels=[each.label for each in evidence.algorithms],
        sentences=sentences(evidence),
        runs=runs_text(evidence),
        balance=balance,
        figure_text=figure_text,
        again_command=lambda cell: cell_command(folder, cell),
        command=command,
    )
