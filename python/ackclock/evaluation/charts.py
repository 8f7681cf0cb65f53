"""Small line charts as inline SVG, from the samples of runs; colours come from the page."""

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
#: About the width of a phone and of a third of a page, so that the text is drawn in its own size.
_WIDTH, _HEIGHT = 370, 160
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 8, 8, 22


@dataclass(frozen=True)
class Line:
    """A line of a chart."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Chart:
    """Lines over time in seconds."""

    title: str
    unit: str
    lines: Sequence[Line]
    #: Seconds at the start that no metric counts.
    warmup_s: float = 0.0

    @property
    def top(self) -> float:
        """The largest value of any line."""
        return max((y for line in self.lines for y in line.y), default=0.0)


def charts_of(outcomes: Sequence[Outcome], warmup_s: float = 0.0) -> list[list[tuple[str, str]]]:
    """Return titles and SVG texts for each run: windows of the flows, and the queue at the bottleneck.

    Charts of the same thing have the same scale, so that runs can be compared by eye.
    """
    rows = [_charts(outcome, warmup_s) for outcome in outcomes]
    tops = [max(chart.top for chart in column) for column in zip(*filter(None, rows), strict=True)]
    return [[(chart.title, svg(chart, top)) for chart, top in zip(row, tops, strict=False)] for row in rows]


def _charts(outcome: Outcome, warmup_s: float) -> list[Chart]:
    if outcome.flow_samples is None or outcome.link_samples is None:
        return []
    flows = polars.read_parquet(io.BytesIO(outcome.flow_samples))
    links = polars.read_parquet(io.BytesIO(outcome.link_samples))
    windows = [
        _line(str(name), frame, "cwnd_segments")
        for (name,), frame in flows.group_by("flow", maintain_order=True)
    ]
    more = f" (first {_MAX_LINES} of {len(windows)} flows)" if len(windows) > _MAX_LINES else ""
    queue = _line("bottleneck", links.filter(polars.col("link") == links["link"][0]), "backlog_packets")
    return [
        Chart(f"cwnd, segments{more}", "segments", windows[:_MAX_LINES], warmup_s),
        Chart("queue at the bottleneck, packets", "packets", [queue], warmup_s),
    ]


def _line(label: str, frame: polars.DataFrame, column: str) -> Line:
    thin = frame.gather_every(max(1, frame.height // _MAX_POINTS))
    return Line(label, [ns / 1e9 for ns in thin["time_ns"]], [float(value) for value in thin[column]])


def svg(chart: Chart, top: float | None = None) -> str:
    """Draw a chart; the y axis goes from zero to `top`, by default the chart's own, or a little beyond."""
    x_end = max((x for line in chart.lines for x in line.x), default=1.0) or 1.0
    y_end = _nice((chart.top if top is None else top) or 1.0)
    across = (_WIDTH - _LEFT - _RIGHT) / x_end
    up = (_HEIGHT - _TOP - _BOTTOM) / y_end
    base = _HEIGHT - _BOTTOM
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{chart.unit} over time in seconds">'
    ]
    if chart.warmup_s:
        width = across * min(chart.warmup_s, x_end)
        parts.append(
            f'<rect class="warmup" x="{_LEFT}" y="{_TOP}" width="{width:.1f}" height="{base - _TOP}"/>'
        )
    for step in range(5):
        y = base - up * y_end * step / 4
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="y" x="{_LEFT - 6}" y="{y + 4:.1f}">{y_end * step / 4:g}</text>')
    for step in range(5):
        x = _LEFT + across * x_end * step / 4
        anchor = "end" if step == 4 else "middle"
        parts.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - 6}" text-anchor="{anchor}">{x_end * step / 4:.4g}'
            f"{' s' if step == 4 else ''}</text>"
        )
    for index, line in enumerate(chart.lines):
        points = " ".join(
            f"{_LEFT + across * x:.1f},{base - up * y:.1f}" for x, y in zip(line.x, line.y, strict=True)
        )
        parts.append(
            f'<polyline class="line c{index}" points="{points}"><title>{line.label}</title></polyline>'
        )
    parts.append("</svg>")
    if len(chart.lines) > 1:
        keys = "".join(
            f'<span class="key c{index}">{line.label}</span>' for index, line in enumerate(chart.lines)
        )
        parts.append(f'<p class="keys">{keys}</p>')
    return "".join(parts)


def _nice(value: float) -> float:
    """Return the next of 1, 2, 4, 5, 8, 10 times a power of ten: quarters of it read well."""
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value:
        power /= 10
    return next(power * factor for factor in (1, 2, 4, 5, 8, 10) if power * factor >= value)
