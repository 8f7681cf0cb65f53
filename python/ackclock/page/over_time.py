"""Draws a run over time, with window, RTT, rate and queue, as SVG, PNG or text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ackclock.errors import InputError
from ackclock.page.curves import Curve, Panel, draw
from ackclock.page.notebook import drawer
from ackclock.text.sparkline import sparkline

if TYPE_CHECKING:
    import polars

    from ackclock.page import plots

#: The titles of the panels.
WINDOW, RTT, GOODPUT, QUEUE = "cwnd, segments", "smoothed RTT, ms", "goodput, Mbit/s", "queue, packets"
#: The largest number of drawn flows, and of drawn links.
MOST = 6
#: The largest number of intervals over which rates are averaged.
_RATE_PARTS = 200
#: The smallest width of a line of text after its name.
_LEAST_LINE = 20


class Drawing(NamedTuple):
    """Panels over the same time."""

    panels: Sequence[Panel]
    #: The end of the time axis, in seconds.
    end: float
    title: str
    #: A line below the title.
    note: str = ""
    #: A marked time, in seconds.
    mark: float | None = None

    def svg(self) -> bytes:
        """Return the drawing as standalone SVG."""
        return draw(self.panels, self.end, self.title, self.note, self.mark).encode()

    def png(self) -> bytes:
        """Return the drawing as PNG. Raises `InputError` without matplotlib."""
        return self.figure().png()

    def figure(self) -> plots.Plot:
        """Return the drawing as a matplotlib figure. Raises `InputError` without matplotlib."""
        title = f"{self.title}\n{self.note}" if self.note else self.title
        drawn: plots.Plot = drawer().over_time(self.panels, self.end, title)
        return drawn

    def text(self, width: int) -> str:
        """Return a line of at most `width` columns for each curve."""
        lines = [self.title, *([self.note] if self.note else [])]
        names = max((len(name) for panel in self.panels for name in panel.curves), default=0)
        for panel in self.panels:
            highest = max((value for curve in panel.curves.values() for _, value in curve), default=0.0)
            lines.append(f"{panel.title} (0 to {highest:.4g})")
            room = max(width - names - 3, _LEAST_LINE)
            lines += [
                f"  {name:{names}} {sparkline(curve, self.end, highest, room)}"
                for name, curve in panel.curves.items()
            ]
        return "\n".join(lines)


def over_time(flows: polars.DataFrame, links: polars.DataFrame, end: float, title: str) -> Drawing:
    """Return window, RTT and goodput of the first flows of a run, and the queues of its links.

    `flows` and `links` are its samples. Raises `InputError` without samples.
    """
    if flows.is_empty() and links.is_empty():
        raise InputError("there are no samples over time to draw; see `sampling.interval` of the scenario")
    of_flows, of_links = _parts(flows, "flow"), _parts(links, "link")
    queues = {name: _curve(part, "backlog_packets") for name, part in of_links.items()}
    queued = {name: curve for name, curve in queues.items() if any(value for _, value in curve)}
    panels = [
        Panel(WINDOW, {name: _curve(part, "cwnd_segments") for name, part in of_flows.items()}),
        Panel(
            RTT,
            # Zero means that no RTT was measured yet.
            {
                name: [point for point in _curve(part, "srtt_ns", 1e-6) if point[1] > 0]
                for name, part in of_flows.items()
            },
        ),
        Panel(GOODPUT, {name: _rate(part, end) for name, part in of_flows.items()}),
        Panel(QUEUE, dict(list((queued or queues).items())[:MOST])),
    ]
    count = flows["flow"].n_unique() if not flows.is_empty() else 0
    note = f"the first {MOST} of {count} flows" if count > MOST else ""
    return Drawing([panel for panel in panels if any(panel.curves.values())], end, title, note)


def _parts(samples: polars.DataFrame, name: str) -> Mapping[str, polars.DataFrame]:
    if samples.is_empty():
        return {}
    parts = samples.partition_by(name, as_dict=True, maintain_order=True)
    named = {str(key[0]): part for key, part in parts.items()}
    return dict(list(named.items())[:MOST]) if name == "flow" else named


def _curve(samples: polars.DataFrame, column: str, factor: float = 1.0) -> Curve:
    times, values = samples["time_ns"].to_list(), samples[column].to_list()
    return [
        (1e-9 * time, factor * value) for time, value in zip(times, values, strict=True) if value is not None
    ]


def _rate(samples: polars.DataFrame, end: float) -> Curve:
    """Return the received payload per time between samples that are far enough apart."""
    points = _curve(samples, "delivered_bytes")
    curve, last = [], points[0]
    for point in points[1:]:
        if point[0] - last[0] >= end / _RATE_PARTS:
            curve.append((point[0], 8e-6 * (point[1] - last[1]) / (point[0] - last[0])))
            last = point
    return curve
