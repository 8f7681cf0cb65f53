"""Output of commands: text and tables on stdout, messages and progress on stderr.

Control characters are escaped, because texts may come from untrusted files. Only tables
import rich, so `run --json` starts without it.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from ackclock.text.printable import printable

if TYPE_CHECKING:
    from ackclock.text.table import Table


#: Columns of a table that nothing limits.
_FULL = 10_000


def width() -> int:
    """Return the width of tables: `COLUMNS`, or the width of the terminal, or 80."""
    return shutil.get_terminal_size((80, 24)).columns


def say(text: str) -> None:
    """Print a sentence to stdout. It wraps at words if the width is known."""
    text = printable(text)
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        from ackclock.text.table import wrapped

        text = "\n".join(part for line in text.split("\n") for part in wrapped(line, width()))
    click.echo(text)


def emit(text: str) -> None:
    """Print machine-readable output to stdout, unchanged unless stdout is a terminal."""
    click.echo((printable(text) if sys.stdout.isatty() else text).removesuffix("\n"))


def talk(text: str) -> None:
    """Print a line to stderr, if it is open."""
    with suppress(BrokenPipeError):
        click.echo(printable(text), err=True)


def warn(texts: Iterable[str]) -> None:
    """Print warnings to stderr, a line each."""
    for text in texts:
        talk(f"warning: {text}")


def show(table: Table, *, columns: int | None = None) -> None:
    """Print a table to stdout, within `width()` columns, or so many."""
    from rich.console import Console

    console = Console(
        width=columns or width(),
        no_color=bool(os.environ.get("NO_COLOR")),
        highlight=False,
        # Names come from files, so their brackets and colons are not markup.
        markup=False,
        emoji=False,
    )
    console.print(table)


class Lines:
    """Progress as lines on stderr: the first after some seconds, then at growing intervals."""

    #: Seconds to the first line, and the most seconds between lines. Each interval doubles.
    FIRST_S, MOST_S = 10.0, 120.0

    def __init__(self, what: str, clock: Callable[[], float] = time.monotonic, unit: str = "runs") -> None:
        self._what, self._clock, self._unit = what, clock, unit
        self._interval_s = self.FIRST_S
        self._next_s: float | None = None
        #: Time and finished steps at the first call: stored runs take no time.
        self._begin: tuple[float, int] = (0.0, 0)

    def tell(self, done: int, total: int) -> None:
        """Note that `done` of `total` steps are finished."""
        now = self._clock()
        if self._next_s is None:
            self._begin, self._next_s = (now, done), now + self._interval_s
        if now < self._next_s or done >= total:
            return
        self._interval_s = min(2 * self._interval_s, self.MOST_S)
        self._next_s = now + self._interval_s
        talk(f"{self._what}: {done} of {total} {self._unit}{self._left(now, done, total)}")

    def _left(self, now: float, done: int, total: int) -> str:
        since, before = self._begin
        if done <= before:
            return ""
        return f", about {span((now - since) / (done - before) * (total - done))} left"


def span(seconds: float) -> str:
    """Return a time in one unit, rounded for people."""
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def show_widest(tables: Sequence[Table], otherwise: Table) -> None:
    """Print the first table that fits, from all columns to the fewest, or else `otherwise`.

    If stdout is not a terminal and its width is unknown, the first table is printed with all columns.
    """
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
        show(tables[0], columns=width() if tables[0].fits(width()) else _FULL)
    else:
        show(next((table for table in tables if table.fits(width())), otherwise))


@contextmanager
def progress(what: str, unit: str = "runs") -> Iterator[Callable[[int, int], None]]:
    """Give a function of (done, total) that moves a bar on a terminal, and prints lines elsewhere."""
    if not sys.stderr.isatty():
        yield Lines(what, unit=unit).tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
