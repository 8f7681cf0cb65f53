"""Quantities as scenarios write them, and texts that show many of them as one list or range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from ackclock.metrics.quantities import number_of

#: Units by dimension, the largest first. The dimensions have the names of `number_of`.
_UNITS = {
    "bps": {"Tbit/s": 1e12, "Gbit/s": 1e9, "Mbit/s": 1e6, "kbit/s": 1e3, "bit/s": 1.0},
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "bytes": {"GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1.0},
    "packets": {"packets": 1.0},
    "bdp": {"BDP": 1.0},
    "percent": {"%": 1.0},
    "count": {"": 1.0},
}
#: So many values are listed. More of them are a range.
_LISTED = 3
#: Joins a number and its unit, which stay on one line.
JOIN = "\u00a0"


class Quantity(NamedTuple):
    """A value in the base unit of its dimension."""

    dimension: str
    value: float

    @classmethod
    def read(cls, text: str) -> Quantity:
        """Read a number with a unit, such as `20 Mbit/s`."""
        found = number_of(text)
        if found is None:
            raise ValueError(f"{text!r} is not a number with a unit")
        return cls(*found)

    def parts(self) -> tuple[str, str]:
        """Return the number in a unit that fits it, and the unit."""
        units = _UNITS[self.dimension]
        # A value such as 999.96 ms is rounded to the next unit.
        fitting = [unit for unit, size in units.items() if self.value >= 0.9999 * size]
        unit = fitting[0] if fitting else [*units][-1]
        number = f"{self.value / units[unit]:.4g}"
        return (format(Decimal(number), "f") if "e" in number else number), unit


def listed(words: Sequence[str]) -> str:
    """Return words as a list: `a, b or c`, or `a or b, or c` where words are lists themselves."""
    last = ", or " if any(" or " in word for word in words) else " or "
    return last.join([*([", ".join(words[:-1])] if len(words) > 1 else []), *words[-1:]])


def span(quantities: Iterable[Quantity], *, is_range: bool = False) -> str:
    """Return few values of a dimension as a list, and more of them as a range."""
    values: dict[str, set[float]] = {}
    for dimension, value in quantities:
        values.setdefault(dimension, set()).add(value)
    return listed([_span(dimension, sorted(found), is_range) for dimension, found in values.items()])


def _span(dimension: str, values: Sequence[float], is_range: bool) -> str:
    shown = list(dict.fromkeys(Quantity(dimension, value).parts() for value in values))
    is_range = len(shown) > (1 if is_range else _LISTED)
    ends = [shown[0], shown[-1]] if is_range else shown
    # A zero needs no unit.
    units = {unit for number, unit in ends if number != "0"}
    unit = JOIN + units.pop() if len(units) == 1 else ""
    words = [number if unit else f"{number}{JOIN}{own}" for number, own in ends]
    return ((" to ".join(words) if is_range else listed(words)) + unit).strip()
