"""Common parts of HTML pages: the style sheet, and the rendering of templates."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2

from ackclock import _core

#: Colours, type, tables, keys, how it prints. Each page adds its own after it.
_FOLDER = Path(__file__).parent
STYLE = (_FOLDER / "style.css").read_text(encoding="utf-8")
#: Of drawings, with the script that saves them, and walks through and sorts tables.
FIGURES_STYLE = (_FOLDER / "figures.css").read_text(encoding="utf-8")
FIGURES_SCRIPT = (_FOLDER / "figures.js").read_text(encoding="utf-8")


def render(template: Path, **values: Any) -> str:
    """Return the text of a page: its template with `values`, the shared style, the build and the time."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, _FOLDER]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A number keeps its unit on its line.
    environment.filters["unbroken"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    return environment.get_template(template.name).render(
        shared_style=STYLE,
        figures_style=FIGURES_STYLE,
        figures_script=FIGURES_SCRIPT,
        build=_core.BUILD,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **values,
    )
