"""Metrics of the flows under test, where others take their part of the link: `docs/metrics.md`."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

Document = dict[str, Any]


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
        """Return the capacity of the bottleneck less what datagrams and transfers over it take.

        `taken`: `offered_bps`, what datagrams send, or `delivered_bps`, what comes through. Not a number
        where no flow got anything.
        """
        # Efficiency is goodput over the capacity, its mean where it varies.
        summary = self._run["summary"]
        capacity_bps = summary["goodput_bps"] / summary["efficiency"] if summary["efficiency"] else math.nan
        datagrams = (flow[taken] for flow in self._run.get("datagrams", ()))
        transfers = (group["throughput_bps"] for group in self._run.get("transfers", ()))
        return float(capacity_bps) - math.fsum(datagrams) - math.fsum(transfers)

    def goodput_fraction(self, taken: str = "offered_bps") -> float:
        """Return goodput over what is available: may pass one where datagrams are lost."""
        goodput_bps = math.fsum(self.goodputs_bps)
        return goodput_bps / self.available_bps(taken) if goodput_bps else 0.0

    @property
    def loss_rate(self) -> float:
        """Data sent and not acknowledged, over data sent."""
        sent = sum(flow["sent"] for flow in self._flows)
        lost = math.fsum(flow["loss_rate"] * flow["sent"] for flow in self._flows)
        return lost / sent if sent else 0.0

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
