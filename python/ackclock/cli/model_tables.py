"""Tables of `ackclock model` about cycles: their lengths and packets, and the figures of the papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ackclock.text.table import Column, Table


def cycles_table(
    cycles: Mapping[str, Sequence[Mapping[str, Any]]], windows: Sequence[float], x_goal: float
) -> Table:
    """Return lengths and packets of the first cycles of each rule."""
    headings = ("cycle", "k_m", "closed", "packets", "closed")
    table = Table(
        "rule",
        *(Column(heading, right=True) for heading in headings),
        title=f"cycles: users from {' and '.join(f'{window:g}' for window in windows)}, X_goal {x_goal:g}",
        caption=(
            "Round trips and packets of each cycle. Peaks hit X_goal exactly. Closed form of New-AIMD: "
            "k_2 = (W - 2 k_1)/4, k_m = k_2/2^(m-2), (1 + k_m)(W - k_m) packets."
        ),
    )
    for rule, rows in cycles.items():
        for row in rows:
            closed = row["closed_form"] or {}
            figures = (row["rounds"], closed.get("rounds"), row["packets"], closed.get("packets"))
            table.add_row(rule, str(row["cycle"]), *map(_figure, figures))
    return table


def totals_table(rows: Sequence[Mapping[str, float]]) -> Table:
    """Return the load of AIMD at the end of a cycle: printed, right, computed."""
    table = Table(
        *(Column(heading, right=True) for heading in ("cycle m", "k_m", "printed", "right", "computed")),
        title="AIMD(1, 0.5): load at the end of cycle m, users from 10 and 50, X_goal 100",
        caption=(
            "jasem-efficiency prints x/2^(m-1) + k_1 + k_2 + ... + 2 k_m. It is wrong from m = 3. Each "
            "event halves the gain of all earlier cycles, so the terms are 2 k_i/2^(m-i)."
        ),
    )
    for row in rows:
        figures = (row["rounds"], row["printed"], row["right"], row["computed"])
        table.add_row(f"{row['cycle']:g}", *map(_figure, figures))
    return table


def increases_table(rows: Sequence[Mapping[str, float]]) -> Table:
    """Return mean window and congestion events of AIMD with several increases."""
    headings = ("increase a", "mean window", "closed", "events in 100", "closed")
    table = Table(
        *(Column(heading, right=True) for heading in headings),
        title="increases: one AIMD(a, 0.5) user, X_goal 100",
        caption=(
            "Figure 1 of psaras-mr-aimd: equal area. The mean is (1 + b) W/2 for every a. In 100 round trips "
            "there are 100 a/((1 - b) W) congestion events, half as many for half the increase."
        ),
    )
    for row in rows:
        figures = (
            row["mean_window"],
            row["closed_mean_window"],
            100 * row["events"],
            100 * row["closed_events"],
        )
        table.add_row(f"{row['increase']:g}", *map(_figure, figures))
    return table


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")
