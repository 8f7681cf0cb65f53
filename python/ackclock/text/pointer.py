"""A mark below the character at which a formula is wrong."""

from __future__ import annotations

import re

#: How the core words a mistake in a formula, with the text around the place.
_PLACE = re.compile(r"character (\d+) of `([^\n]*?)`: ")
#: Characters of the text that the core shows before the place, at most.
_BEFORE = 40
_INDENT = "    "


def with_pointers(message: str) -> str:
    """Return a message in which each mistake in a formula is followed by the formula and a mark."""
    return "\n".join(part for line in message.split("\n") for part in (line, *_pointer(line)))


def _pointer(line: str) -> list[str]:
    if (found := _PLACE.search(line)) is None:
        return []
    before = min(int(found[1]) - 1, _BEFORE)
    return [_INDENT + found[2], _INDENT + " " * before + "^"]
