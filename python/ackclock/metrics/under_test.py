"""Metrics of the flows under test, where others take their part of the link: `docs/metrics.md`."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

Document = dict[str, Any]


def pooled(rows: Iterable[Document], part: str, whole: str) -> float | None:
    """Return a ratio of sums over rows of flows of a run; none where the whole is zero."""
    rows = list(rows)
    wholes = sum(row[whole] for row in rows)
    return sum(row[part] for row in rows) / wholes if wholes else None


class UnderTest:
    """The flows of some groups in the document of a run."""

    def __init__(self, run: Document, groups: Collection[str]) -> None:
        self._run = run
        self._flows = [flow for flow in run["flows"] if flow["group"] in groups]

    @property
    def goodputs_bps(self) -> list[float]:
        """Payload received in order by each flow, per second."""
        return [flow["goodput_bps"] for flow in self._flows]

    def available_bps(self, taken: str = "offered_bps") -> float:
        """Return the capacity of the bottleneck less the throughput of datagrams and transfers.

        `taken`: `offered_bps`, what datagrams send, or `delivered_bps`, what comes through. Not a number
        where the bottleneck has no rate.
        """
        capacity_bps = self._run["summary"]["capacity_bps"]
        if capacity_bps is None:
            return math.nan
        datagrams = (flow[taken] for flow in self._run.get("datagrams", ()))
        transfers = (group["throughput_bps"] for group in self._run.get("transfers", ()))
        return float(capacity_bps) - math.fsum(datagrams) - math.fsum(transfers)

    def goodput_fraction(self, taken: str = "offered_bps") -> float:
        """Return goodput over available capacity: may exceed one if datagrams are lost."""
        goodput_bps = math.fsum(self.goodputs_bps)
        return goodput_bps / self.available_bps(taken) if goodput_bps else 0.0

    @property
    def loss_rate(self) -> float:
        """Segments lost over segments sent, all flows together; 0 where none was sent."""
        return pooled(self._flows, "lost", "sent") or 0.0

    @property
    def queue_delay_mean_s(self) -> float:
        """Mean queueing delay of data packets on their paths, over all flows; 0 if none arrived."""
        arrived = sum(flow["arrived"] for flow in self._flows)
        waited_s = math.fsum(
            flow["arrived"] * flow["queue_delay_mean_s"] for flow in self._flows if flow["arrived"]
        )
        return waited_s / arrived if arrived else 0.0

    @property
    def jain_index(self) -> float:
        """Jain's index of the goodputs; 1 where all are zero."""
        rates = self.goodputs_bps
        squares = math.fsum(rate**2 for rate in rates)
        return math.fsum(rates) ** 2 / (len(rates) * squares) if squares else 1.0

    @property
    def spread(self) -> float:
        """(max - min) / mean of the goodputs; 0 where all are zero."""
        rates = self.goodputs_bps
        total = math.fsum(rates)
        return (max(rates) - min(rates)) * len(rates) / total if total else 0.0
