"""Draws the same charts with matplotlib, in one style. Only callers that need matplotlib import it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes as Plane
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from ackclock.page.curves import Panel
from ackclock.page.lines import Axes, Line
from ackclock.page.plane import Spot, ellipse

#: The colours (Okabe and Ito), dashes and marks of lines and points, in the order of the pages.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a4a00", "#3b4652")
_DASHES: tuple[Any, ...] = (
    "-",
    (0, (7, 3)),
    (0, (2, 2.5)),
    (0, (9, 3, 2, 3)),
    (0, (4, 2, 1, 2)),
    (0, (12, 4)),
)
_MARKS = ("o", "s", "^", "D", "v", "x")
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.fontsize": 7,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
}
_DPI = 150
#: The largest number of charts in a row.
_BESIDE = 3


class Plot(Figure):
    """A matplotlib figure that notebooks show and `savefig` writes."""

    def _repr_png_(self) -> bytes:
        return self.png()

    def png(self) -> bytes:
        """Return it as PNG."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def _blank(width: float, height: float, title: str) -> Plot:
    figure = Plot(figsize=(width, height), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=11)
    return figure


def over_time(panels: Sequence[Panel], end: float, title: str) -> Plot:
    """Return panels over the same time axis, one above the other."""
    with rc_context(_STYLE):
        figure = _blank(9.6, 2.3 * len(panels) + 0.5, title)
        names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
        for index, panel in enumerate(panels):
            axes = figure.add_subplot(len(panels), 1, index + 1)
            for name, curve in panel.curves.items():
                times, values = [time for time, _ in curve], [value for _, value in curve]
                axes.plot(times, values, linewidth=1, label=name, color=_of(COLOURS, names.index(name)))
            axes.set_title(panel.title)
            axes.set_xlim(0, end or 1)
            axes.set_ylim(bottom=0)
            axes.legend(loc="upper right")
        axes.set_xlabel("time, s")
        return figure


def lines(charts: Sequence[tuple[str, Sequence[Line]]], axes: Axes, title: str) -> Plot:
    """Return lines with intervals, with a chart for each caption on the same axes."""
    across = min(len(charts), _BESIDE)
    down = -(-len(charts) // _BESIDE)
    with rc_context(_STYLE):
        figure = _blank(4.6 * max(across, 1), 3.4 * max(down, 1) + 0.4, title)
        for index, (caption, found) in enumerate(charts):
            plane = figure.add_subplot(down, across, index + 1)
            for number, line in enumerate(found):
                _line(plane, number, line, axes.marked)
            plane.set(title=caption, xlabel=axes.x_label, ylabel=axes.y_label)
            if axes.names:
                plane.set_xticks(range(len(axes.names)), list(axes.names))
            elif axes.logarithmic:
                plane.set_xscale("log")
            if axes.logarithmic_y:
                plane.set_yscale("log")
            if axes.y_ends is not None and axes.y_ends[0] < axes.y_ends[1]:
                room = 0.04 * (axes.y_ends[1] - axes.y_ends[0])
                plane.set_ylim(axes.y_ends[0] - room, axes.y_ends[1] + room)
            if len(found) > 1:
                plane.legend()
        return figure


def _line(plane: Plane, number: int, line: Line, is_marked: bool) -> None:
    style: dict[str, Any] = {
        "color": _of(COLOURS, number),
        "linestyle": _of(_DASHES, number),
        "marker": _of(_MARKS, number) if is_marked else "",
        "label": line.name,
    }
    if not any(bound is not None for bound in line.bounds):
        plane.plot(line.x, line.y, **style)
        return
    halves = [
        (0.0, 0.0) if bound is None else (y - bound[0], bound[1] - y)
        for y, bound in zip(line.y, line.bounds, strict=True)
    ]
    plane.errorbar(
        line.x,
        line.y,
        [[low for low, _ in halves], [high for _, high in halves]],
        capsize=2.5,
        elinewidth=0.9,
        **style,
    )


def plane(spots: Sequence[Spot], y_label: str, title: str) -> Plot:
    """Return throughput against delay. The delay axis is reversed, so up and right is better."""
    with rc_context(_STYLE):
        figure = _blank(6.4, 4.4, title)
        axes = figure.add_subplot()
        for index, spot in enumerate(spots):
            colour = _of(COLOURS, index)
            axes.plot(
                [spot.delay],
                [spot.throughput],
                linestyle="",
                marker=_of(_MARKS, index),
                color=colour,
                label=spot.name,
            )
            if spot.delay_half and spot.throughput_half:
                # The ellipse is in data units, so the axes scale it.
                a, b, angle = ellipse(spot.delay_half, spot.throughput_half, spot.correlation)
                where = (spot.delay, spot.throughput)
                axes.add_patch(
                    Ellipse(where, 2 * a, 2 * b, angle=angle, facecolor=colour, alpha=0.16, edgecolor=colour)
                )
        axes.autoscale_view()
        axes.invert_xaxis()
        axes.set(xlabel="queueing delay, ms (less to the right)", ylabel=y_label)
        axes.legend()
        return figure


def _of(row: Sequence[Any], index: int) -> Any:
    return row[index % len(row)]
