"""Tables of a paper as printed, from files of comma-separated values."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.files.declaration import Place, require_once
from ackclock.files.documents import read_text


@dataclass(frozen=True)
class PrintedTable:
    """A table as printed: numbers by column, or words where a column has any."""

    columns: Mapping[str, tuple[Any, ...]]

    def find(self, column: str, at: Mapping[str, Any]) -> float | None:
        """Return the number of `column` in the row whose other columns have the values of `at`, or None.

        Keys of `at` that are not columns of the table are ignored. Raises `KeyError` for an unknown column.
        """
        keys = {name: value for name, value in at.items() if name in self.columns}
        for index, number in enumerate(self.columns[column]):
            if all(self.columns[name][index] == value for name, value in keys.items()):
                return float(number)
        return None

    def value(self, column: str, at: Mapping[str, Any]) -> float:
        """Return the number that `find` finds. Raises `KeyError` where there is no such column or row."""
        found = self.find(column, at)
        if found is None:
            raise KeyError(f"{column} at {dict(at)}")
        return found


def read_printed(path: Path) -> PrintedTable:
    """Read a line with the names of the columns, then lines of as many cells. Raises `InputError`."""
    place = Place(str(path))
    head, *rows = list(csv.reader(read_text(path).splitlines())) or [[]]
    if not head or not rows:
        place.fail("needs a line with the names of the columns, and at least one more line")
    require_once(head, place.at("line 1"))
    for number, row in enumerate(rows, 2):
        if len(row) != len(head):
            place.at(f"line {number}").fail(f"has {len(row)} cells, but the columns are: {', '.join(head)}")
    return PrintedTable(
        {name: _numbers([row[index] for row in rows], place.at(name)) for index, name in enumerate(head)}
    )


def _numbers(column: Sequence[str], place: Place) -> tuple[Any, ...]:
    """Return a column as numbers, or as it is where it holds words only."""
    numbers = [_number(entry) for entry in column]
    if all(number is None for number in numbers):
        return tuple(column)
    for line, (entry, number) in enumerate(zip(column, numbers, strict=True), 2):
        if number is None:
            place.fail(f"line {line} contains {entry!r}, but other lines contain numbers")
    return tuple(numbers)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
