"""Draws two connections over each other as standalone SVG: data in flight, retransmissions, RTT."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ackclock.page.axes import Span, level_grid, ticks
from ackclock.page.sequence import STYLE, WIDTH, time_axis

_LEFT, _RIGHT = 64, 16
#: The height of a panel, of its title and of its axis.
_PANEL, _TITLE, _AXIS = 250, 28, 30
_HEAD = 34
#: The height of a row of retransmission marks above the curves.
_MARKS = 12
_OWN_STYLE = """
.capture { stroke: var(--blue); } .replay { stroke: var(--orange); }
path.capture, path.replay { stroke-width: 1.3; stroke-opacity: .85; stroke-linejoin: round; }
path.timeout { stroke-width: 3; }
.spurious { stroke-opacity: .35; }
"""


def draw(
    capture: Mapping[str, Any],
    replay: Mapping[str, Any],
    title: str,
    *,
    window: str = "In flight",
    name: str = "capture",
) -> str:
    """Return the document, from the core's observations of both connections.

    `window`: the title of the upper panel. `name`: the label of the first connection.
    """
    sides = {"capture": capture, "replay": replay}
    end = max(side["duration_s"] for side in sides.values())
    flight = {
        name: [(at["time_s"], at["low"] / 1e3, at["high"] / 1e3) for at in side["in_flight"]]
        for name, side in sides.items()
    }
    rtt = {
        name: [(at["time_s"], at["low"] * 1e3, at["high"] * 1e3) for at in side["rtt"]]
        for name, side in sides.items()
    }
    height = _HEAD + 2 * _PANEL
    body = [
        f'<text class="title" x="{_LEFT}" y="20">{html.escape(title)}</text>',
        *_legend(name),
        f'<svg y="{_HEAD}" height="{_PANEL}">',
        *_panel(f"{window}, kB", flight, end, lowest=0, marks={n: s["repairs"] for n, s in sides.items()}),
        f'</svg><svg y="{_HEAD + _PANEL}" height="{_PANEL}">',
        *_panel("RTT, ms", rtt, end),
        "</svg>",
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(title)}">'
        f'<style>{STYLE}{_OWN_STYLE}</style><rect class="paper" width="100%" height="100%"/>'
        f"{''.join(body)}</svg>\n"
    )


def _panel(
    title: str,
    curves: Mapping[str, Sequence[tuple[float, float, float]]],
    end: float,
    *,
    lowest: float | None = None,
    marks: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> Iterator[str]:
    values = [value for curve in curves.values() for _, low, high in curve for value in (low, high)] or [0, 1]
    levels = ticks(min(values) if lowest is None else lowest, max(values))
    top = _TITLE + (2 * _MARKS + 6 if marks is not None else 0)
    across = Span(0, end or 1, _LEFT, WIDTH - _RIGHT)
    up = Span(levels[0], levels[-1], _PANEL - _AXIS, top)
    yield f'<text class="soft" x="{_LEFT}" y="{_TITLE - 10}">{title}</text>'
    yield from level_grid(levels, up, _LEFT, WIDTH - _RIGHT)
    yield from time_axis(across, 0, end or 1, _PANEL - _AXIS)
    for row, (name, repairs) in enumerate((marks or {}).items()):
        yield from _marks(name, repairs, across, _TITLE + row * _MARKS)
    for name, curve in curves.items():
        if curve:
            yield f'<path class="{name}" d="{_band(curve, across, up)}"/>'


def _band(curve: Sequence[tuple[float, float, float]], across: Span, up: Span) -> str:
    """Return a line through the smallest and the largest value of each interval."""
    strokes: list[str] = []
    for index, (time, low, high) in enumerate(curve):
        x = across(time)
        strokes.append(f"{'L' if index else 'M'}{x:.1f} {up(low):.1f}")
        if high != low:
            strokes.append(f"V{up(high):.1f}")
    return "".join(strokes)


def _marks(name: str, repairs: Sequence[Mapping[str, Any]], across: Span, y: float) -> Iterator[str]:
    """Yield a row of retransmissions: thick for timeouts, pale for spurious ones."""
    yield f'<text class="y" x="{_LEFT - 6}" y="{y + 8}">{name}</text>'
    groups: dict[str, list[str]] = {}
    for repair in repairs:
        kind = " timeout" if repair["kind"] == "timeout" else ""
        kind += " spurious" if repair["spurious"] else ""
        groups.setdefault(kind, []).append(f"M{across(repair['time_s']):.1f} {y:.0f}v9")
    for kind, strokes in groups.items():
        yield f'<path class="{name}{kind}" d="{"".join(dict.fromkeys(strokes))}"/>'


def _legend(first: str) -> Iterator[str]:
    x = WIDTH - _RIGHT - 470
    for name, label in (("capture", first), ("replay", "replay")):
        yield f'<path class="{name}" d="M{x} 16h18"/><text x="{x + 24}" y="20">{label}</text>'
        x += 84
    yield f'<text x="{x}" y="20">bars: retransmissions, thick: timeout, pale: spurious</text>'
