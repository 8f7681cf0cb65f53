"""The axes of drawings: from values to pixels, and the lines of a grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

#: The approximate number of grid lines.
_GRID_LINES = 4
#: The smallest range relative to its values, so that rounding does not look like a difference.
_MIN_RANGE = 1e-3


@dataclass(frozen=True)
class Span:
    """Maps values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the position of a value."""
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)


def ticks(low: float, high: float, lines: int = _GRID_LINES) -> list[float]:
    """Return multiples of 1, 2, 2.5 or 5 times a power of ten that cover `low` to `high`.

    There are about so many `lines`. A range of almost one value is widened.
    """
    if high - low < _MIN_RANGE * max(abs(high), 1e-9):
        middle, reach = (low + high) / 2, _MIN_RANGE * max(abs(high), 1e-9) / 2
        low, high = middle - reach, middle + reach
    rough = (high - low) / lines
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * number for number in range(first, last + 1)]


def digits_of(values: Sequence[float]) -> int:
    """Return the number of decimals that distinguish ticks."""
    step = values[1] - values[0]
    return next(digits for digits in range(12) if math.isclose(round(step, digits), step, rel_tol=1e-6))


def level_grid(
    values: Sequence[float],
    up: Span,
    left: int,
    right: int,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Iterator[str]:
    """Yield a horizontal SVG line at each tick from `left` to `right`, with its value on the left.

    Ticks that are not `within` a range are left out.
    """
    digits = digits_of(values)
    shown = [value for value in values if within[0] <= value <= within[1]]
    yield from named_grid([(value, f"{value:.{digits}f}") for value in shown], up, left, right)


def named_grid(
    marks: Sequence[tuple[float, str]], up: Callable[[float], float], left: int, right: int
) -> Iterator[str]:
    """Yield a horizontal SVG line at each value from `left` to `right`, with its text on the left."""
    for value, text in marks:
        y = up(value)
        yield f'<line class="grid" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="y" x="{left - 6}" y="{y + 4:.1f}">{text}</text>'
