"""Ranges of bytes that have arrived."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Ranges:
    """Disjoint ranges in order, and their length."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.length = 0

    def add(self, start: int, end: int) -> int:
        """Add the bytes from `start` to before `end`, and return how many of them are new."""
        if end <= start:
            return 0
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        held = sum(
            max(0, min(end, self._ends[at]) - max(start, self._starts[at])) for at in range(first, last)
        )
        low = min(start, self._starts[first]) if first < last else start
        high = max(end, self._ends[last - 1]) if first < last else end
        self._starts[first:last], self._ends[first:last] = [low], [high]
        self.length += end - start - held
        return end - start - held
