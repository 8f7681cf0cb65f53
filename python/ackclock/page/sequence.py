"""Draws time-sequence plots as standalone SVG: data, ACKs, SACK blocks, losses and windows."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ackclock.page.axes import Span, digits_of, level_grid, ticks

#: The width of every standalone drawing.
WIDTH = 960
_HEIGHT = 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 56, 34
_NS = 1e9
_MB = 1e6
#: The bits of retransmitted and of lost segments.
_RESENT, _LOST = 1, 2
#: The smallest heights of a segment and of a retransmission, and half the size of a cross, in pixels.
_LEAST, _LEAST_RESENT, _CROSS = 1.6, 5.0, 3.5
#: The approximate number of values on a time axis.
_TIMES = 9
#: The classes of lines with their labels, in the order of the legend.
_LEGEND = (
    ("data", "data"),
    ("resent", "retransmission"),
    ("lost", "lost"),
    ("ack", "ACK"),
    ("sack", "SACK block"),
    ("window", "ACK + cwnd"),
    ("receiver", "receiver's window"),
)
#: The colours of the pages, which follow the theme of the reader's system.
STYLE = """
svg { --ink: #1c2127; --soft: #5a626d; --rule: #e2e1dc; --paper: #ffffff; --blue: #0072b2;
  --orange: #d55e00; --green: #009e73; --pink: #cc79a7; --red: #c01818;
  font: 12px system-ui, sans-serif; background: var(--paper); }
@media (prefers-color-scheme: dark) { svg { --ink: #e7e9ec; --soft: #a0a8b3; --rule: #31373f;
  --paper: #1b1f25; --blue: #56b4e9; --orange: #ff8a3d; --green: #2ecc9b; --pink: #e39cc3; --red: #ff7070; } }
.paper { fill: var(--paper); } text { fill: var(--soft); }
.title { fill: var(--ink); font-weight: 600; font-size: 14px; }
.y { text-anchor: end; } .x { text-anchor: middle; } .grid { stroke: var(--rule); }
path { fill: none; } .axis { stroke: var(--soft); stroke-opacity: .6; }
.data { stroke: var(--blue); stroke-width: 1.4; }
.resent { stroke: var(--orange); stroke-width: 2; }
.lost { stroke: var(--red); stroke-width: 1.6; } .ack { stroke: var(--green); stroke-width: 1.4; }
.sack { stroke: var(--pink); stroke-width: 1; stroke-opacity: .7; }
.window { stroke: var(--soft); stroke-dasharray: 5 3; }
.receiver { stroke: var(--ink); stroke-dasharray: 1 3; }
"""


def draw(plots: Sequence[Mapping[str, Any]], from_s: float, to_s: float, title: str) -> str:
    """Return the document with a panel for each of the core's `plots`."""
    height = _HEIGHT * len(plots)
    panels = [
        f'<svg y="{_HEIGHT * index}" height="{_HEIGHT}">{"".join(_panel(plot, index, from_s, to_s))}</svg>'
        for index, plot in enumerate(plots)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(title)}">'
        f'<style>{STYLE}</style><rect class="paper" width="100%" height="100%"/>{"".join(panels)}</svg>\n'
    )


def _panel(plot: Mapping[str, Any], index: int, from_s: float, to_s: float) -> Iterator[str]:
    low = min(first for _, first, _, _ in plot["data"])
    high = max(end for _, _, end, _ in plot["data"])
    # This leaves some room for the window, which may lie far above.
    low, high = low / _MB, (high + 0.04 * (high - low)) / _MB
    levels = ticks(low, high)
    across = Span(from_s, to_s, _LEFT, WIDTH - _RIGHT)
    up = Span(low, high, _HEIGHT - _BOTTOM, _TOP)
    number = f", connection {plot['successor'] + 1}" if plot["successor"] else ""
    title = f"{html.escape(plot['flow'])}{number}: sequence number, MB"
    yield f'<text class="title" x="{_LEFT}" y="20">{title}</text>'
    yield from _legend(bool(plot["receiver_window"]))
    yield from level_grid(levels, up, _LEFT, WIDTH - _RIGHT, (low, high))
    yield from time_axis(across, from_s, to_s, _HEIGHT - _BOTTOM)
    yield f'<clipPath id="clip{index}"><rect x="{_LEFT}" y="{_TOP}" width="{WIDTH - _LEFT - _RIGHT}" '
    yield f'height="{_HEIGHT - _TOP - _BOTTOM}"/></clipPath><g clip-path="url(#clip{index})">'

    def place(time_ns: float, byte: float) -> tuple[float, float]:
        return across(time_ns / _NS), up(byte / _MB)

    def bars(segments: Iterable[tuple[float, float, float]], least: float = _LEAST) -> str:
        places = ((*place(time, first), place(time, end)[1]) for time, first, end in segments)
        return _path(f"M{x:.1f} {y:.1f}V{min(to, y - least):.1f}" for x, y, to in places)

    def crosses(points: Iterable[tuple[float, float]]) -> str:
        size = 2 * _CROSS
        return _path(
            f"M{x - _CROSS:.1f} {y - _CROSS:.1f}l{size} {size}m0 -{size}l-{size} {size}"
            for x, y in (place(*point) for point in points)
        )

    data = plot["data"]
    lines = {
        "window": _steps([place(*point) for point in plot["window"]]),
        "receiver": _steps([place(*point) for point in plot["receiver_window"]]),
        "sack": bars(plot["sacks"]),
        "ack": _steps([place(*point) for point in plot["acks"]]),
        "data": bars((time, first, end) for time, first, end, marks in data if not marks & _RESENT),
        "resent": bars(
            ((time, first, end) for time, first, end, marks in data if marks & _RESENT), _LEAST_RESENT
        ),
        "lost": crosses((time, (first + end) / 2) for time, first, end, marks in data if marks & _LOST),
    }
    yield from (f'<path class="{name}" d="{path}"/>' for name, path in lines.items() if path)
    yield "</g>"


def _path(strokes: Iterable[str]) -> str:
    """Return strokes as one path, without duplicates on the same pixels."""
    return "".join(dict.fromkeys(strokes))


def _steps(points: Sequence[tuple[float, float]]) -> str:
    """Return a line that keeps its level until the next point."""
    if not points:
        return ""
    (x, y), *others = points
    strokes, last = [f"M{x:.1f} {y:.1f}"], f"{y:.1f}"
    for x, y in others:
        if (level := f"{y:.1f}") != last:
            strokes.append(f"H{x:.1f}V{level}")
            last = level
    return "".join([*strokes, f"H{points[-1][0]:.1f}"])


def _legend(has_receiver_window: bool) -> Iterator[str]:
    x = _LEFT
    for name, label in _LEGEND:
        if name == "receiver" and not has_receiver_window:
            continue
        mark = f"M{x} 40h18" if name in ("ack", "window", "receiver") else f"M{x + 9} 34v12"
        if name == "lost":
            mark = f"M{x + 5.5} 36.5l7 7m0 -7l-7 7"
        yield f'<path class="{name}" d="{mark}"/><text x="{x + 24}" y="44">{label}</text>'
        x += 48 + 7 * len(label)


def time_axis(across: Span, from_s: float, to_s: float, y: float) -> Iterator[str]:
    """Yield a time axis at `y`, with marks and values. The last value has the unit."""
    yield f'<path class="axis" d="M{across.start:.0f} {y}H{across.end:.0f}"/>'
    values = ticks(from_s, to_s, _TIMES)
    shown = [value for value in values if from_s <= value <= to_s]
    digits = digits_of(values)
    for value in shown:
        x = across(value)
        # The last value must not exceed the drawing.
        anchor = ' text-anchor="end"' if x > WIDTH - _RIGHT - 12 else ' class="x"'
        unit = " s" if value == shown[-1] else ""
        yield f'<path class="axis" d="M{x:.1f} {y}v5"/>'
        yield f'<text{anchor} x="{x:.1f}" y="{y + 20}">{value:.{digits}f}{unit}</text>'
