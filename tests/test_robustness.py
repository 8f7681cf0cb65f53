"""C, D and rank correlations of a paper's controls, from runs whose metrics are written by hand."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ackclock.errors import InputError
from ackclock.files.declaration import Place
from ackclock.reproduce.claims import FAILS, HOLDS, Region, decide
from ackclock.reproduce.grids import Axis, Grid
from ackclock.reproduce.measures import Part, check, take
from ackclock.reproduce.metrics import METRICS
from ackclock.reproduce.paper import Paper, Quick
from ackclock.reproduce.printed import PrintedTable
from ackclock.reproduce.readings import CHOSEN
from ackclock.reproduce.robustness import regrets_of
from ackclock.reproduce.runs import Batch, Cell, Run, Runs, plan
from ackclock.reproduce.tables import tables_of
from ackclock.running.job import Outcome
from ackclock.statistics.estimates import kendall_tau_b, spearman

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
    found = regrets_of(runs, "test_loss_percent", DROP_TAIL)
    assert {name: regret.total.mean for name, regret in found.items()} == pytest.approx(
        {"a": 2.0, "b": 1.0, "c": 8.0}
    )
    assert {name: regret.worst_case.mean for name, regret in found.items()} == pytest.approx(
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
        (
            {"reduse": "mean"},
            "claim.reduse: is not a key of the measure 'robustness'; did you mean 'reduce'?",
        ),
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


def test_every_of_several_must_lead(runs: Runs) -> None:
    """D of a, b, c with drop-tail: 2, 1, 8. The best of a and c leads b by -1, the worst of them by -7."""
    lead = {"kind": "robustness-lead", "which": "d_sum", **COMMON, "control": ["a", "c"], "at": DROP_TAIL}
    assert only(list(take(runs, lead))) == pytest.approx(-1.0)
    assert only(list(take(runs, {**lead, "every": True}))) == pytest.approx(-7.0)


def test_orders_by_c_and_by_d_are_compared(runs: Runs) -> None:
    """With drop-tail C is 2, 1, 5 and D 2, 1, 8: one order. Equal controls would leave it open."""
    spec = {"kind": "rank-agreement", "at": DROP_TAIL, **COMMON}
    assert only(list(take(runs, spec))) == pytest.approx(1.0)
    assert only(list(take(runs, {**spec, "statistic": "spearman"}))) == pytest.approx(1.0)


def searched(losses: dict[str, dict[str, list[float]]]) -> Runs:
    """Runs of many scenarios: loss per replicate by scenario and control."""
    axes = (
        Axis("scenario", tuple(losses), ((),) * len(losses)),
        Axis("control", ("a", "b"), ((), ())),
        Axis("queue", ("drop-tail",), ((),)),
    )
    paper = Paper(
        name="searched",
        title="",
        reference="",
        folder=Path(),
        replicates=1,
        alternative_replicates=1,
        quick=Quick(),
        grids=(Grid("main", Path(), axes, False, replicates=8),),
        choices=(),
        printed={},
        tables=(),
        figures=(),
        claims=(),
    )
    cells = [
        Cell(
            {"scenario": scenario, "control": control, "queue": "drop-tail"},
            False,
            tuple(run(value) for value in values),
        )
        for scenario, row in losses.items()
        for control, values in row.items()
    ]
    return Runs(paper, {"main": cells})


EXISTS = {"kind": "exists", "leads": [["a", "b"]], "at": {}, **COMMON}
ABOVE_ZERO = Region(0, math.inf, True, "above 0")


def noise(luck: random.Random, scenarios: int = 60, replicates: int = 8) -> dict[str, dict[str, list[float]]]:
    return {
        f"{number}": {control: [50 + luck.gauss(0, 1) for _ in range(replicates)] for control in "ab"}
        for number in range(scenarios)
    }


def test_the_best_of_many_are_judged_on_replicates_that_did_not_choose_them() -> None:
    """The first half chooses three, by the least lead over its standard error; the second is measured."""
    lucky = {
        f"lucky {number}": {"a": [9.0, 9.1 + number / 10, 1.0, 2.0], "b": [1.0, 1.0, 1.0, 2.0]}
        for number in range(3)
    }
    losses = {
        **lucky,
        "noisy": {"a": [21.0, 1.0, 50.0, 50.1], "b": [1.0, 1.0, 1.0, 1.0]},
        "true": {"a": [5.0, 5.1, 5.0, 5.2], "b": [1.0, 1.0, 1.0, 1.0]},
    }
    (part,) = take(searched(losses), EXISTS)
    assert part.label == "scenario lucky 0, one of the 3 best of 5 searched: a over b"
    assert part.value is not None and part.value.mean == 0.0 and part.value.count == 2
    del losses["lucky 2"]
    (part,) = take(searched(losses), EXISTS)
    assert part.label.startswith("scenario true, one of the 3 best of 4 searched")
    assert part.value is not None and part.value.mean == pytest.approx(4.1)
    # Three finalists: 1 - .05/3 instead of 95 %; t of one degree of freedom is tan(pi confidence / 2).
    assert part.value.half_width == pytest.approx(math.tan(math.pi * (1 - 0.05 / 3) / 2) * 0.1)


def test_pure_noise_does_not_exist() -> None:
    """Equal controls: one leads in about 2.5 % of searches; judged as it was chosen, in half."""
    luck = random.Random(1)
    verdicts, in_hindsight = [], 0
    for _ in range(120):
        losses = noise(luck)
        verdicts.append(decide(ABOVE_ZERO, take(searched(losses), EXISTS))[0])
        repeated = {
            name: {control: values[:4] * 2 for control, values in row.items()} for name, row in losses.items()
        }
        in_hindsight += decide(ABOVE_ZERO, take(searched(repeated), EXISTS))[0] == HOLDS
    # Binomial with 120 trials of .025: 3 are expected, and 10 or more come once in a thousand seeds.
    assert verdicts.count(HOLDS) < 10
    assert in_hindsight > 40


def test_what_exists_is_found_among_noise() -> None:
    losses = noise(random.Random(2))
    losses["17"]["a"] = [value + 8 for value in losses["17"]["a"]]
    parts = take(searched(losses), EXISTS)
    assert parts[0].label.startswith("scenario 17, one of the 3 best of 60 searched")
    assert decide(ABOVE_ZERO, parts)[0] == HOLDS


def test_all_leads_must_stand_in_one_scenario() -> None:
    """a over b in one scenario and b over a in another: the two together are nowhere."""
    up, down = [9.0, 9.1] * 4, [1.0, 1.1, 1.1, 1.0] * 2
    runs = searched({"one": {"a": up, "b": down}, "other": {"a": down, "b": up}})
    for pair in (["a", "b"], ["b", "a"]):
        assert decide(ABOVE_ZERO, take(runs, {**EXISTS, "leads": [pair]}))[0] == HOLDS
    parts = take(runs, {**EXISTS, "leads": [["a", "b"], ["b", "a"]]})
    assert len(parts) == 2 and decide(ABOVE_ZERO, parts)[0] == FAILS


def test_a_single_replicate_chooses_and_is_not_judged() -> None:
    (part,) = take(searched({"one": {"a": [2.0], "b": [1.0]}}), EXISTS)
    assert part.interval is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"leads": [["a", "x"]]}, "claim.leads: no control is called 'x'"),
        ({"leads": [["a"]]}, 'claim.leads[0]: is ["a"], but must be a list of two controls'),
        ({"grids": ["other"]}, "claim.grid: no grid is called 'other'"),
    ],
)
def test_mistakes_of_a_search_are_named(changed: dict[str, Any], message: str) -> None:
    runs = searched(noise(random.Random(3), 2, 2))
    with pytest.raises(InputError, match=re.escape(message)):
        check(runs.paper, {**EXISTS, **changed}, Place("claims.toml", "claim"))


def goodput_run(goodput_bps: float, offered_bps: float, delivered_bps: float) -> Run:
    document = {
        "summary": {"capacity_bps": 100.0},
        "flows": [{"group": "test", "goodput_bps": goodput_bps, "delivered_bps": goodput_bps}],
        "datagrams": [{"offered_bps": offered_bps, "delivered_bps": delivered_bps}],
    }
    return Run(Outcome("", json.dumps(document), ""), 0.0)


def test_fractions_of_goodput_lie_within_one() -> None:
    """30 of 100 where 90 were to be taken, and 60 were: three times what was meant, and 3/4 of the rest."""
    pushed = goodput_run(30, 90, 60)
    assert METRICS["goodput_fraction"](pushed) == pytest.approx(3.0)
    assert METRICS["goodput_capped_fraction"](pushed) == 1.0
    assert METRICS["goodput_of_delivered_fraction"](pushed) == pytest.approx(0.75)
    # What came before the window and was put in order in it.
    late = goodput_run(41, 90, 60)
    assert METRICS["goodput_of_delivered_fraction"](late) == 1.0
    assert METRICS["goodput_of_delivered_fraction"](goodput_run(0, 90, 60)) == 0.0


def test_a_search_has_replicates_of_its_own() -> None:
    """Two replicates of all else leave ten to choose by and ten to judge by; and runs of full length."""
    paper = Paper.load("reddy-linear")
    searches = [grid for grid in paper.grids if grid.replicates > 1]
    planned = plan(replace(paper, grids=tuple(searches)), Batch(CHOSEN, 2, paper.quick.sets), 1)
    assert {grid.name for grid in searches} == {"squares", "sawtooths", "falls"}
    assert len(planned.cells) == 46 * 4
    for cell in planned.cells:
        assert len(list(cell.study.jobs)) == 20
        assert cell.scenario.describe()["duration_s"] == 50
