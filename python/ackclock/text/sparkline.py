"""Curves as a line of text."""

from __future__ import annotations

import math
from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(curve: Sequence[tuple[float, float]], end: float, highest: float, width: int) -> str:
    """Return a character for each of `width` intervals of the time to `end`: the mean of a curve in it.

    The lowest block is zero, the highest one `highest`. An interval without a point keeps the last value.
    Before the first point there is a space.
    """
    sums, counts = [0.0] * width, [0] * width
    for time, value in curve:
        part = min(int(time / end * width), width - 1) if end > 0 else 0
        if math.isfinite(value):
            sums[part] += value
            counts[part] += 1
    line, last = "", " "
    for total, count in zip(sums, counts, strict=True):
        if count:
            level = total / count / highest if highest > 0 else 0.0
            last = _BLOCKS[min(int(max(level, 0.0) * len(_BLOCKS)), len(_BLOCKS) - 1)]
        line += last
    return line
