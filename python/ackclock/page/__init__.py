"""Common parts of HTML pages: the style sheet, and the rendering of templates."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2

from ackclock import _core

#: Colours, type, tables, keys, how it prints. Each page adds its own after it.
STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")


def render(template: Path, **values: Any) -> str:
    """Return the text of a page: its template with `values`, the shared style, the build and the time."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A number keeps its unit on its line.
    environment.filters["unbroken"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    return environment.get_template(template.name).render(
        shared_style=STYLE,
        build=_core.BUILD,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **values,
    )
