"""Measures of the synchronous model, of which the papers prove what they prove."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from ackclock.reproduce.measures import Part, exact, measure
from ackclock.reproduce.runs import Runs
from ackclock.synchronous import model, trajectory

#: Cycles this short are no longer whole round trips, which the algebra of the papers takes them for.
_MIN_CYCLE = 2.0


@cache
def table() -> dict[str, Any]:
    """Return the figures of the model, which never change."""
    return model("table")


def _efficiency_of(rule: str) -> dict[str, Any]:
    return next(row for row in table()["efficiency"] if row["rule"] == rule)


@measure("model-efficiency")
def _efficiency(
    runs: Runs,
    *,
    rule: str,
    minus: str | None = None,
    convention: str = "exact_peak",
    field: str = "efficiency",
) -> list[Part]:
    """A figure of a rule in percent, or its difference in points; conventions as in `docs/model.md`.

    `integer_step` is that of X_goal = 100.
    """
    values = []
    for name in (rule, minus) if minus is not None else (rule,):
        found = _efficiency_of(name)[convention]
        value = (found[0] if convention == "integer_step" else found)[field]
        if value is None:
            return [Part("", None, exact=True, reason="No step is at or below X_goal")]
        values.append(100 * value)
    return [exact(values[0] - (values[1] if minus is not None else 0.0))]


@measure("model-cycle-ratio")
def _cycle_ratio(runs: Runs, *, cc: str, windows: Sequence[float], x_goal: float) -> list[Part]:
    """Length of a cycle over that of the one before it, from the third cycle on."""
    lengths = [cycle["rounds"] for cycle in _cycles(cc, windows, x_goal)]
    return [
        exact(after / before, f"k_{number}/k_{number - 1}")
        for number, (before, after) in enumerate(itertools.pairwise(lengths[1:]), 3)
    ]


@measure("model-second-cycle")
def _second_cycle(runs: Runs, *, cc: str, windows: Sequence[float], x_goal: float) -> list[Part]:
    """Length of the second cycle over (W - 2 k_1) / 4."""
    first, second = (cycle["rounds"] for cycle in _cycles(cc, windows, x_goal)[:2])
    return [exact(second / ((x_goal - 2 * first) / 4))]


@measure("model-cycle-packets")
def _cycle_packets(runs: Runs, *, cc: str, windows: Sequence[float], x_goal: float) -> list[Part]:
    """Packets in each cycle over (1 + k_m)(W - k_m)."""
    return [
        exact(cycle["packets"] / ((1 + cycle["rounds"]) * (x_goal - cycle["rounds"])), f"cycle {number}")
        for number, cycle in enumerate(_cycles(cc, windows, x_goal), 1)
    ]


@measure("model-doubling")
def _doubling(runs: Runs, *, rule: str) -> list[Part]:
    """Round trips in which a window doubles without marks and losses; `rule`: a column of `expansion`."""
    rows = table()["expansion"]
    found = next(row["time"] for row in rows if row[rule] >= 2 * rows[0][rule])
    return [exact(float(found))]


def _cycles(cc: str, windows: Sequence[float], x_goal: float) -> list[dict[str, float]]:
    """Return round trips and packets of each cycle of whole round trips, peaks hitting X_goal exactly."""
    users = [{"cc": cc, "window": float(window)} for window in windows]
    # Cycles that halve end together within twice the first: all that is longer is more of the same.
    answer = trajectory(users, x_goal=x_goal, duration=x_goal, peak="exact")
    cycles: list[dict[str, float]] = []
    start, before = 0.0, 0.0
    for cycle in answer["cycles"]:
        rounds = cycle["growing_time"] - before
        if rounds < _MIN_CYCLE or abs(rounds - round(rounds)) > 1e-9:
            break
        loads = [
            load
            for time, load in zip(answer["time"], answer["load"], strict=True)
            if start <= time <= cycle["time"]
        ]
        # A peak and the load behind its cut have one time: the cut belongs to the next cycle.
        first = 0 if not cycles else 1
        cycles.append({"rounds": rounds, "packets": math.fsum(loads[first : first + round(rounds) + 1])})
        start, before = cycle["time"], cycle["growing_time"]
    return cycles
