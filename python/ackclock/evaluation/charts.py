"""Small line charts as inline SVG, from the samples of a run; colours come from the page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import polars

from ackclock.job import Outcome

#: Points per line: more than a card has pixels gains nothing.
_MAX_POINTS = 400
#: Flows drawn; more lines cannot be told apart.
_MAX_LINES = 6
_WIDTH, _HEIGHT = 560, 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 8, 8, 26


@dataclass(frozen=True)
class Line:
    """A line of a chart."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


def charts_of(outcome: Outcome) -> list[tuple[str, str]]:
    """Return titles and SVG texts: windows of the flows, and the queue at the bottleneck, over time."""
    if outcome.flow_samples is None or outcome.link_samples is None:
        return []
    flows = polars.read_parquet(io.BytesIO(outcome.flow_samples))
    links = polars.read_parquet(io.BytesIO(outcome.link_samples))
    windows = [
        _line(str(name), frame, "cwnd_segments")
        for (name,), frame in flows.group_by("flow", maintain_order=True)
    ]
    queue = links.filter(polars.col("link") == links["link"][0])
    more = f" (first {_MAX_LINES} of {len(windows)} flows)" if len(windows) > _MAX_LINES else ""
    return [
        (f"cwnd, segments{more}", svg(windows[:_MAX_LINES], "segments")),
        ("queue at the bottleneck, packets", svg([_line("bottleneck", queue, "backlog_packets")], "packets")),
    ]


def _line(label: str, frame: polars.DataFrame, column: str) -> Line:
    thin = frame.gather_every(max(1, frame.height // _MAX_POINTS))
    return Line(label, [ns / 1e9 for ns in thin["time_ns"]], [float(value) for value in thin[column]])


def svg(lines: Sequence[Line], unit: str) -> str:
    """Draw lines over time in seconds; the y axis starts at zero."""
    x_end = max((x for line in lines for x in line.x), default=1.0) or 1.0
    y_top = _nice(max((y for line in lines for y in line.y), default=1.0) or 1.0)
    across = (_WIDTH - _LEFT - _RIGHT) / x_end
    up = (_HEIGHT - _TOP - _BOTTOM) / y_top
    base = _HEIGHT - _BOTTOM
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{unit} over time in seconds">']
    for step in range(5):
        y = base - up * y_top * step / 4
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="y" x="{_LEFT - 6}" y="{y + 4:.1f}">{y_top * step / 4:g}</text>')
    for step in range(5):
        x = _LEFT + across * x_end * step / 4
        anchor = "end" if step == 4 else "middle"
        parts.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - 6}" text-anchor="{anchor}">{x_end * step / 4:.4g}'
            f"{' s' if step == 4 else ''}</text>"
        )
    for index, line in enumerate(lines):
        points = " ".join(
            f"{_LEFT + across * x:.1f},{base - up * y:.1f}" for x, y in zip(line.x, line.y, strict=True)
        )
        parts.append(
            f'<polyline class="line c{index}" points="{points}"><title>{line.label}</title></polyline>'
        )
    parts.append("</svg>")
    if len(lines) > 1:
        keys = "".join(f'<span class="key c{index}">{line.label}</span>' for index, line in enumerate(lines))
        parts.append(f'<p class="keys">{keys}</p>')
    return "".join(parts)


def _nice(value: float) -> float:
    """Return the next of 1, 2, 4, 5, 10 times a power of ten: quarters of it read well."""
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value:
        power /= 10
    return next(power * factor for factor in (1, 2, 4, 5, 8, 10) if power * factor >= value)
