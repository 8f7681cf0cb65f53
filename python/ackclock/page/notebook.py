"""Shows results in notebooks: drawings as pictures, and progress bars."""

from __future__ import annotations

import base64
import html
import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ackclock.errors import InputError
from ackclock.page import FIGURES_STYLE, STYLE
from ackclock.page.embedded import RENDERER, bundle

#: The shortest time between two changes of a bar, in seconds.
_PAUSE_S = 0.2
#: The colours of pages, from the start of their style sheet.
COLOURS = STYLE[STYLE.index(":root {") : STYLE.index("\n}") + 2]
_BOX = re.compile(r'viewBox="0 0 (\d+) ([\d.]+)"')
#: The style of a page's drawing outside of a page.
_ALONE = (
    "svg { background: var(--card); font: 11px system-ui, sans-serif; } "
    "svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }"
)


_FRAME = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><style>{style}</style></head><body>
<script type="module">
{renderer}
const evaluation = {evaluation};
const options = entry.optionsOf({{ linkOf: (id, text) => document.createTextNode(text) }});
for (const part of ["verdict", "glance"]) document.body.append(...entry.PARTS[part](evaluation, options));
</script></body></html>
"""


def picture(svg: str, caption: str = "") -> str:
    """Return a drawing as an image, so that its style does not affect the notebook."""
    if "xmlns=" not in svg:
        svg = alone(svg)
    data = base64.b64encode(svg.encode()).decode()
    text = html.escape(caption)
    image = f'<img alt="{text}" style="max-width: 100%" src="data:image/svg+xml;base64,{data}">'
    return (
        f"<figure style='margin: 0'>{image}{f'<figcaption>{text}</figcaption>' if caption else ''}</figure>"
    )


def alone(svg: str) -> str:
    """Return a drawing of a page with its own size and style."""
    box = _BOX.search(svg)
    assert box is not None, "drawings have a box"
    size = f'<svg xmlns="http://www.w3.org/2000/svg" width="{box[1]}" height="{box[2]}"'
    return size + svg.removeprefix("<svg").replace(
        ">", f"><style>{COLOURS} {_ALONE} {FIGURES_STYLE}</style>", 1
    )


def evaluation_frame(evaluation: Mapping[str, Any]) -> str:
    """Return verdict, map and plane of an evaluation in a frame, which keeps its style from the notebook.

    `evaluation`: its `document` and `overview`.
    """
    told = json.dumps(evaluation, separators=(",", ":")).replace("<", "\\u003c")
    page = _FRAME.format(style=STYLE + FIGURES_STYLE, renderer=bundle(RENDERER), evaluation=told)
    return (
        f'<iframe title="evaluation" style="width: 100%; height: 46rem; border: 0" '
        f'srcdoc="{html.escape(page)}"></iframe>'
    )


def drawer() -> ModuleType:
    """Return `ackclock.page.plots`. Raises `InputError` without matplotlib."""
    try:
        from ackclock.page import plots
    except ImportError:
        raise InputError(
            "a plot needs matplotlib; install it with: python -m pip install matplotlib"
        ) from None
    return plots


def bar(what: str) -> Callable[[int, int], None]:
    """Return a function of (done, total) that moves a bar in a notebook, and elsewhere does nothing."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return lambda done, total: None
    return _Bar(what)


class _Bar:
    """A progress bar in HTML, without widgets."""

    def __init__(self, what: str) -> None:
        self._what, self._handle, self._shown = what, None, 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now - self._shown < _PAUSE_S:
            return
        self._shown = now
        from IPython.display import HTML, display

        text = f"{html.escape(self._what)}: {done} of {total} runs"
        shown: Any = HTML(f'<progress max="{max(total, 1)}" value="{done}"></progress> {text}')
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)
