"""Warnings of many scenarios: each distinct one once, with the places that it concerns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

#: Places that a line lists.
_LISTED = 4


@dataclass(frozen=True)
class Warned:
    """A warning and the points or environments that it concerns."""

    text: str
    places: tuple[str, ...]
    #: Whether it concerns every place that there is.
    is_everywhere: bool = False

    def line(self, what: str) -> str:
        """Return the warning with its places. `what` is their name, in the plural."""
        if self.is_everywhere:
            return self.text
        more = len(self.places) - _LISTED
        listed = "; ".join(self.places[:_LISTED]) + (f" and {more} more" if more > 0 else "")
        return f"{self.text} ({what}: {listed})"

    def within(self, whole: str) -> Warned:
        """Return the warning with the name of a whole in front of each place."""
        return Warned(self.text, tuple(f"{whole}/{place}" for place in self.places))

    def json(self, what: str) -> dict[str, Any]:
        """Return the warning with its places under the key `what`."""
        return {"warning": self.text, what: list(self.places)}


def merged(parts: Iterable[Iterable[Warned]]) -> tuple[Warned, ...]:
    """Return each distinct warning of several parts with all its places."""
    places: dict[str, dict[str, None]] = {}
    for each in itertools.chain.from_iterable(parts):
        places.setdefault(each.text, {}).update(dict.fromkeys(each.places))
    return tuple(Warned(text, tuple(where)) for text, where in places.items())


def gathered(found: Iterable[tuple[str, Sequence[str]]]) -> tuple[Warned, ...]:
    """Return each distinct warning of places, which come with their warnings, in the order of the places."""
    places: dict[str, list[str]] = {}
    count = 0
    for place, texts in found:
        count += 1
        for text in dict.fromkeys(texts):
            places.setdefault(text, []).append(place)
    return tuple(Warned(text, tuple(where), len(where) == count) for text, where in places.items())
