"""Formulas of docs/reference/metrics.md over lists of numbers."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence

#: First byte and length of a piece of payload.
Piece = tuple[int, int]


def ranges(pieces: Iterable[Piece]) -> list[tuple[int, int]]:
    """The intervals that pieces cover without a hole, as beginnings and ends."""
    covered: list[tuple[int, int]] = []
    for seq, length in sorted(pieces):
        begin, end = covered.pop() if covered and covered[-1][1] >= seq else (seq, seq)
        covered.append((begin, max(end, seq + length)))
    return covered


def in_order(sent: Iterable[Piece], came: Iterable[Piece]) -> int:
    """The bytes that have arrived in order. A slot leaves a hole between two of its transfers."""
    total = 0
    came_to = dict(ranges(came))
    for begin, end in ranges(sent):
        until = came_to.get(begin, begin)
        total += until - begin
        if until < end:
            break
    return total


def are_news(came: Iterable[Piece]) -> Iterator[bool]:
    """Of pieces as they come: whether some of it had not come in order before."""
    end = 0
    waiting: list[Piece] = []
    for seq, length in came:
        yield seq + length > end
        heapq.heappush(waiting, (seq, length))
        while waiting and waiting[0][0] <= end:
            first, size = heapq.heappop(waiting)
            end = max(end, first + size)


def ratio(part: float, whole: float) -> float | None:
    """The part over the whole, or `None` if the whole is zero."""
    return part / whole if whole else None


def mean(values: Sequence[float]) -> float | None:
    """The mean, or `None` without values."""
    return math.fsum(values) / len(values) if values else None


def percentile(values: Sequence[int], percent: int) -> int | None:
    """The smallest value that this percentage of the values does not exceed, or `None` without values."""
    rank = -(-percent * len(values) // 100)
    return sorted(values)[max(rank, 1) - 1] if values else None


def jitter(transits: Sequence[int]) -> list[float]:
    """The estimate of RFC 3550 §6.4.1 after each packet: "J(i) = J(i-1) + (|D(i-1,i)| - J(i-1))/16"."""
    estimates, estimate = [], 0.0
    for number, transit in enumerate(transits):
        if number:
            estimate += (abs(transit - transits[number - 1]) - estimate) / 16
        estimates.append(estimate)
    return estimates


def jain_index(shares: Sequence[float]) -> float:
    """(sum x)^2 / (n sum x^2), or 1 if all shares are zero."""
    squares = math.fsum(share**2 for share in shares)
    return math.fsum(shares) ** 2 / (len(shares) * squares) if squares else 1.0


def spread(shares: Sequence[float]) -> float:
    """(max - min) / mean, or 0 if all shares are zero."""
    average = math.fsum(shares) / len(shares)
    return (max(shares) - min(shares)) / average if average else 0.0


def delay_score(base_ns: float, queued_ns: Sequence[int]) -> float | None:
    """The mean of base / (base + q) over the median and the 95th percentile q of queueing delays."""
    if not base_ns or not queued_ns:
        return None
    at = (percentile(queued_ns, percent) for percent in (50, 95))
    return math.fsum(base_ns / (base_ns + q) for q in at if q is not None) / 2
