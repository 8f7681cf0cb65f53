"""Checks of arguments from Python code: the message names the argument and the values that it takes."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ackclock.errors import ArgumentTypeError, ArgumentValueError

#: Seeds and numbers of replicates are below this.
END = 2**63


def whole_number(argument: str, value: Any, *, least: int = 0) -> int:
    """Return a whole number from `least` on, below 2^63. Numbers of numpy are accepted, `True` is not.

    Raises `ArgumentTypeError` or `ArgumentValueError`.
    """
    expected = f"a whole number, at least {least} and below 2^63"
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(argument, f"is {_shown(value)}, but must be {expected}") from None
    if not least <= number < END:
        raise ArgumentValueError(argument, f"is {number}, but must be {expected}")
    return number


def optional_number(argument: str, value: Any, *, least: int = 0) -> int | None:
    """Return a whole number as `whole_number`, or None for None."""
    return None if value is None else whole_number(argument, value, least=least)


def texts(argument: str, value: Any, example: str) -> tuple[str, ...]:
    """Return the texts of a list, tuple or other iterable. A text alone is refused: it is a list of letters.

    Raises `ArgumentTypeError`.
    """
    expected = f"but must be a list of texts, as in [{example!r}]"
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ArgumentTypeError(argument, f"is {_shown(value)}, {expected}")
    found = tuple(value)
    for text in found:
        if not isinstance(text, str):
            raise ArgumentTypeError(argument, f"has {_shown(text)}, {expected}")
    return found


def path_of(argument: str, value: Any) -> Path:
    """Return a path. Raises `ArgumentTypeError`."""
    if isinstance(value, (str, os.PathLike)):
        return Path(value)
    raise ArgumentTypeError(argument, f"is {_shown(value)}, but must be the path of a file or folder")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"of type {type(value).__name__}"
