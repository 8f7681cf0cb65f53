"""Standard streams that are closed, or whose reader is gone."""

from __future__ import annotations

import os
import sys


def open_streams() -> None:
    """Open closed ones of stdin, stdout and stderr on the null device.

    Otherwise the next opened file, perhaps the index of a store, would receive the printed text.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The system assigns the lowest free number, which is this one.
            os.open(os.devnull, os.O_RDWR)
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def discard_stdout() -> None:
    """Discard the rest of the buffer, because the interpreter would try to write it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
