"""Tables on stdout and progress on stderr."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType

#: The width that tables fit into where stdout is not a terminal.
WIDTH = 100


def show(renderable: RenderableType) -> None:
    """Print to stdout, within the terminal or `WIDTH` columns."""
    console = Console(
        width=_width(),
        no_color=bool(os.environ.get("NO_COLOR")),
        highlight=False,
        # Names come from files: brackets and colons in them mean nothing.
        markup=False,
        emoji=False,
    )
    console.print(renderable)


def fits(renderable: RenderableType) -> bool:
    """Return whether `show` need not cut or wrap it."""
    console = Console(width=10 * _width())
    return console.measure(renderable).maximum <= _width()


def _width() -> int:
    return max(shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH, WIDTH)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function of (done, total) that moves a bar on stderr; silent where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
