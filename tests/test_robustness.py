"""C, D and rank correlations of a paper's controls, from runs whose metrics are written by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ackclock.declaration import Place
from ackclock.errors import InputError
from ackclock.job import Outcome
from ackclock.reproduce.measures import Part, check, take
from ackclock.reproduce.paper import Axis, Grid, Paper, Quick
from ackclock.reproduce.printed import PrintedTable
from ackclock.reproduce.robustness import standings_of
from ackclock.reproduce.runs import Cell, Run, Runs
from ackclock.reproduce.tables import tables_of
from ackclock.stats import kendall_tau_b, spearman

#: Loss in percent by queue, environment and control; three replicates around each.
LOSS = {
    "drop-tail": {"calm": {"a": 1.0, "b": 2.0, "c": 4.0}, "rough": {"a": 5.0, "b": 3.0, "c": 8.0}},
    "red": {"calm": {"a": 3.0, "b": 1.0, "c": 2.0}, "rough": {"a": 3.0, "b": 1.0, "c": 2.0}},
}
SHIFTS = (-0.1, 0.0, 0.1)
COMMON = {"metric": "test_loss_percent"}
DROP_TAIL = {"queue": "drop-tail"}


def run(percent: float) -> Run:
    flow = {"group": "test", "lost": round(1e4 * percent), "sent": 1_000_000}
    return Run(Outcome("", json.dumps({"flows": [flow]}), ""), 0.0)


@pytest.fixture
def runs() -> Runs:
    axes = tuple(
        Axis(name, values, ((),) * len(values))
        for name, values in (
            ("queue", ("drop-tail", "red")),
            ("environment", ("calm", "rough")),
            ("control", ("a", "b", "c")),
        )
    )
    printed = PrintedTable(
        {"queue": ("drop-tail",) * 3, "control": ("a", "b", "c"), "d_sum": (0.2, 0.1, 0.9)}
    )
    paper = Paper(
        name="hand",
        title="",
        reference="",
        folder=Path(),
        replicates=3,
        alternative_replicates=1,
        quick=Quick(),
        grids=(Grid("main", Path(), axes, False),),
        choices=(),
        printed={"table": printed},
        tables=(
            {
                "id": "t",
                "title": "T",
                "kind": "robustness",
                "at": DROP_TAIL,
                "printed": "table",
                "columns": [
                    {"title": "D", "which": "d_sum", **COMMON, "printed": "d_sum", "digits": 2},
                    {"title": "C", "which": "c_max", **COMMON, "digits": 2},
                ],
            },
        ),
        figures=(),
        claims=(),
    )
    cells = [
        Cell(
            {"queue": queue, "environment": environment, "control": control},
            False,
            tuple(run(value + shift) for shift in SHIFTS),
        )
        for queue, rows in LOSS.items()
        for environment, row in rows.items()
        for control, value in row.items()
    ]
    return Runs(paper, {"main": cells})


def only(parts: list[Part]) -> float:
    (part,) = parts
    assert part.value is not None
    return part.value.mean


def test_c_and_d_by_hand(runs: Runs) -> None:
    """The best are 1 (a) when calm and 3 (b) when rough."""
    found = standings_of(runs, "test_loss_percent", DROP_TAIL)
    assert {name: standing.d_sum.mean for name, standing in found.items()} == pytest.approx(
        {"a": 2.0, "b": 1.0, "c": 8.0}
    )
    assert {name: standing.c.mean for name, standing in found.items()} == pytest.approx(
        {"a": 2.0, "b": 1.0, "c": 5.0}
    )
    assert found["a"].worst == "rough" and found["b"].worst == "calm"


def test_replicates_that_move_together_leave_no_doubt(runs: Runs) -> None:
    """All controls share their luck: differences to the best are the same in each replicate."""
    (part,) = take(
        runs,
        {"kind": "robustness", "which": "d_sum", "at": {**DROP_TAIL, "control": "c"}, **COMMON},
    )
    assert part.interval == pytest.approx((8.0, 8.0))


@pytest.mark.parametrize(("reduce", "value"), [("mean", 11 / 3), ("least", 1.0), ("greatest", 8.0)])
def test_controls_are_taken_together(runs: Runs, reduce: str, value: float) -> None:
    spec = {"kind": "robustness", "which": "d_sum", "reduce": reduce, "at": DROP_TAIL, **COMMON}
    assert only(list(take(runs, spec))) == pytest.approx(value)
    assert only(list(take(runs, {**spec, "which": "d_mean"}))) == pytest.approx(value / 2)


def test_a_lead_is_over_the_best_of_the_others(runs: Runs) -> None:
    """D of a, b, c: 2, 1, 8 with drop-tail and 4, 0, 2 with RED."""
    lead = {"kind": "robustness-lead", "which": "d_sum", **COMMON}
    assert only(list(take(runs, {**lead, "control": "b", "at": DROP_TAIL}))) == pytest.approx(1.0)
    assert only(list(take(runs, {**lead, "control": "a", "at": DROP_TAIL}))) == pytest.approx(-1.0)
    assert only(
        list(take(runs, {**lead, "control": ["a", "b"], "among": ["c"], "at": DROP_TAIL}))
    ) == pytest.approx(7.0)
    # At their worst: a 4, b 1, c 8.
    both = {"queue": ["drop-tail", "red"]}
    assert only(list(take(runs, {**lead, "control": "a", "at": both}))) == pytest.approx(-3.0)


def test_steps_go_from_group_to_group(runs: Runs) -> None:
    groups = {"first": ["a", "b"], "second": ["c"], "third": ["a"]}
    parts = take(
        runs, {"kind": "robustness-steps", "which": "d_sum", "groups": groups, "at": DROP_TAIL, **COMMON}
    )
    assert [part.label for part in parts] == ["first to second", "second to third"]
    assert [part.value.mean for part in parts if part.value] == pytest.approx([6.5, -6.0])


def test_the_order_is_compared_with_the_printed_one(runs: Runs) -> None:
    """Measured 2, 1, 8, printed .2, .1, .9: the same order; C has it, too."""
    spec = {"kind": "rank-correlation", "table": "table", "column": "d_sum", "at": DROP_TAIL, **COMMON}
    for statistic in ("tau-b", "spearman"):
        for which in ("d_sum", "c_max"):
            assert only(list(take(runs, {**spec, "statistic": statistic, "which": which}))) == pytest.approx(
                1
            )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"which": "d"}, "claim.which: is 'd', but must be one of d_sum, d_mean, c_max"),
        ({"reduce": "median"}, "claim.reduce: is 'median', but must be one of mean, least, greatest"),
        ({"reduse": "mean"}, "claim.reduse: is no key of the measure 'robustness'; did you mean 'reduce'?"),
        ({"grids": "main"}, 'claim.grids: is "main", but must be a list'),
        ({"at": {"queue": "blue"}}, "claim.at: queue is never 'blue'; there are: drop-tail, red"),
        ({"at": {"queqe": "red"}}, "claim.at: no axis is called 'queqe'; did you mean 'queue'?"),
        ({"kind": "robustness-lead", "control": "d"}, "claim.control: no control is called 'd'"),
        (
            {"kind": "robustness-lead", "control": "a", "among": ["b", "x"]},
            "claim.among: no control is called 'x'",
        ),
        ({"kind": "robustness-steps", "groups": {"1": ["x"]}}, "claim.groups.1: no control is called 'x'"),
        (
            {"kind": "rank-correlation", "table": "table", "column": "d_sun"},
            "claim: no column of table is called 'd_sun'; did you mean 'd_sum'?",
        ),
        (
            {"kind": "rank-correlation", "table": "table", "column": "d_sum", "statistic": "tau"},
            "claim.statistic: is 'tau', but must be one of tau-b, spearman",
        ),
    ],
)
def test_mistakes_are_named(runs: Runs, changed: dict[str, Any], message: str) -> None:
    spec = {"kind": "robustness", "which": "d_sum", "at": DROP_TAIL, **COMMON, **changed}
    with pytest.raises(InputError, match=re.escape(message)):
        check(runs.paper, spec, Place("claims.toml", "claim"))


def test_a_table_has_a_row_per_control(runs: Runs) -> None:
    (table,) = tables_of(runs)
    assert [name for name, _ in table.rows] == ["a", "b", "c"]
    assert [[entry.printed for entry in row] for _, row in table.rows] == [
        [0.2, None],
        [0.1, None],
        [0.9, None],
    ]
    assert table.columns == ("D", "C") and table.is_printed


def test_rank_correlations_by_hand() -> None:
    """Of ten pairs of 1 2 3 4 5 and 3 1 2 5 4 seven agree and three do not; rank differences 2 1 1 1 1."""
    first, second = [1, 2, 3, 4, 5], [3, 1, 2, 5, 4]
    assert kendall_tau_b(first, second) == pytest.approx(0.4)
    assert spearman(first, second) == pytest.approx(1 - 6 * 8 / (5 * 24))
    assert kendall_tau_b(first, first) == spearman(first, first) == 1.0
    assert kendall_tau_b(first, first[::-1]) == spearman(first, first[::-1]) == -1.0


def test_ties_are_corrected_for() -> None:
    """1 1 2 and 1 2 3: two pairs agree, one is tied on one side: 2 / sqrt(2 * 3)."""
    assert kendall_tau_b([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / 6**0.5)
    # Ranks 1.5 1.5 3 and 1 2 3.
    assert spearman([1, 1, 2], [1, 2, 3]) == pytest.approx(1.5 / (1.5 * 2) ** 0.5)
