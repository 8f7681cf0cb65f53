"""The distributions of queueing delays and completion times over the replicates of an environment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ackclock.evaluation.export import StoredRun
from ackclock.page.lines import Line

#: The largest number of points of a curve.
_POINTS = 40
#: The quantiles of completion times that results contain for flow arrivals.
_QUANTILES = (("fct_p50_s", 0.5), ("fct_p95_s", 0.95), ("fct_p99_s", 0.99), ("fct_max_s", 1.0))


def delay_curves(runs: Sequence[StoredRun], labels: Sequence[str]) -> list[Line]:
    """Return the distribution of the queueing delays of data packets, in ms, for each algorithm."""
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
    """Return the distribution of the completion times of finite flows, in seconds, for each algorithm.

    Flow arrivals contribute their quantiles, as means over replicates. Single transfers contribute all times.
    Algorithms without a finished flow have no curve.
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
    """Return the distribution function of sorted values with their counts."""
    values, counts = zip(*points, strict=True)
    total, below = sum(counts), 0
    x, y, least = [values[0]], [0.0], 0.0
    for value, count in zip(values, counts, strict=True):
        below += count
        # The curve contains the last value, and enough others to be smooth.
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
    """Yield the classes of the histograms of whole paths."""
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
