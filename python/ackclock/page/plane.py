"""Draws throughput against delay as inline SVG. The delay axis is reversed, so up and right is better."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ackclock.page.axes import Span, digits_of, level_grid, ticks
from ackclock.statistics.estimates import CONFIDENCE, estimate
from ackclock.text.cells import quoted

_WIDTH, _HEIGHT = 560, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 18, 24, 44
#: The approximate width of a letter, and the height of a line.
_LETTER, _LINE = 6.4, 13
#: The mark hides ellipses below this size, in pixels.
_LEAST = 2.0
#: The largest number of letters of a name next to its point. The tooltip contains the whole name.
_LONGEST = 24
#: The candidate positions of a name around its point, in order: horizontal, vertical, text anchor.
_AROUND = (
    (9, 4, "start"),
    (-9, 4, "end"),
    (0, -10, "middle"),
    (0, 19, "middle"),
    (9, -8, "start"),
    (-9, -8, "end"),
    (9, 17, "start"),
    (-9, 17, "end"),
)


@dataclass(frozen=True)
class Spot:
    """An algorithm in the plane, with means and half intervals."""

    name: str
    delay: float
    throughput: float
    delay_half: float
    throughput_half: float
    #: The correlation of the two over replicates.
    correlation: float
    #: The class in the style sheet.
    kind: str = ""

    @classmethod
    def of(cls, name: str, delays: Sequence[float], throughputs: Sequence[float], kind: str = "") -> Spot:
        """Take the paired values of replicates."""
        delay, throughput = estimate(delays), estimate(throughputs)
        return cls(
            name,
            delay.mean,
            throughput.mean,
            delay.half_width or 0.0,
            throughput.half_width or 0.0,
            _correlation(delays, throughputs),
            kind,
        )

    def text(self) -> str:
        """Return the point with its intervals as text."""
        delay = f"{self.delay:.4g}" + (f" ±{self.delay_half:.2g}" if self.delay_half else "")
        rate = f"{self.throughput:.4g}" + (f" ±{self.throughput_half:.2g}" if self.throughput_half else "")
        return f"{self.name}: {rate} at a delay of {delay} ms"


def plane(spots: Sequence[Spot], y_label: str, title: str) -> str:
    """Return a drawing with a point and an ellipse for each. Ellipses project to the intervals."""
    x = ticks(
        max(0.0, min(spot.delay - spot.delay_half for spot in spots)),
        max(spot.delay + spot.delay_half for spot in spots),
        6,
    )
    y = ticks(
        min(spot.throughput - spot.throughput_half for spot in spots),
        max(spot.throughput + spot.throughput_half for spot in spots),
        5,
    )
    across = Span(x[-1], x[0], _LEFT, _WIDTH - _RIGHT)
    up = Span(y[0], y[-1], _HEIGHT - _BOTTOM, _TOP)
    label = html.escape(f"{title}: {y_label} against queueing delay")
    return (
        f'<svg class="plane" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">'
        f"{''.join((*_axes(x, y, across, up, y_label), *_spots(spots, across, up)))}</svg>"
    )


def csv_of(spots: Sequence[Spot]) -> str:
    """Return the points as CSV."""
    rows = [
        f"{quoted(spot.name)},{spot.delay:.6g},{spot.delay_half:.6g},"
        f"{spot.throughput:.6g},{spot.throughput_half:.6g},{spot.correlation:.4g}"
        for spot in spots
    ]
    head = "algorithm,delay_ms,delay_half_interval_ms,throughput,throughput_half_interval,correlation"
    return "\n".join([head, *rows]) + "\n"


def ellipse(across: float, up: float, correlation: float) -> tuple[float, float, float]:
    """Return the half axes and the angle, in degrees, of the ellipse that fits a box of these half sides.

    It is a line of equal density of the normal distribution with that correlation.
    """
    covariance = correlation * across * up
    middle, reach = (across**2 + up**2) / 2, math.hypot((across**2 - up**2) / 2, covariance)
    angle = math.degrees(math.atan2(2 * covariance, across**2 - up**2)) / 2
    return math.sqrt(middle + reach), math.sqrt(max(0.0, middle - reach)), angle


def _correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Pearson's correlation, 0 if one of the samples is constant."""
    a, b = ([value - math.fsum(row) / len(row) for value in row] for row in (first, second))
    spread = math.sqrt(math.fsum(x * x for x in a) * math.fsum(y * y for y in b))
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / spread if spread else 0.0


def _axes(x: Sequence[float], y: Sequence[float], across: Span, up: Span, y_label: str) -> Iterator[str]:
    bottom = _HEIGHT - _BOTTOM
    yield from level_grid(y, up, _LEFT, _WIDTH - _RIGHT)
    for value in x:
        at = across(value)
        yield f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{bottom}"/>'
        yield f'<text class="x" x="{at:.1f}" y="{bottom + 15}">{value:.{digits_of(x)}f}</text>'
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield f'<text class="x" x="{middle}" y="{_HEIGHT - 8}">queueing delay, ms (less to the right)</text>'
    yield f'<text class="x" transform="translate(14 {(_TOP + bottom) / 2}) rotate(-90)">'
    yield f"{html.escape(y_label)}</text>"
    yield f'<text class="hint" x="{_WIDTH - _RIGHT}" y="{_TOP - 9}" text-anchor="end">better ↗</text>'


def _spots(spots: Sequence[Spot], across: Span, up: Span) -> Iterator[str]:
    places = [(across(spot.delay), up(spot.throughput)) for spot in spots]
    x_scale, y_scale = abs(across(1) - across(0)), abs(up(1) - up(0))
    for index, (spot, (x, y)) in enumerate(zip(spots, places, strict=True)):
        # Both the delay axis and the vertical axis of SVG are reversed, so the sign of the correlation stays.
        a, b, angle = ellipse(spot.delay_half * x_scale, spot.throughput_half * y_scale, spot.correlation)
        kind = spot.kind or f"c{index % 6}"
        yield f'<g class="{kind}"><title>{html.escape(spot.text())}</title>'
        if a > _LEAST:
            yield (
                f'<ellipse rx="{a:.1f}" ry="{b:.1f}" '
                f'transform="translate({x:.1f} {y:.1f}) rotate({angle:.1f})"/>'
            )
        yield f"{mark(index, x, y)}</g>"
    yield from _names(spots, places)


def mark(index: int, x: float, y: float, size: float = 4.5) -> str:
    """Return the mark of a line or point. Six shapes make it readable without colour."""
    far = size * 1.15
    shapes = (
        f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{size:g}"/>',
        _polygon(((x - size, y - size), (x + size, y - size), (x + size, y + size), (x - size, y + size))),
        _polygon(((x, y - far), (x + far, y + size), (x - far, y + size))),
        _polygon(((x, y - far), (x + far, y), (x, y + far), (x - far, y))),
        _polygon(((x, y + far), (x + far, y - size), (x - far, y - size))),
        f'<path class="cross" d="M{x - size:.1f} {y - size:.1f}l{2 * size:g} {2 * size:g}'
        f'm0 {-2 * size:g}l{-2 * size:g} {2 * size:g}"/>',
    )
    return shapes[index % len(shapes)]


def _polygon(points: Sequence[tuple[float, float]]) -> str:
    return f'<polygon class="dot" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _names(spots: Sequence[Spot], places: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Yield names next to their points, unless they would cover others. The first have precedence."""
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    for spot, (x, y) in zip(spots, places, strict=True):
        name = spot.name if len(spot.name) <= _LONGEST else f"{spot.name[: _LONGEST - 1]}…"
        width = _LETTER * len(name)
        for dx, dy, anchor in _AROUND:
            left = x + dx - {"start": 0.0, "end": width, "middle": width / 2}[anchor]
            box = (left, y + dy - _LINE + 3, left + width, y + dy + 3)
            if box[0] < 2 or box[2] > _WIDTH - 2 or box[1] < 0 or any(_overlap(box, each) for each in taken):
                continue
            taken.append(box)
            yield f'<text class="name" x="{x + dx:.1f}" y="{y + dy:.1f}" text-anchor="{anchor}">'
            yield f"{html.escape(name)}</text>"
            break


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


#: The explanation of the ellipses in captions.
ELLIPSES = f"ellipses reach as far along each axis as the {100 * CONFIDENCE:.0f} % intervals of the means"
