"""Measures of the synchronous model, on which the papers base their proofs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

from ackclock.evaluation.candidate import Candidate
from ackclock.reproduce.measures import Part, exact, measure
from ackclock.reproduce.runs import Runs
from ackclock.synchronous.cycles import Cycle, cycles, sawtooth
from ackclock.synchronous.model import model

#: Shorter cycles are no longer whole RTTs, as the papers' algebra assumes.
_MIN_CYCLE = 2.0


@cache
def table() -> dict[str, Any]:
    """Return the table of the model, which is constant."""
    return model("table")


def _efficiency_of(rule: str) -> dict[str, Any]:
    return next(row for row in table()["efficiency"] if row["rule"] == rule)


@measure("model-efficiency")
def _efficiency(
    runs: Runs,
    *,
    rule: str,
    minus_rule: str | None = None,
    convention: str = "exact_peak",
    field: str = "efficiency",
) -> list[Part]:
    """A figure of a rule in percent, or its difference in points.

    `docs/reference/synchronous-model.md` defines the conventions. `integer_step` uses X_goal = 100.
    """
    values = []
    for name in (rule, minus_rule) if minus_rule is not None else (rule,):
        found = _efficiency_of(name)[convention]
        value = (found[0] if convention == "integer_step" else found)[field]
        if value is None:
            return [Part("", None, exact=True, reason="No step is at or below X_goal")]
        values.append(100 * value)
    return [exact(values[0] - (values[1] if minus_rule is not None else 0.0))]


@measure("model-cycle-ratio")
def _cycle_ratio(runs: Runs, *, cc: str, windows: Sequence[float], x_goal: float) -> list[Part]:
    """Length of a cycle over the length of the previous one, from the third cycle on."""
    lengths = [cycle.rounds for cycle in _whole_cycles(cc, windows, x_goal)]
    return [
        exact(after / before, f"k_{number}/k_{number - 1}")
        for number, (before, after) in enumerate(itertools.pairwise(lengths[1:]), 3)
    ]


@measure("model-second-cycle")
def _second_cycle(runs: Runs, *, cc: str, windows: Sequence[float], x_goal: float) -> list[Part]:
    """Length of the second cycle over (W - 2 k_1) / 4."""
    first, second = (cycle.rounds for cycle in _whole_cycles(cc, windows, x_goal)[:2])
    return [exact(second / ((x_goal - 2 * first) / 4))]


@measure("model-cycle-packets")
def _cycle_packets(runs: Runs, *, cc: str, windows: Sequence[float], x_goal: float) -> list[Part]:
    """Packets in each cycle over (1 + k_m)(W - k_m)."""
    return [
        exact(cycle.packets / ((1 + cycle.rounds) * (x_goal - cycle.rounds)), f"cycle {number}")
        for number, cycle in enumerate(_whole_cycles(cc, windows, x_goal), 1)
    ]


@measure("model-doubling")
def _doubling(runs: Runs, *, rule: str) -> list[Part]:
    """RTTs in which a window doubles without marks and losses. `rule` is a column of `expansion`."""
    rows = table()["expansion"]
    found = next(row["time"] for row in rows if row[rule] >= 2 * rows[0][rule])
    return [exact(float(found))]


@measure("model-event-ratio")
def _event_ratio(runs: Runs, *, cc: str, reference: str, x_goal: float) -> list[Part]:
    """Congestion events of one user per RTT, relative to another algorithm, in the long run.

    Both algorithms are texts such as `aimd(increase=0.5)`.
    """
    return [exact(_sawtooth(cc, x_goal)["events"] / _sawtooth(reference, x_goal)["events"])]


@measure("model-window-ratio")
def _window_ratio(runs: Runs, *, cc: str, reference: str, x_goal: float) -> list[Part]:
    """Mean window of one user, relative to another algorithm, in the long run.

    Both algorithms are texts such as `aimd(increase=0.5)`.
    """
    return [exact(_sawtooth(cc, x_goal)["mean_window"] / _sawtooth(reference, x_goal)["mean_window"])]


def _sawtooth(cc: str, x_goal: float) -> dict[str, float]:
    return sawtooth(Candidate.parse(cc).resolved, x_goal)


def _whole_cycles(cc: str, windows: Sequence[float], x_goal: float) -> list[Cycle]:
    """Return the cycles before the first that is short or does not consist of whole RTTs."""

    def is_whole(cycle: Cycle) -> bool:
        return cycle.rounds >= _MIN_CYCLE and abs(cycle.rounds - round(cycle.rounds)) <= 1e-9

    return list(itertools.takewhile(is_whole, cycles(cc, windows, x_goal)))
