"""Runs of one scenario by several backends, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ackclock.metrics.declared import METRICS, Metric
from ackclock.metrics.summary import SUMMARY
from ackclock.running.backend import faults

if TYPE_CHECKING:
    from ackclock.page.over_time import Drawing
    from ackclock.text.table import Table

#: Compared metrics of each flow.
_OF_FLOWS = (
    "goodput_bps",
    "cwnd_mean_segments",
    "congestion_events",
    "timeouts",
    "retransmits",
    "rtt_mean_s",
    "rtt_min_s",
    "completion_time_s",
)
#: Counts, and rates that stand for the count of a flow's events.
_EVENTS = {
    "congestion_events": "congestion_events",
    "timeouts": "timeouts",
    "retransmits": "retransmits",
    "loss_rate": "retransmits",
    "retransmit_rate": "retransmits",
}
#: Rates of events of the bottleneck.
_AT_BOTTLENECK = {"drop_rate": "drops", "mark_rate": "marks"}
#: Relative differences of fewer events are noise.
LEAST_EVENTS = 30
#: Flows in the table and in drawings. JSON contains all.
_MOST_FLOWS = 4
#: The range of a window.
_RANGE = ((0.05, "cwnd_p05_segments", "cwnd, 5 %"), (0.95, "cwnd_p95_segments", "cwnd, 95 %"))


@dataclass(frozen=True)
class Side:
    """A scenario, run by one backend."""

    #: The name of the backend, or of its kernel among several.
    name: str
    document: dict[str, Any]
    #: By flow: times in seconds and windows in segments.
    windows: Mapping[str, Sequence[tuple[float, float]]]
    warmup_s: float
    #: The compared metrics of the whole run.
    metrics: tuple[Metric, ...] = SUMMARY

    def window(self, flow: str, quantile: float) -> float | None:
        """Return a quantile of a flow's window over time."""
        points = list(self.windows.get(flow, ()))
        ends = [time for time, _ in points[1:]] + [self.document["duration_s"]]
        held = sorted(
            (window, end - max(time, self.warmup_s))
            for (time, window), end in zip(points, ends, strict=True)
            if end > max(time, self.warmup_s)
        )
        whole, below = math.fsum(weight for _, weight in held), 0.0
        for window, weight in held:
            below += weight
            if below >= quantile * whole:
                return window
        return None

    def share(self, flow: int) -> float | None:
        """Return the share of a flow in the goodput of all."""
        goodputs = [row["goodput_bps"] or 0.0 for row in self.document["flows"]]
        return goodputs[flow] / math.fsum(goodputs) if any(goodputs) else None


class Difference(NamedTuple):
    """A metric by each backend."""

    #: Name of the flow, or empty for the summary.
    flow: str
    key: str
    label: str
    unit: str
    factor: float
    #: Values in the order of the backends. None where the metric does not apply.
    values: tuple[float | None, ...]

    @property
    def relative(self) -> tuple[float | None, ...]:
        """The difference of each from the first, relative to the first. None without a first value."""
        first = self.values[0]
        return tuple(None if value is None or not first else value / first - 1 for value in self.values)


def differences(sides: Sequence[Side]) -> Iterator[Difference]:
    """Give the metrics of runs of one scenario that any of them has a value for."""
    rows = (Difference(*row) for row in (*_of_all(sides), *_of_flows(sides)))
    return (row for row in rows if any(value is not None for value in row.values))


def _of_all(sides: Sequence[Side]) -> Iterator[tuple[Any, ...]]:
    for metric in sides[0].metrics:
        values = tuple(metric.of(side.document) for side in sides)
        yield "", metric.key, metric.label, metric.unit, metric.factor, values


def _of_flows(sides: Sequence[Side]) -> Iterator[tuple[Any, ...]]:
    for index, flows in enumerate(zip(*(side.document["flows"] for side in sides), strict=True)):
        name = flows[0]["name"]
        if len(sides[0].document["flows"]) > 1:
            shares = tuple(side.share(index) for side in sides)
            yield name, "goodput_share", "share of the goodput", "%", 100.0, shares
        for key in _OF_FLOWS:
            metric, values = METRICS["flows"][key], tuple(flow[key] for flow in flows)
            yield name, key, metric.label, metric.unit, metric.factor, values
            if key != "cwnd_mean_segments":
                continue
            for quantile, of_range, label in _RANGE:
                ranges = tuple(side.window(name, quantile) for side in sides)
                yield name, of_range, label, metric.unit, metric.factor, ranges


def is_too_few(sides: Sequence[Side], row: Difference) -> bool:
    """Return whether a row counts events, and every backend counts fewer than `LEAST_EVENTS` of them."""
    if row.key in _EVENTS:
        counts = [
            sum(
                flow.get(_EVENTS[row.key]) or 0
                for flow in side.document["flows"]
                if row.flow in ("", flow["name"])
            )
            for side in sides
        ]
    elif row.key in _AT_BOTTLENECK:
        counts = [
            sum(link.get(_AT_BOTTLENECK[row.key]) or 0 for link in side.document["links"]) for side in sides
        ]
    else:
        return False
    return max(counts) < LEAST_EVENTS


def comparison(sides: Sequence[Side]) -> dict[str, Any]:
    """Return runs of one scenario with their differences, as JSON."""
    backends = [side.name for side in sides]
    rows = [
        {
            "flow": row.flow or None,
            "metric": row.key,
            "values": dict(zip(backends, row.values, strict=True)),
            "relative": dict(zip(backends, row.relative, strict=True)),
        }
        for row in differences(sides)
    ]
    return {
        "scenario": sides[0].document["scenario"],
        "valid": not any(faults(side.document) for side in sides),
        "differences": rows,
        "runs": [side.document for side in sides],
    }


def windows(sides: Sequence[Side]) -> Drawing:
    """Return the windows of the first flows over time, with all backends overlaid."""
    from ackclock.page.curves import Panel
    from ackclock.page.over_time import Drawing

    flows = [flow["name"] for flow in sides[0].document["flows"]][:_MOST_FLOWS]
    panels = [
        Panel(f"{flow}: cwnd, segments", {side.name: side.windows.get(flow, ()) for side in sides})
        for flow in flows
    ]
    invalid = [side.name for side in sides if faults(side.document)]
    note = f"NOT VALID: {', '.join(invalid)}" if invalid else ""
    title = f"{sides[0].document['scenario']}: windows"
    return Drawing(panels, sides[0].document["duration_s"], title, note)


def comparison_table(sides: Sequence[Side]) -> Table:
    """Return a table of runs of one scenario: values, and differences from the first.

    For more than two runs it contains the common metrics, with the units after the labels.
    """
    from ackclock.text.table import Column, Table

    documents, is_wide = [side.document for side in sides], len(sides) > 2
    names = [side.name for side in sides]
    backends = [
        f"{name}{' (NOT VALID)' if faults(run) else ''}" for name, run in zip(names, documents, strict=True)
    ]
    headings = [Column(backend, right=True) for backend in backends]
    more = [Column(f"{name} - {names[0]}", right=True) for name in names[1:]]
    units = () if is_wide else ("unit",)
    table = Table("metric", *headings, *units, *more, title=documents[0]["scenario"])
    last = ""
    flows = [flow["name"] for flow in documents[0]["flows"]][:_MOST_FLOWS]
    for row in differences(sides):
        if (row.flow and row.flow not in flows) or (is_wide and None in row.values):
            continue
        if row.flow != last:
            table.add_section(row.flow)
            last = row.flow
        values = ("-" if value is None else f"{row.factor * value:.4g}" for value in row.values)
        few = is_too_few(sides, row)
        relative = (
            "-" if part is None else "too few" if few else f"{100 * part:+.1f} %" for part in row.relative[1:]
        )
        if is_wide:
            table.add_row(f"{row.label}, {row.unit}" if row.unit else row.label, *values, *relative)
        else:
            table.add_row(row.label, *values, row.unit, *relative)
    return table
