"""Draws lines with intervals and a legend as inline SVG, in the colours and fonts of the page."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ackclock.page.axes import Span, digits_of, level_grid, named_grid, ticks
from ackclock.text.cells import quoted

_WIDTH, _PLOT = 460, 250
_LEFT, _RIGHT, _BOTTOM = 58, 16, 44
#: The height of a legend line, and the approximate width of a letter.
_LINE, _LETTER = 17, 6.3
#: A logarithmic axis of up to so many decades also shows 2 and 5 times their powers of ten.
_FEW_DECADES = 2
#: The largest number of letters of a name in the legend.
_LONGEST = 44


@dataclass(frozen=True)
class Line:
    """Points from left to right, with optional intervals in `bounds`."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    bounds: Sequence[tuple[float, float] | None] = ()


@dataclass(frozen=True)
class Axes:
    """The properties of both axes."""

    x_label: str
    y_label: str
    #: The names of the values 0, 1, 2 ... on an axis without numbers.
    names: Sequence[str] = ()
    #: Whether the horizontal axis is logarithmic, and the vertical one.
    logarithmic: bool = False
    logarithmic_y: bool = False
    #: Both ends of the vertical axis. By default the values determine them.
    y_ends: tuple[float, float] | None = None
    #: Whether points have marks.
    marked: bool = True


def lines(found: Sequence[Line], axes: Axes, title: str) -> str:
    """Return a drawing of lines, which differ in colour, dashes and marks."""
    legend = list(_legend([line.name for line in found]))
    top = 14 + _LINE * (1 + max((row for _, row, _ in legend), default=0))
    height = top + _PLOT + _BOTTOM
    x = [value for line in found for value in line.x]
    low, high = axes.y_ends or ends(found)
    up, grid = (_decades if axes.logarithmic_y else _levels)(low, high, top)
    across, marks = _across(x, axes)
    body = [
        *grid,
        *_x_axis(across, marks, axes, top),
        *(part for index, line in enumerate(found) for part in _line(index, line, across, up, axes)),
        *(_key(index, place, row, name) for index, (place, row, name) in enumerate(legend)),
    ]
    label = (
        f'<text class="x" transform="translate(12 {top + _PLOT / 2}) rotate(-90)">'
        f"{html.escape(axes.y_label)}</text>"
    )
    return (
        f'<svg class="lines" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{html.escape(f"{title}: {axes.y_label} over {axes.x_label}")}">'
        f"{''.join(body)}{label}</svg>"
    )


def _levels(low: float, high: float, top: float) -> tuple[_Scale, Iterator[str]]:
    """Return the mapping of a vertical axis, and its grid."""
    levels = ticks(low, high, 5)
    up = Span(levels[0], levels[-1], top + _PLOT, top)
    return _Scale(up, False), level_grid(levels, up, _LEFT, _WIDTH - _RIGHT)


def _decades(low: float, high: float, top: float) -> tuple[_Scale, Iterator[str]]:
    """Return the mapping of a logarithmic vertical axis, and its grid: 1, 2 and 5 times powers of ten."""
    first = math.floor(math.log10(low) + 1e-9)
    last = math.ceil(math.log10(high) - 1e-9)
    last = max(last, first + 1)
    factors = (1, 2, 5) if last - first <= _FEW_DECADES else (1,)
    values = [factor * 10.0**power for power in range(first, last) for factor in factors] + [10.0**last]
    up = _Scale(Span(math.log(values[0]), math.log(values[-1]), top + _PLOT, top), True)
    return up, named_grid([(value, f"{value:g}") for value in values], up, _LEFT, _WIDTH - _RIGHT)


def ends(found: Sequence[Line]) -> tuple[float, float]:
    """Return the smallest and the largest value, including intervals."""
    bounds = (end for line in found for bound in line.bounds if bound is not None for end in bound)
    values = [*bounds, *(value for line in found for value in line.y)]
    return min(values, default=0.0), max(values, default=1.0)


@dataclass(frozen=True)
class _Scale:
    """Maps values to pixels, logarithmically if `logarithmic`."""

    span: Span
    logarithmic: bool

    def __call__(self, value: float) -> float:
        return self.span(math.log(value) if self.logarithmic else value)


def _across(x: Sequence[float], axes: Axes) -> tuple[_Scale, list[tuple[float, str]]]:
    """Return the mapping of the axis, and its marks with their texts."""
    start, end = _LEFT, _WIDTH - _RIGHT
    if axes.names:
        room = (end - start) / (2 * len(axes.names))
        span = Span(0, max(1, len(axes.names) - 1), start + room, end - room)
        return _Scale(span, False), [(place, name) for place, name in enumerate(axes.names)]
    if axes.logarithmic:
        values = sorted(set(x))
        span = Span(math.log(values[0]), math.log(values[-1]), start + 10, end - 10)
        return _Scale(span, True), _apart([(value, f"{value:g}") for value in values], _Scale(span, True))
    levels = ticks(min(x), max(x), 5)
    span = Span(levels[0], levels[-1], start, end)
    return _Scale(span, False), [(value, f"{value:.{digits_of(levels)}f}") for value in levels]


def _apart(marks: Sequence[tuple[float, str]], across: _Scale) -> list[tuple[float, str]]:
    """Drop marks that would touch their predecessor."""
    kept: list[tuple[float, str]] = []
    for value, text in marks:
        if not kept or across(value) - across(kept[-1][0]) > _LETTER * (len(text) + len(kept[-1][1])) / 2 + 6:
            kept.append((value, text))
    return kept


def _x_axis(across: _Scale, marks: Sequence[tuple[float, str]], axes: Axes, top: float) -> Iterator[str]:
    bottom = top + _PLOT
    room = int((_WIDTH - _LEFT - _RIGHT) / max(1, len(marks)) / _LETTER)
    for value, text in marks:
        at = across(value)
        short = text if not axes.names or len(text) <= room else f"{text[: max(1, room - 1)]}…"
        yield f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{top}" y2="{bottom}"/>'
        yield f'<text class="x" x="{at:.1f}" y="{bottom + 15}">{html.escape(short)}'
        yield f"<title>{html.escape(text)}</title></text>"
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield f'<text class="x" x="{middle}" y="{bottom + 35}">{html.escape(axes.x_label)}</text>'


def _line(index: int, line: Line, across: _Scale, up: _Scale, axes: Axes) -> Iterator[str]:
    kind = f"c{index % 6} d{index % 6}"
    places = [(across(x), up(y)) for x, y in zip(line.x, line.y, strict=True)]
    yield f'<g class="{kind}"><title>{html.escape(line.name)}</title>'
    if len(places) > 1:
        yield f'<path class="line" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in places)}"/>'
    for (x, _), bound in zip(places, line.bounds, strict=False):
        if bound is not None:
            low, high = (up(end) for end in bound)
            left = x - 3
            ends = f"M{left:.1f} {low:.1f}h6M{left:.1f} {high:.1f}h6"
            yield f'<path class="bar" d="M{x:.1f} {low:.1f}V{high:.1f}{ends}"/>'
    if axes.marked or len(places) == 1:
        yield from (mark(index, x, y, 3.5) for x, y in places)
    yield "</g>"


def _legend(names: Sequence[str]) -> Iterator[tuple[float, int, str]]:
    """Yield position, row and text of each name."""
    x, row = float(_LEFT), 0
    for name in names:
        short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
        width = 36 + _LETTER * len(short)
        if x > _LEFT and x + width > _WIDTH:
            x, row = float(_LEFT), row + 1
        yield x, row, short
        x += width


def _key(index: int, x: float, row: int, name: str) -> str:
    y = 10 + _LINE * row
    return (
        f'<g class="c{index % 6} d{index % 6}"><path class="line" d="M{x:.0f} {y}h20"/>'
        f"{mark(index, x + 10, y, 3.5)}</g>"
        f'<text class="name" x="{x + 25:.0f}" y="{y + 4}">{html.escape(name)}</text>'
    )


def csv_of(found: Sequence[Line], unit: str) -> str:
    """Return the points of lines as CSV. `unit` is the unit of the horizontal axis."""
    rows = []
    for line in found:
        bounds = [*line.bounds, *[None] * (len(line.x) - len(line.bounds))]
        name = quoted(line.name)
        for x, y, bound in zip(line.x, line.y, bounds, strict=True):
            low, high = ("", "") if bound is None else (f"{end:.6g}" for end in bound)
            rows.append(f"{name},{x:.6g},{y:.6g},{low},{high}")
    return "\n".join([f"line,x_{unit},y,low,high", *rows]) + "\n"


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
