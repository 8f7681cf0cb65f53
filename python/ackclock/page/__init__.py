"""The common parts of HTML pages: the style sheet, and the rendering of templates."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from ackclock import _core

_FOLDER = Path(__file__).parent
#: The style sheet of all pages: colours, type, tables, legends and print. Each page appends its own.
STYLE = (_FOLDER / "style.css").read_text(encoding="utf-8")
#: The style sheet of drawings. The script saves drawings and navigates heat maps.
#: The live page shares the styles of an evaluation's report.
FIGURES_STYLE = "".join(
    path.read_text(encoding="utf-8")
    for path in (_FOLDER.parent / "web/report/report.css", _FOLDER / "figures.css")
)
FIGURES_SCRIPT = (_FOLDER / "figures.js").read_text(encoding="utf-8")
#: The names of the backends on pages.
BACKENDS = {"sim": "simulator", "linux": "Linux kernel", "kernel": "Linux kernel in virtual time"}


def render(template: Path, **values: Any) -> str:
    """Return the text of a page from its template, `values`, the shared style, the build and the time."""
    return (
        _environment(template.parent)
        .get_template(template.name)
        .render(
            shared_style=STYLE,
            figures_style=FIGURES_STYLE,
            figures_script=FIGURES_SCRIPT,
            build=_core.BUILD,
            version=_core.BUILD.partition("+")[0],
            written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            **values,
        )
    )


@cache
def _environment(folder: Path) -> jinja2.Environment:
    """Return the environment of the templates in a folder. It keeps their compiled forms."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, _FOLDER]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # A non-breaking space keeps the unit on the line of its number.
    environment.filters["unbroken"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    return environment
