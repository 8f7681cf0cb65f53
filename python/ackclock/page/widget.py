"""The widget that runs a result's scenario again in a notebook, with other seeds, settings and times."""

from __future__ import annotations

from typing import Any

from ackclock.errors import InputError
from ackclock.page.embedded import module
from ackclock.page.interactive import STYLE, Kept, widget, worker
from ackclock.page.notebook import COLOURS

#: The colours of pages, which would be those of the whole notebook otherwise.
_STYLE = COLOURS.replace(":root", ".rerun.alone", 1) + "\n" + STYLE

#: What is shown where there are no widgets; of more than 110 characters Jupyter leaves out the rest.
_PLAIN = (
    "A panel that runs this scenario again in the browser: run the cell in a notebook with widgets to see it."
)


def explorer(kept: Kept, replicate: int) -> Any:
    """Return the widget of a run: that replicate is what others are compared with.

    Raises `InputError` without anywidget, or if the module for browsers is not built.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise InputError(
            "explore() needs anywidget; install it with: pip install 'ackclock[widget]'"
        ) from None

    text, packed = worker(), module()
    shown = kept.document() | {"name": kept.title, "scenario": kept.scenario, "replicate": replicate}

    class Explorer(anywidget.AnyWidget):  # type: ignore[misc]
        """A run that can be run again below the cell of a notebook."""

        _esm = widget()
        _css = _STYLE
        script = traitlets.Unicode(text).tag(sync=True)
        module = traitlets.Bytes(packed).tag(sync=True)
        cell = traitlets.Dict(shown).tag(sync=True)

        def __repr__(self) -> str:
            return _PLAIN

    return Explorer()
