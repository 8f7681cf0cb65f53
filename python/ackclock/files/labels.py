"""Tables as labels on a command line: `codel(target=10 ms)`."""

from __future__ import annotations

import re
from typing import Any

from ackclock.files.documents import toml_of

#: A kind, with optional values in parentheses.
_LABEL = re.compile(r"\s*([\w+-]+)\s*(?:\(\s*(.*?)\s*\)\s*)?", re.DOTALL)
_KEY = re.compile(r"\s*([\w-]+)\s*=\s*(.*)", re.DOTALL)


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
    """Return the table of an inline table of TOML, of a name, or of a label such as `codel(target=10 ms)`.

    A value without quotes is a number, a truth value or a text. `first` is the key of a first value without a
    key. Raises `ValueError` for other texts.
    """
    if text.lstrip().startswith("{"):
        table = toml_of(f"value = {text}")["value"]
        if not isinstance(table, dict):
            raise ValueError("is no table")
        return table
    label = _LABEL.fullmatch(text)
    if label is None:
        raise ValueError(
            "is neither a name, a label such as codel(target=10 ms), nor an inline table of TOML"
        )
    table = {"kind": label[1]}
    for number, part in enumerate(split_list(label[2] or "")):
        keyed = _KEY.fullmatch(part)
        if keyed is not None:
            table[keyed[1]] = _value(keyed[2].strip())
        elif number == 0 and first is not None:
            table[first] = _value(part)
        else:
            raise ValueError(f"has the value {part!r} without a key; write KEY={part}")
    return table


def _value(text: str) -> Any:
    """Return a value of TOML, or the text itself."""
    try:
        return toml_of(f"value = {text}")["value"]
    except ValueError:
        return text
