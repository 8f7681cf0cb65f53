"""Distributions over the replicates of an environment: queueing delay, and completion times."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ackclock.evaluation.export import StoredRun
from ackclock.page.lines import Line

#: Points of a curve at the most.
_POINTS = 40
#: Quantiles of the completion times of flow arrivals that results hold.
_QUANTILES = (("fct_p50_s", 0.5), ("fct_p95_s", 0.95), ("fct_p99_s", 0.99), ("fct_max_s", 1.0))


def delay_curves(runs: Sequence[StoredRun], labels: Sequence[str]) -> list[Line]:
    """Return for each algorithm the share of data packets that spent at most so many ms in queues."""
    found = []
    for label in labels:
        packets: dict[int, int] = {}
        for run in runs:
            if run.cc == label:
                for up_to_ns, count in _of_paths(json.loads(run.outcome.histograms_json)):
                    packets[up_to_ns] = packets.get(up_to_ns, 0) + count
        if packets:
            points = [(1e-6 * up_to_ns, count) for up_to_ns, count in sorted(packets.items())]
            found.append(curve(label, points))
    return found


def completion_curves(runs: Sequence[StoredRun], labels: Sequence[str]) -> list[Line]:
    """Return for each algorithm the share of finite flows that took at most so many seconds.

    Of flow arrivals the quantiles that results hold, as means over replicates; of single transfers all
    times. Nothing where no flow ended.
    """
    found = []
    for label in labels:
        documents = [run.document for run in runs if run.cc == label]
        times = sorted(_times(documents))
        if times:
            found.append(curve(label, [(time_s, 1) for time_s in times]))
        elif arrivals := _arrivals(documents):
            found.append(arrivals_curve(label, arrivals))
    return found


def curve(name: str, points: Iterable[tuple[float, int]]) -> Line:
    """Return the distribution function of values, so many of each, from the least on."""
    values, counts = zip(*points, strict=True)
    total, below = sum(counts), 0
    x, y, least = [values[0]], [0.0], 0.0
    for value, count in zip(values, counts, strict=True):
        below += count
        # Always the last; of the others so many that the curve is smooth.
        if below == total or below / total >= least:
            x.append(value)
            y.append(below / total)
            least = below / total + 1 / _POINTS
    return Line(name, x, y)


def arrivals_curve(name: str, groups: Sequence[dict[str, Any]]) -> Line:
    """Return a curve through the quantiles of flow arrivals."""
    x, y = [], []
    for key, share in _QUANTILES:
        values = [group[key] for group in groups if group[key] is not None]
        if values:
            x.append(sum(values) / len(values))
            y.append(share)
    return Line(name, x, y)


def _of_paths(histograms: Sequence[dict[str, Any]]) -> Iterable[tuple[int, int]]:
    """Give the classes of the data of all flows on their paths."""
    for histogram in histograms:
        if histogram["link"] is None:
            yield from zip(histogram["up_to_ns"], histogram["packets"], strict=True)


def _times(documents: Iterable[dict[str, Any]]) -> Iterable[float]:
    for document in documents:
        for flow in document["flows"]:
            if flow["completion_time_s"] is not None:
                yield flow["completion_time_s"]


def _arrivals(documents: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        group
        for document in documents
        for group in document.get("transfers", ())
        if group["fct_p50_s"] is not None
    ]
