"""The widget that reruns a result's scenario in a notebook, with any seed, settings and duration."""

from __future__ import annotations

from typing import Any

from ackclock.errors import InputError
from ackclock.page.embedded import module
from ackclock.page.interactive import STYLE, Kept, widget, worker
from ackclock.page.notebook import COLOURS

#: The colours of pages, restricted to the widget.
_STYLE = COLOURS.replace(":root", ".rerun.alone", 1) + "\n" + STYLE

#: The text shown without widgets. Jupyter truncates it after 110 characters.
_PLAIN = (
    "A panel that reruns this scenario in the browser. Run the cell in a notebook with widgets to see it."
)


def explorer(kept: Kept, replicate: int) -> Any:
    """Return the widget of a run, which compares other runs with this replicate.

    Raises `InputError` without anywidget, or if the module for browsers is not built.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise InputError(
            "explore() needs anywidget; install it with: python -m pip install anywidget"
        ) from None

    text, packed = worker(), module()
    shown = kept.document() | {"name": kept.title, "scenario": kept.scenario, "replicate": replicate}

    class Explorer(anywidget.AnyWidget):  # type: ignore[misc]
        """A run that can be rerun below the cell of a notebook."""

        _esm = widget()
        _css = _STYLE
        script = traitlets.Unicode(text).tag(sync=True)
        module = traitlets.Bytes(packed).tag(sync=True)
        cell = traitlets.Dict(shown).tag(sync=True)

        def __repr__(self) -> str:
            return _PLAIN

    return Explorer()
