"""Panels as inline SVG, with colours and fonts of the page."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any

from ackclock.page.axes import Span, level_grid, ticks
from ackclock.reproduce.figures import Figure, Line, Panel

#: About the width of a phone and of a third of a page, so that text keeps its size.
_WIDTH, _HEIGHT = 370, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 8, 24
#: About the width of a character, to decide whether labels must be rotated.
_CHARACTER = 6.3


def draw(figure: Figure) -> list[tuple[str, str]]:
    """Return title and SVG of each panel. Series of one figure share their scale."""
    shared = _range(figure.panels) if figure.kind == "series" else None
    drawn = []
    for panel in figure.panels:
        parts = _series(panel, shared) if shared is not None else _points(panel, _range([panel]))
        label = html.escape(f"{figure.title}: {panel.title}, {panel.unit}")
        body = "".join(parts)
        height = _HEIGHT + (_upright(panel) if figure.kind == "points" else 0)
        over = f", by {figure.x_label}" if figure.kind == "points" else ""
        drawn.append(
            (
                f"{panel.title}, {panel.unit}{over}",
                f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{label}">{body}</svg>',
            )
        )
    return drawn


def legend(figure: Figure) -> list[str]:
    """Return the labels of the lines, none where there is a single one."""
    labels = [line.label for line in max((panel.lines for panel in figure.panels), key=len)]
    return labels if len(labels) > 1 else []


def _series(panel: Panel, y: Sequence[float]) -> Iterator[str]:
    across = Span(0.0, max(max(line.x) for line in panel.lines), _LEFT, _WIDTH - _RIGHT)
    up = Span(y[0], y[-1], _HEIGHT - _BOTTOM, _TOP)
    yield from level_grid(y, up, _LEFT, _WIDTH - _RIGHT)
    ends = ticks(0.0, across.high)
    yield from (
        _x_label(across(value), f"{value:g}{' s' if value == ends[-1] else ''}")
        for value in ends
        if value <= across.high
    )
    for index, line in enumerate(panel.lines):
        points = " ".join(f"{across(x):.1f},{up(v):.1f}" for x, v in zip(line.x, line.y, strict=True))
        yield f'<polyline class="line c{index}" points="{points}"/>'


def _points(panel: Panel, y: Sequence[float]) -> Iterator[str]:
    categories: list[Any] = list(panel.lines[0].x)
    across = Span(-0.5, len(categories) - 0.5, _LEFT, _WIDTH - _RIGHT)
    up = Span(y[0], y[-1], _HEIGHT - _BOTTOM, _TOP)
    yield from level_grid(y, up, _LEFT, _WIDTH - _RIGHT)
    if extra := _upright(panel):
        yield from (
            f'<text transform="translate({across(index) + 4:.1f} {_HEIGHT + extra - 6}) rotate(-90)">'
            f"{html.escape(str(value))}</text>"
            for index, value in enumerate(categories)
        )
    else:
        yield from (_x_label(across(index), str(value)) for index, value in enumerate(categories))
    joined = not isinstance(categories[0], str)
    for index, line in enumerate(panel.lines):
        # Points are shifted sideways, so that their intervals remain visible.
        shift = 7.0 * (index - (len(panel.lines) - 1) / 2)
        places = [(across(place) + shift, up(v)) for place, v in enumerate(line.y)]
        if joined:
            path = " ".join(f"{x:.1f},{v:.1f}" for x, v in places)
            yield f'<polyline class="line thin c{index}" points="{path}"/>'
        yield from _intervals(line, index, [x for x, _ in places], up)
        yield from (f'<circle class="dot c{index}" cx="{x:.1f}" cy="{v:.1f}" r="3"/>' for x, v in places)


def _upright(panel: Panel) -> int:
    """Return the height of rotated labels, or 0 if the labels fit side by side."""
    labels = [str(value) for value in panel.lines[0].x]
    width = _CHARACTER * max(map(len, labels))
    return round(width) if width * len(labels) > _WIDTH - _LEFT - _RIGHT else 0


def _intervals(line: Line, index: int, xs: Sequence[float], up: Span) -> Iterator[str]:
    for x, low, high in zip(xs, line.low, line.high, strict=False):
        ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{up(low):.1f}" y2="{up(high):.1f}"'
        yield f'<line class="interval c{index}" {ends}/>'


def _x_label(x: float, text: str) -> str:
    anchor = "end" if x > _WIDTH - _RIGHT - 12 else "middle"
    return f'<text x="{x:.1f}" y="{_HEIGHT - 6}" text-anchor="{anchor}">{html.escape(text)}</text>'


def _range(panels: Sequence[Panel]) -> list[float]:
    """Return ticks that hold all values and intervals of the panels."""
    values = [value for panel in panels for line in panel.lines for value in (*line.y, *line.low, *line.high)]
    return ticks(min(values), max(values))
