"""`ackclock model`: closed forms beside computed figures."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from helpers import cli

import ackclock
from ackclock.errors import InputError
from ackclock.evaluation.candidate import Candidate
from ackclock.reproduce.measures import MEASURES
from ackclock.synchronous.cycles import cycles
from ackclock.synchronous.model import plot


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    answer = cli("model", "--json")
    assert answer.code == 0, answer.stderr
    document: dict[str, Any] = json.loads(answer.stdout)
    return document


def efficiency(table: dict[str, Any], rule: str) -> dict[str, Any]:
    (row,) = (row for row in table["efficiency"] if row["rule"] == rule)
    return dict(row)


@pytest.mark.parametrize(
    ("rule", "remaining", "expected"),
    [
        # Windows swing between `remaining` and 1 of the peak: the mean of a straight line is halfway.
        ("AIMD(1, 0.5)", 1 / 2, 3 / 4),
        ("AIMD(1, 0.8)", 0.8, 0.9),
        ("AIMD-FC", 2 / 3, 5 / 6),
        ("AIMD-FC+", 7 / 9, 8 / 9),
        ("New-AIMD", 1.0, 1.0),
    ],
)
def test_peaks_that_hit_the_goal_give_the_closed_forms(
    table: dict[str, Any], rule: str, remaining: float, expected: float
) -> None:
    row = efficiency(table, rule)
    assert row["closed_form"] == pytest.approx({"remaining": remaining, "efficiency": expected})
    assert row["exact_peak"]["efficiency"] == pytest.approx(expected, abs=1e-3)
    assert row["exact_peak"]["remaining"] == pytest.approx(remaining, abs=1e-3)


@pytest.mark.parametrize("rule", ["AIMD(1, 0.5)", "AIMD(1, 0.8)", "AIMD-FC", "AIMD-FC+"])
def test_steps_come_near_the_closed_forms(table: dict[str, Any], rule: str) -> None:
    row = efficiency(table, rule)
    goal = row["closed_form"]["efficiency"]
    # Two users overshoot by a segment each, at most.
    for step in row["integer_step"]:
        if step["x_goal"] >= 10_000:
            assert step["efficiency"] == pytest.approx(goal, abs=2 * 2 / step["x_goal"])
    assert row["fine_step"]["efficiency"] == pytest.approx(goal, abs=1e-3)


def test_new_aimd_stays_above_the_goal(table: dict[str, Any]) -> None:
    for step in efficiency(table, "New-AIMD")["integer_step"]:
        assert step["efficiency"] is None
        assert step["congested_share"] == 1.0
        assert 0.97 < step["congested_share_from_start"] < 1.0


def test_fairness_follows_the_laws(table: dict[str, Any]) -> None:
    rows = {row["rule"]: row for row in table["fairness"]}
    steps = {rule: row["fair"]["exact_peak_steps"] for rule, row in rows.items() if row["fair"] is not None}
    assert steps["AIMD(1, 0.5)"] == pytest.approx(70)
    assert steps["AIMD-FC"] == pytest.approx(52.5)
    assert steps["AIMD-FC+"] == pytest.approx(40)
    assert steps["New-AIMD"] == pytest.approx(42.5)
    assert {"AIAD(1, 3)", "MIMD(0.1, 0.5)", "MIAD(0.1, 3)"}.isdisjoint(steps)
    # Fair where 40 x b^(m-1) is below 10.05.
    cycles_to_fair = {rule: row["fair"]["cycles"] for rule, row in rows.items() if row["fair"] is not None}
    assert cycles_to_fair["AIAD(1, 3) and 2 %"] == 70
    assert cycles_to_fair["AIAD(1, 3) and 5 %"] == 28
    assert cycles_to_fair["AIAD(1, 3) and 10 %"] == 15
    differences = rows["AIMD(1, 0.5)"]["differences"]
    assert all(b == pytest.approx(a / 2) for a, b in pairwise(differences))
    assert len(set(rows["AIAD(1, 3)"]["differences"])) == 1


def test_the_load_curve_has_a_knee_before_its_cliff(table: dict[str, Any]) -> None:
    knee, cliff = table["load_curve"]["knee"], table["load_curve"]["cliff"]
    assert 0 < knee["load"] < cliff["load"] < 1
    assert cliff["throughput"] == max(point["throughput"] for point in table["load_curve"]["points"])


def test_the_table_fits_80_columns() -> None:
    answer = cli("model", columns=80)
    assert answer.code == 0
    assert max(map(len, answer.stdout.splitlines())) <= 80
    assert "0.8889" in answer.stdout and "knee" in answer.stdout


def test_cycles_of_new_aimd_follow_the_algebra_of_the_paper(table: dict[str, Any]) -> None:
    rows = table["cycles"]["rules"]["new-aimd"]
    # From (10, 50) with W = 100: k = 20, 15, 7.5, ...; packets 21 x 80, 16 x 85, 8.5 x 92.5.
    assert [row["rounds"] for row in rows] == pytest.approx([20, 15, 7.5, 3.75, 1.875])
    assert [row["packets"] for row in rows[:3]] == pytest.approx([1680, 1360, 786.25])
    for row in rows:
        assert row["closed_form"] == pytest.approx({key: row[key] for key in ("rounds", "packets")})
    # AIMD halves 100 and needs 25 round trips for two users; it sends 26 x 75 packets in them.
    aimd = table["cycles"]["rules"]["aimd"]
    assert [row["rounds"] for row in aimd] == pytest.approx([20, 25, 25, 25, 25])
    assert [row["packets"] for row in aimd[1:]] == pytest.approx([26 * 75] * 4)
    assert all(row["closed_form"] is None for row in aimd)


def test_packets_of_a_cycle_are_those_of_its_round_trips() -> None:
    # From 64 and 128, W = 300: loads 192, 194, ..., 300 are 55 round trips; then 204, ..., 300.
    first, second = cycles("new-aimd", [64, 128], 300)[:2]
    assert (first.rounds, first.packets) == pytest.approx((54, sum(range(192, 301, 2))))
    assert (second.rounds, second.packets) == pytest.approx((48, sum(range(204, 301, 2))))


def test_the_printed_formula_of_aimd_is_wrong_from_the_third_cycle_on(table: dict[str, Any]) -> None:
    rows = table["aimd_totals"]
    # x = 60, k = 20, 25, 25, ...: 15 + 20 + 25 + 50, 7.5 + 20 + 25 + 25 + 50, ...; every peak is 100.
    assert [row["printed"] for row in rows] == pytest.approx([100, 100, 110, 127.5, 148.75])
    assert [row["right"] for row in rows] == pytest.approx([100] * 5)
    assert [row["computed"] for row in rows] == pytest.approx([100] * 5)


def test_half_the_increase_halves_congestion_events_and_keeps_the_mean_window(table: dict[str, Any]) -> None:
    rows = {row["increase"]: row for row in table["increases"]}
    assert set(rows) == {0.5, 1.0, 1.5, 2.0}
    for increase, row in rows.items():
        assert row["mean_window"] == pytest.approx(75) == row["closed_mean_window"]
        # From 50 to 100 in 50/a round trips.
        assert row["events"] == pytest.approx(increase / 50) == row["closed_events"]


def test_a_measure_of_events_and_of_windows() -> None:
    def value(kind: str, **keys: Any) -> float:
        (part,) = MEASURES[kind].function(None, **keys)
        assert part.value is not None
        return part.value.mean

    keys = {"cc": "aimd(increase=0.5)", "reference": "aimd", "x_goal": 100.0}
    assert value("model-event-ratio", **keys) == pytest.approx(0.5)
    assert value("model-window-ratio", **keys) == pytest.approx(1)
    # A gentler cut: (1 - .5)/(1 - .8) as many events, .9/.75 of the window.
    keys["cc"] = "aimd(remaining=0.8)"
    assert value("model-event-ratio", **keys) == pytest.approx(2.5)
    assert value("model-window-ratio", **keys) == pytest.approx(1.2)


def test_rules_with_parameters_are_named_inline() -> None:
    names = ("aimd(increase=0.5)", "aimd-fc+(gain_kept=0)", "aimd-fc")
    answer = cli("model", *(part for name in names for part in ("--cc", name)), "--json")
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert tuple(document["trajectories"]) == names == tuple(document["cycles"]["rules"])
    slow, none_kept, fc = (document["cycles"]["rules"][name] for name in names)
    # 40 segments at one a round trip for both, then 50.
    assert [row["rounds"] for row in slow[:3]] == pytest.approx([40, 50, 50])
    for one, other in zip(none_kept, fc, strict=True):
        assert one["rounds"] == pytest.approx(other["rounds"])


def test_a_label_has_words_as_they_are_written() -> None:
    label = Candidate.parse('mr-aimd(on_mark="cut", alpha=2)').label
    assert label == 'mr-aimd(alpha=2, on_mark="cut")'
    assert Candidate.parse(label).label == label


@pytest.mark.parametrize(
    ("cc", "expected"),
    [
        ("aimd(increse=2)", "increse: unknown key"),
        ("amd", "unknown algorithm"),
        ("aimd(increase=-1)", "increase: -1 is out of range"),
        ("aimd(increase=1,5)", "cannot be read"),
        ("cubic", "more than a window rule"),
    ],
)
def test_a_rule_that_is_none_is_explained_with_those_there_are(cc: str, expected: str) -> None:
    answer = cli("model", "--cc", cc)
    assert answer.code == 2 and answer.stdout == ""
    assert expected in answer.stderr and "Traceback" not in answer.stderr
    assert "aimd(increase, remaining)" in answer.stderr and "cubic(" not in answer.stderr


def test_trajectories_of_users_who_come_and_go() -> None:
    answer = cli(
        "model",
        "aimd",
        "--user",
        "window=20",
        "--user",
        "window=1,start=50,stop=150",
        "--x-goal",
        "50",
        "--json",
    )
    data = json.loads(answer.stdout)["trajectories"]["aimd"]
    assert data["time"][0] == 0 and data["time"][-1] == 200
    present = [windows[1] is not None for windows in data["windows"]]
    assert not any(present[:50]) and all(present[51:149]) and not any(present[151:])
    assert max(data["load"]) <= 50 + 2


def test_the_plot_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    answer = cli("model", "aimd", "new-aimd", "--plot", "plot.svg", cwd=tmp_path)
    assert answer.code == 0, answer.stderr
    root = xml.etree.ElementTree.parse(tmp_path / "plot.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    wrong = cli("model", "aimd", "--plot", "plot.xyz", cwd=tmp_path)
    assert wrong.code == 2 and "plot.xyz" in wrong.stderr and "Traceback" not in wrong.stderr


def test_without_matplotlib_a_plot_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match="python -m pip install matplotlib"):
        plot({}, 1.0, tmp_path / "plot.svg")


def test_python_asks_the_model() -> None:
    answer = ackclock.model("trajectory", users=[{"cc": "aimd", "window": 1.0}], x_goal=10.0, duration=20.0)
    # One segment per round trip until the load passes 10, then half of 11.
    assert [window for (window,) in answer["windows"][:12]] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 5.5]
    with pytest.raises(InputError, match="users"):
        ackclock.model("trajectory", users=[], x_goal=10.0, duration=20.0)
