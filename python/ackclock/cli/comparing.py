"""Runs of one scenario by several backends, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ackclock.metrics.declared import METRICS
from ackclock.metrics.summary import SUMMARY
from ackclock.running.backend import faults

if TYPE_CHECKING:
    from ackclock.text.table import Table

#: Of each flow; the summary is compared as a whole.
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
#: Flows in the table; JSON has all.
_MOST_FLOWS = 4


class Difference(NamedTuple):
    """A metric by each backend."""

    #: Name of the flow; empty for the summary.
    flow: str
    key: str
    label: str
    unit: str
    factor: float
    #: In the order of the backends; None where it does not apply.
    values: tuple[float | None, ...]

    @property
    def relative(self) -> tuple[float | None, ...]:
        """How much more each is than the first, as a part of the first; None where that says nothing."""
        first = self.values[0]
        return tuple(None if value is None or not first else value / first - 1 for value in self.values)


def differences(documents: Sequence[dict[str, Any]]) -> Iterator[Difference]:
    """Give the metrics of runs of one scenario that any of them has a value for."""

    def found(flow: str, metric: Any, values: tuple[float | None, ...]) -> Iterator[Difference]:
        if any(value is not None for value in values):
            yield Difference(flow, metric.key, metric.label, metric.unit, metric.factor, values)

    for metric in SUMMARY:
        yield from found("", metric, tuple(run["summary"][metric.key] for run in documents))
    for flows in zip(*(run["flows"] for run in documents), strict=True):
        for key in _OF_FLOWS:
            yield from found(flows[0]["name"], METRICS["flows"][key], tuple(flow[key] for flow in flows))


def comparison(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return runs of one scenario with their differences, as JSON."""
    backends = [run["backend"] for run in documents]
    rows = [
        {
            "flow": row.flow or None,
            "metric": row.key,
            "values": dict(zip(backends, row.values, strict=True)),
            "relative": dict(zip(backends, row.relative, strict=True)),
        }
        for row in differences(documents)
    ]
    valid = not any(faults(run) for run in documents)
    return {
        "scenario": documents[0]["scenario"],
        "valid": valid,
        "differences": rows,
        "runs": list(documents),
    }


def comparison_table(documents: Sequence[dict[str, Any]]) -> Table:
    """Return a table of runs of one scenario: values, and what the others have more than the first."""
    from ackclock.text.table import Column, Table

    backends = [f"{run['backend']}{' (NOT VALID)' if faults(run) else ''}" for run in documents]
    headings = [Column(backend, right=True) for backend in backends]
    more = [Column(f"{run['backend']} - {documents[0]['backend']}", right=True) for run in documents[1:]]
    table = Table("metric", *headings, "unit", *more, title=documents[0]["scenario"])
    last = ""
    flows = [flow["name"] for flow in documents[0]["flows"]][:_MOST_FLOWS]
    for row in differences(documents):
        if row.flow and row.flow not in flows:
            continue
        if row.flow != last:
            table.add_section(row.flow)
            last = row.flow
        values = ("-" if value is None else f"{row.factor * value:.4g}" for value in row.values)
        relative = ("-" if part is None else f"{100 * part:+.1f} %" for part in row.relative[1:])
        table.add_row(row.label, *values, row.unit, *relative)
    return table
