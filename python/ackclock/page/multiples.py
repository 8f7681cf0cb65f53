"""Draws small panels of curves over the same time as inline SVG, in the colours and fonts of the page."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence

from ackclock.page.axes import Span, digits_of, level_grid, ticks
from ackclock.page.curves import Curve, Panel, path_of

_WIDTH = 460
_LEFT, _RIGHT = 48, 12
#: The height of a panel and of its title. The axis of time is below the last panel.
_PANEL, _TITLE, _AXIS = 112, 24, 36


def multiples(
    panels: Sequence[Panel],
    end: float,
    title: str,
    tops: Mapping[str, float],
    events: Sequence[float] = (),
) -> str:
    """Return a drawing of panels, one above the other, from 0 to `end` seconds.

    `tops`: the largest value of a panel by its title, so that several drawings share their scales. `events`:
    times in seconds of vertical lines. The curves of a panel differ in colour and dashes, by their order.
    """
    height = (_TITLE + _PANEL) * len(panels) + _AXIS
    across = Span(0, end or 1, _LEFT, _WIDTH - _RIGHT)
    body: list[str] = []
    for index, panel in enumerate(panels):
        top = _TITLE + index * (_TITLE + _PANEL)
        body += _panel(panel, across, top, tops.get(panel.title, 0.0), events)
    body += _time_axis(across, end, height - _AXIS)
    return (
        f'<svg class="lines" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{html.escape(title)}">'
        f"{''.join(body)}</svg>"
    )


def top_of(panel: Panel) -> float:
    """Return the largest value of a panel."""
    return max((value for curve in panel.curves.values() for _, value in curve), default=0.0)


def _panel(panel: Panel, across: Span, top: float, most: float, events: Sequence[float]) -> Iterator[str]:
    levels = ticks(0.0, most or 1.0, 3)
    up = Span(levels[0], levels[-1], top + _PANEL, top)
    yield f'<text class="name" x="{_LEFT}" y="{top - 8}">{html.escape(panel.title)}</text>'
    yield from level_grid(levels, up, _LEFT, _WIDTH - _RIGHT)
    for time in events:
        at = across(time)
        yield f'<path class="event" d="M{at:.1f} {top}v{_PANEL}"/>'
    for index, (name, curve) in enumerate(panel.curves.items()):
        yield from _curve(index, name, curve, across, up)


def _curve(index: int, name: str, curve: Curve, across: Span, up: Span) -> Iterator[str]:
    if curve:
        kind = f"c{index % 6} d{index % 6}"
        yield f'<g class="{kind}"><title>{html.escape(name)}</title>'
        yield f'<path class="line" d="{path_of(curve, across, up)}"/></g>'


def _time_axis(across: Span, end: float, bottom: float) -> Iterator[str]:
    times = ticks(0.0, end or 1.0, 6)
    digits = digits_of(times)
    for time in times:
        if time <= end:
            yield f'<text class="x" x="{across(time):.1f}" y="{bottom + 15}">{time:.{digits}f}</text>'
    yield f'<text class="x" x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{bottom + 31}">time, s</text>'
