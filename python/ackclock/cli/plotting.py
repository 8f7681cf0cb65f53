"""Drawings of runs: in files, and in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ackclock.cli.capturing import check_target, write_capture
from ackclock.cli.console import say, width
from ackclock.errors import InputError

if TYPE_CHECKING:
    from ackclock.page.over_time import Drawing

#: Draws in the terminal instead of a file.
TERMINAL = "term"
_SUFFIXES = (".svg", ".png")


class Drawable(Protocol):
    """A drawing in both formats of files."""

    def svg(self) -> bytes:
        """Return the drawing as standalone SVG."""

    def png(self) -> bytes:
        """Return the drawing as PNG. Raises `InputError` without matplotlib."""


def check_picture(picture: str, option: str) -> None:
    """Check before a run where a drawing is to go. Raises `InputError`."""
    if picture != TERMINAL:
        check_picture_file(picture, option, f", or {TERMINAL}")


def check_picture_file(picture: str, option: str, otherwise: str = "") -> None:
    """Check before a run the file that a drawing is to go to. Raises `InputError`."""
    if Path(picture).suffix.lower() not in _SUFFIXES:
        raise InputError(f"{option} {picture}: must be a file that ends in .svg or .png{otherwise}")
    check_target(Path(picture), option)


def write_picture(picture: str, drawing: Drawing) -> None:
    """Write a drawing, or show it. Raises `InputError` or `StoreError`."""
    if picture == TERMINAL:
        say(drawing.text(width()))
    else:
        write_picture_file(picture, drawing)


def write_picture_file(picture: str, drawing: Drawable) -> None:
    """Write a drawing. Raises `InputError` or `StoreError`."""
    is_png = Path(picture).suffix.lower() == ".png"
    write_capture(Path(picture), drawing.png() if is_png else drawing.svg(), "plot")
