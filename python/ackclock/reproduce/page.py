"""The page of a reproduction: claims, tables, figures and choices, with nothing to load."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2

from ackclock import _core
from ackclock.errors import StoreError
from ackclock.reproduce import Reproduction, tally
from ackclock.reproduce.claims import FAILS, HOLDS, UNDECIDABLE
from ackclock.reproduce.present import claim_texts, printed_text, reproduction_json, value_text
from ackclock.reproduce.svg import draw, legend
from ackclock.stats import CONFIDENCE
from ackclock.store import write_whole

#: How a verdict is marked; the words stand beside or in a tooltip, so colour is never needed.
_MARKS = {HOLDS: "✓", FAILS: "✗", UNDECIDABLE: "?"}
_CLASSES = {HOLDS: "holds", FAILS: "fails", UNDECIDABLE: "open"}


def write_page(reproduction: Reproduction, folder: Path, *, command: str) -> Path:
    """Write `report.html` and `reproduction.json` into a folder, and return the path of the page."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ackclock.reproduce"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A number keeps its unit on its line.
    environment.filters["unbroken"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    figures: list[dict[str, Any]] = [
        {"title": figure.title, "panels": draw(figure), "legend": legend(figure)}
        for figure in reproduction.figures
    ]
    page = environment.get_template("reproduction.html.jinja").render(
        reproduction=reproduction,
        paper=reproduction.paper,
        figures=figures,
        claim_texts=claim_texts,
        printed_text=printed_text,
        value_text=value_text,
        tally=tally,
        marks=_MARKS,
        classes=_CLASSES,
        confidence=f"{CONFIDENCE:.0%}".replace("%", " %"),
        command=command,
        build=_core.BUILD,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    path = folder / "report.html"
    document = json.dumps(reproduction_json(reproduction), indent=2) + "\n"
    try:
        write_whole(folder / "reproduction.json", document.encode())
        write_whole(path, page.encode())
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}; the runs are kept") from None
    return path
