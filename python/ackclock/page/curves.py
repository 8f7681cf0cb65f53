"""Draws panels of curves over time as standalone SVG."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ackclock.page.axes import Span, level_grid, ticks
from ackclock.page.sequence import STYLE, WIDTH, time_axis

#: Pairs of times and values.
Curve = Sequence[tuple[float, float]]

_LEFT, _RIGHT = 64, 16
#: The height of a panel, of its title and of its axis.
_PANEL, _TITLE, _AXIS = 230, 28, 34
_HEAD = 40
_COLOURS = ("blue", "orange", "green", "pink", "soft", "red")
_OWN_STYLE = "path.curve { stroke-width: 1.3; stroke-opacity: .85; stroke-linejoin: round; }" + "".join(
    f" path.c{index} {{ stroke: var(--{colour}); }}" for index, colour in enumerate(_COLOURS)
)
_MARK_STYLE = " path.mark { stroke: var(--red); stroke-width: 1.3; stroke-dasharray: 4 3; }"


@dataclass(frozen=True)
class Panel:
    """Curves that share axes."""

    title: str
    #: Curves by name in the legend. A name keeps its colour in all panels.
    curves: Mapping[str, Curve]


def draw(panels: Sequence[Panel], end: float, title: str, note: str = "", mark: float | None = None) -> str:
    """Return the document.

    `end` is the end of the time axis in seconds, `note` a line below the title, `mark` a marked time.
    """
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    head = _HEAD + (18 if note else 0)
    height = head + _PANEL * len(panels)
    body = [
        f'<text class="title" x="{_LEFT}" y="20">{html.escape(title)}</text>',
        *_legend(names),
    ]
    if note:
        body.append(f'<text x="{_LEFT}" y="38">{html.escape(note)}</text>')
    for index, panel in enumerate(panels):
        drawn = _panel(panel, names, end, mark)
        body += [f'<svg y="{head + _PANEL * index}" height="{_PANEL}">', *drawn, "</svg>"]
    style = f"{STYLE}{_OWN_STYLE}{'' if mark is None else _MARK_STYLE}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(title)}">'
        f'<style>{style}</style><rect class="paper" width="100%" height="100%"/>'
        f"{''.join(body)}</svg>\n"
    )


def _panel(panel: Panel, names: Sequence[str], end: float, mark: float | None) -> Iterator[str]:
    highest = max((value for curve in panel.curves.values() for _, value in curve), default=1.0)
    levels = ticks(0.0, highest or 1.0)
    across = Span(0, end or 1, _LEFT, WIDTH - _RIGHT)
    up = Span(levels[0], levels[-1], _PANEL - _AXIS, _TITLE)
    yield f'<text class="soft" x="{_LEFT}" y="{_TITLE - 10}">{html.escape(panel.title)}</text>'
    yield from level_grid(levels, up, _LEFT, WIDTH - _RIGHT)
    yield from time_axis(across, 0, end or 1, _PANEL - _AXIS)
    if mark is not None:
        yield f'<path class="mark" d="M{across(mark):.1f} {_TITLE}V{_PANEL - _AXIS}"/>'
    for name, curve in panel.curves.items():
        if curve:
            colour = names.index(name) % len(_COLOURS)
            yield f'<path class="curve c{colour}" d="{path_of(curve, across, up)}"/>'


def path_of(curve: Curve, across: Span, up: Span) -> str:
    """Return a line with the smallest, the largest and the last point of each pixel column."""
    strokes: list[str] = []
    column: list[float] = []
    last = None
    for time, value in curve:
        x = round(across(time))
        if last is not None and x != last:
            strokes += _stroke(last, column)
            column = []
        last = x
        column.append(up(value))
    if last is not None:
        strokes += _stroke(last, column)
    return "M" + "L".join(strokes)


def _stroke(x: int, column: Sequence[float]) -> list[str]:
    places = [column[0], min(column), max(column), column[-1]]
    kept = [place for index, place in enumerate(places) if index == 0 or place != places[index - 1]]
    return [f"{x} {place:.1f}" for place in kept]


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = WIDTH - _RIGHT - sum(40 + 7 * len(name) for name in names)
    for index, name in enumerate(names):
        yield f'<path class="curve c{index % len(_COLOURS)}" d="M{x} 16h18"/>'
        yield f'<text x="{x + 24}" y="20">{html.escape(name)}</text>'
        x += 40 + 7 * len(name)
