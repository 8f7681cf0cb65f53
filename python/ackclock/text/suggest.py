"""Hints for a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def hint(name: str, known: Iterable[object]) -> str:
    """Return `did you mean ...?` for a name close to a known one, or the list of names."""
    # Imported here: commands start without it.
    from difflib import get_close_matches

    names = list(map(str, known))
    if not names:
        return "there are none"
    close = get_close_matches(name, names, 1)
    return f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(names)}"
