"""The page of a reproduction: claims, tables, figures and choices, without external resources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ackclock.files.writing import keeping_runs, write_whole
from ackclock.page import render
from ackclock.page.interactive import interactive
from ackclock.reproduce import Reproduction
from ackclock.reproduce.claims import FAILS, HOLDS, UNDECIDABLE
from ackclock.reproduce.present import (
    MARKS,
    changes_text,
    claim_texts,
    origin_text,
    printed_text,
    reproduction_json,
    support_lines,
    value_text,
)
from ackclock.reproduce.svg import draw, legend
from ackclock.running.cells import command as cell_command
from ackclock.running.cells import write_cells
from ackclock.running.kept import kept
from ackclock.running.store import Store
from ackclock.statistics.estimates import CONFIDENCE

_TEMPLATES = Path(__file__).parent / "templates"
_CLASSES = {HOLDS: "holds", FAILS: "fails", UNDECIDABLE: "open"}


def write_page(
    reproduction: Reproduction, folder: Path, *, command: str, is_interactive: bool = False
) -> Path:
    """Write `report.html`, `reproduction.json` and `cells.json` into a folder, and return the page's path.

    With `is_interactive`, the page can rerun the cells of the chosen interpretation, if the folder contains
    the runs. Raises `InputError` if the module for browsers is not built.
    """
    figures: list[dict[str, Any]] = [
        {"title": figure.title, "panels": draw(figure), "legend": legend(figure)}
        for figure in reproduction.figures
    ]
    page = render(
        _TEMPLATES / "reproduction.html.jinja",
        style=(_TEMPLATES / "reproduction.css").read_text(encoding="utf-8"),
        reproduction=reproduction,
        paper=reproduction.paper,
        figures=figures,
        judged_again={name for _, verdicts in reproduction.interpretations for name in verdicts},
        singles=[
            (reading, verdicts)
            for reading, verdicts in reproduction.interpretations
            if len(reading.instead) == 1
        ],
        support_lines=support_lines,
        origin_text=origin_text,
        changes_text=changes_text,
        claim_texts=claim_texts,
        printed_text=printed_text,
        value_text=value_text,
        marks=MARKS,
        classes=_CLASSES,
        confidence=f"{100 * CONFIDENCE:.0f} %",
        command=command,
        is_interactive=is_interactive,
        again=cell_command(folder, "CELL"),
    )
    if is_interactive:
        with Store.reading(folder) as store:
            page = interactive(page, kept(store, reproduction.cells))
    path = folder / "report.html"
    document = json.dumps(reproduction_json(reproduction), indent=2) + "\n"
    with keeping_runs(path):
        write_cells(folder, reproduction.cells)
        write_whole(folder / "reproduction.json", document.encode())
        write_whole(path, page.encode())
    return path
