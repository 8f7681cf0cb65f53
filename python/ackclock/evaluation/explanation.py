"""Explains an environment in sentences, per group of flows, from its runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.evaluation.export import StoredRun
from ackclock.evaluation.score import Result, Score, Scoreboard

Document = dict[str, Any]


@dataclass(frozen=True)
class GroupRow:
    """One group of flows under one algorithm, as means over runs (docs/reference/metrics.md)."""

    group: str
    cc: str
    flows: int
    goodput_mbps: float
    loss_percent: float
    timeouts: float
    cwnd_segments: float
    rtt_ms: float | None


def group_rows(runs: Sequence[StoredRun]) -> list[GroupRow]:
    """Return a row per group and candidate, sorted by group."""
    documents: dict[str, list[Document]] = {}
    for run in runs:
        documents.setdefault(run.cc, []).append(run.document)
    first = next(iter(documents.values()))[0]
    groups = list(dict.fromkeys(flow["group"] for flow in first["flows"]))
    return [_row(group, cc, found) for group in groups for cc, found in documents.items()]


def _row(group: str, cc: str, documents: Sequence[Document]) -> GroupRow:
    runs = [[flow for flow in document["flows"] if flow["group"] == group] for document in documents]

    def mean(of: Callable[[Document], float | None]) -> float | None:
        return _mean(_mean(of(flow) for flow in flows) for flows in runs)

    rtt_s = mean(lambda flow: flow["rtt_mean_s"])
    return GroupRow(
        group=group,
        cc=cc,
        flows=len(runs[0]),
        goodput_mbps=1e-6 * (mean(lambda flow: flow["goodput_bps"]) or 0.0),
        loss_percent=100 * (_mean(_loss_rate(flows) for flows in runs) or 0.0),
        timeouts=mean(lambda flow: flow["timeouts"]) or 0.0,
        cwnd_segments=mean(lambda flow: flow["cwnd_mean_segments"]) or 0.0,
        rtt_ms=None if rtt_s is None else 1e3 * rtt_s,
    )


def _loss_rate(flows: Sequence[Document]) -> float | None:
    """Return lost over sent segments of all flows, or None if no segment was sent."""
    sent = sum(flow["sent"] for flow in flows)
    return sum(flow["lost"] for flow in flows) / sent if sent else None


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None."""
    there = [value for value in values if value is not None]
    return math.fsum(there) / len(there) if there else None


def explain(board: Scoreboard, result: Result, worst: Score, runs: Sequence[StoredRun]) -> list[str]:
    """Describe the worse metric of an environment, the shares of other flows, and other differences."""
    name = board.candidates[0].label
    reference = board.candidates[board.reference].label
    theirs = result.scores[board.reference][result.metrics.index(worst.metric)]
    metric, ours_mean, theirs_mean = worst.metric, worst.value.mean, theirs.value.mean
    change = f", {_percent(ours_mean / theirs_mean - 1)}" if theirs_mean else ""
    sentences = [
        f"{_capital(metric.label)} is {metric.text(ours_mean)} with {name} and "
        f"{metric.text(theirs_mean)} with {reference}{change}."
    ]
    rows = group_rows(runs)
    groups = list(dict.fromkeys(row.group for row in rows))
    if len(groups) > 1:
        for cc in (name, reference):
            parts = [
                f"{_flow(row.group, row.flows)} {row.goodput_mbps:.2f} Mbit/s" for row in rows if row.cc == cc
            ]
            sentences.append(f"With {cc}, goodput is: {', '.join(parts)}.")
    sentences += _differences(rows, name, reference)
    return sentences


def _differences(rows: Sequence[GroupRow], name: str, reference: str) -> list[str]:
    """Compare losses and timeouts of the first candidate with the reference."""
    ours, theirs = ([row for row in rows if row.cc == cc] for cc in (name, reference))
    sentences = []
    for own, other in zip(ours, theirs, strict=True):
        who = f"The {own.group} flows" if own.flows > 1 else f"The {own.group} flow"
        lose = "lose" if own.flows > 1 else "loses"
        sentences.append(
            f"{who} {lose} {own.loss_percent:.2f} % of the segments sent "
            f"({other.loss_percent:.2f} % with {reference}), "
            f"with {own.timeouts:.1f} timeouts per flow ({other.timeouts:.1f})."
        )
    return sentences


def _flow(group: str, flows: int) -> str:
    return f"each of {flows} {group} flows" if flows > 1 else f"the {group} flow"


def _percent(change: float) -> str:
    return f"{abs(change):.0%} {'more' if change > 0 else 'less'}".replace("%", " %")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
