"""Draws a cloud of points as inline SVG, in the colours and fonts of the page."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ackclock.page.axes import Span, digits_of, level_grid, ticks

_WIDTH, _HEIGHT = 460, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 14, 12, 40


@dataclass(frozen=True)
class Dots:
    """Points of one kind. The `title` of each is its tooltip."""

    #: The class in the style sheet.
    kind: str
    x: Sequence[float]
    y: Sequence[float]
    titles: Sequence[str]
    #: Whether a line joins the points.
    joined: bool = False


def scatter(dots: Sequence[Dots], x_label: str, y_label: str) -> str:
    """Return a drawing of points. Later kinds cover earlier ones."""
    x = ticks(*_ends([value for kind in dots for value in kind.x]))
    y = ticks(*_ends([value for kind in dots for value in kind.y]))
    across = Span(x[0], x[-1], _LEFT, _WIDTH - _RIGHT)
    up = Span(y[0], y[-1], _HEIGHT - _BOTTOM, _TOP)
    body = "".join((*_grid(x, y, across, up), *(part for kind in dots for part in _dots(kind, across, up))))
    labels = (
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 6}" text-anchor="middle">'
        f"{html.escape(x_label)}</text>"
        f'<text class="up" transform="translate(12 {(_TOP + _HEIGHT - _BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{html.escape(y_label)}</text>'
    )
    name = html.escape(f"{y_label} over {x_label}")
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{name}">{body}{labels}</svg>'


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _grid(x: Sequence[float], y: Sequence[float], across: Span, up: Span) -> Iterator[str]:
    bottom = _HEIGHT - _BOTTOM
    yield from level_grid(y, up, _LEFT, _WIDTH - _RIGHT)
    for value in x:
        at = across(value)
        yield f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{bottom}"/>'
        text = f"{value:.{digits_of(x)}f}"
        yield f'<text x="{at:.1f}" y="{bottom + 15}" text-anchor="middle">{text}</text>'


def _dots(dots: Dots, across: Span, up: Span) -> Iterator[str]:
    places = [(across(x), up(y)) for x, y in zip(dots.x, dots.y, strict=True)]
    if dots.joined:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f'<polyline class="line {dots.kind}" points="{path}"/>'
    for (x, y), title in zip(places, dots.titles, strict=True):
        yield (
            f'<circle class="dot {dots.kind}" cx="{x:.1f}" cy="{y:.1f}" r="4">'
            f"<title>{html.escape(title)}</title></circle>"
        )
