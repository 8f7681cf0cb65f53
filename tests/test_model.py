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
from ackclock.synchronous import plot


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
    with pytest.raises(InputError, match=r"pip install 'ackclock\[plot\]'"):
        plot({}, 1.0, tmp_path / "plot.svg")


def test_python_asks_the_model() -> None:
    answer = ackclock.model("trajectory", users=[{"cc": "aimd", "window": 1.0}], x_goal=10.0, duration=20.0)
    # One segment per round trip until the load passes 10, then half of 11.
    assert [window for (window,) in answer["windows"][:12]] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 5.5]
    with pytest.raises(InputError, match="users"):
        ackclock.model("trajectory", users=[], x_goal=10.0, duration=20.0)
