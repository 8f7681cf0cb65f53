"""Standard streams that are closed, or whose reader is gone."""

from __future__ import annotations

import os
import sys


def open_streams() -> None:
    """Open what is closed of stdin, stdout and stderr on the null device.

    Otherwise the next file that is opened, perhaps the index of a store, would get what is printed.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is given: this one.
            os.open(os.devnull, os.O_RDWR)
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def discard_stdout() -> None:
    """Give up what is left in the buffer: the interpreter would try to write it once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
