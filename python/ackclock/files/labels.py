"""Lists and tables in the words of a command line."""

from __future__ import annotations

import json
import re
from typing import Any

from ackclock import _core


def slug(text: str) -> str:
    """Return a text as a part of a file name: lower-case letters, digits, plus signs and hyphens."""
    return re.sub(r"[^a-z0-9+]+", "-", text.lower()).strip("-")


def parts(text: str) -> list[str]:
    """Split a text at the commas outside of brackets and quotes."""
    found, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth and not quote:
            found.append("")
        else:
            found[-1] += character
    return [part.strip() for part in found]


def split_list(text: str) -> list[str]:
    """Split a text at the commas outside of brackets and quotes, without empty parts."""
    return [part for part in parts(text) if part]


def table_of(text: str, first: str | None = None) -> dict[str, Any]:
    """Return the table of a name, of a label such as `codel(target=10 ms)`, or of an inline table of TOML.

    A value without quotes is a number, a truth value or a text. `first` is the key of a first value without a
    key. Raises `ValueError` for other texts.
    """
    table: dict[str, Any] = json.loads(_core.label_json(text, first))
    return table
