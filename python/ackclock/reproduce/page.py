"""The page of a reproduction: claims, tables, figures and choices, with nothing to load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ackclock.errors import writing_error
from ackclock.page import render
from ackclock.reproduce import Reproduction
from ackclock.reproduce.claims import FAILS, HOLDS, UNDECIDABLE
from ackclock.reproduce.present import claim_texts, printed_text, reproduction_json, value_text
from ackclock.reproduce.svg import draw, legend
from ackclock.stats import CONFIDENCE
from ackclock.store import write_whole

_TEMPLATES = Path(__file__).parent / "templates"
#: How a verdict is marked; the words stand beside or in a tooltip, so colour is never needed.
_MARKS = {HOLDS: "✓", FAILS: "✗", UNDECIDABLE: "?"}
_CLASSES = {HOLDS: "holds", FAILS: "fails", UNDECIDABLE: "open"}


def write_page(reproduction: Reproduction, folder: Path, *, command: str) -> Path:
    """Write `report.html` and `reproduction.json` into a folder, and return the path of the page."""
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
        judged_again={name for _, verdicts in reproduction.alternatives for name in verdicts},
        claim_texts=claim_texts,
        printed_text=printed_text,
        value_text=value_text,
        marks=_MARKS,
        classes=_CLASSES,
        confidence=f"{100 * CONFIDENCE:.0f} %",
        command=command,
    )
    path = folder / "report.html"
    document = json.dumps(reproduction_json(reproduction), indent=2) + "\n"
    try:
        write_whole(folder / "reproduction.json", document.encode())
        write_whole(path, page.encode())
    except OSError as error:
        raise writing_error(
            f"{path}: cannot be written: {error.strerror}; the runs are kept", error
        ) from None
    return path
