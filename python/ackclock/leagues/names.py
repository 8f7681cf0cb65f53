"""The file names of the pages of a league."""

from __future__ import annotations

from collections.abc import Iterable

from ackclock.files.labels import slug

#: The largest number of characters of a label in a file name.
_LONGEST = 80


class Names:
    """The pages of algorithms and of pairs. All names differ."""

    def __init__(self, labels: Iterable[str]) -> None:
        ordered = sorted(labels, key=lambda label: (label.lower(), label))
        self._places = {label: place for place, label in enumerate(ordered)}
        self._algorithms: dict[str, str] = {}
        self._pairs: dict[tuple[str, str], str] = {}
        taken: set[str] = set()
        for label in ordered:
            self._algorithms[label] = _unused(f"cc-{slug(label)[:_LONGEST]}", taken)
        for place, first in enumerate(ordered):
            for second in ordered[place + 1 :]:
                name = f"pair-{slug(first)[:_LONGEST]}-{slug(second)[:_LONGEST]}"
                self._pairs[first, second] = _unused(name, taken)

    def algorithm(self, label: str) -> str:
        """Return the file name of an algorithm's page."""
        return self._algorithms[label]

    def pair(self, one: str, other: str) -> str:
        """Return the file name of the page of two algorithms, given in any order."""
        first, second = sorted((one, other), key=self._places.__getitem__)
        return self._pairs[first, second]


def _unused(name: str, taken: set[str]) -> str:
    """Return a file name that is not taken yet, and take it."""
    number = 1
    while (file := f"{name}.html" if number == 1 else f"{name}-{number}.html") in taken:
        number += 1
    taken.add(file)
    return file
