"""Stored scores of a panel: when they are used, when not, and that the shipped ones are true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import cli

from ackclock.evaluation import evaluate
from ackclock.evaluation.panel import FILE, Panel, panel_document, panel_text
from ackclock.evaluation.suite import Suite


@pytest.fixture
def with_panel(tiny_suite: Path) -> Path:
    """The tiny suite with stored scores."""
    answer = cli("panel", "--suite", tiny_suite)
    assert answer.code == 0, answer.stderr
    assert answer.stdout == f"{tiny_suite / FILE}\n"
    return tiny_suite


def board(suite: Path, *args: str) -> dict[str, Any]:
    answer = cli("evaluate", "new-aimd", "--suite", suite, "--json", "--out", suite.parent / "out", *args)
    assert answer.code == 0, answer.stderr
    made: dict[str, Any] = json.loads(answer.stdout)
    return made


def test_a_rival_does_not_change_regret(with_panel: Path) -> None:
    alone = board(with_panel)
    joined = board(with_panel, "--against", "aimd", "--against", "mimd", "--against", "aiad")
    assert alone["regret_baseline"] == joined["regret_baseline"]
    assert alone["regret_baseline"]["stored"] and alone["regret_baseline"]["algorithms"] == [
        "aimd",
        "aimd-fc+",
    ]
    assert [row["candidate"] for row in joined["regrets"]] == ["new-aimd", "aimd", "mimd", "aiad"]
    assert joined["regrets"][0] == alone["regrets"][0]
    assert joined["regrets"][1] == alone["regrets"][1]


def test_within_the_table_somebody_is_the_best(with_panel: Path) -> None:
    made = board(with_panel, "--within-table")
    assert made["regret_baseline"]["title"] == "the best within this table"
    for name in ("alone", "company"):
        regrets = [row["metrics"]["loss_rate"]["by_environment"][name] for row in made["regrets"]]
        assert min(regrets) == 0


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("suite.toml", "version = 3", "version = 4", "tiny version 3, and this run uses tiny version 4"),
        ("suite.toml", 'panel = ["aimd",', 'panel = ["mimd",', "the stored scores are for panel"),
        (
            "suite.toml",
            "replicates = 2",
            "replicates = 2\npanel_version = 2",
            "panel version 1, and this run uses 2",
        ),
        ("alone.toml", "18 ms", "28 ms", "the environments differ"),
        ("suite.toml", "duration=6 s", "duration=7 s", "the environments differ"),
    ],
)
def test_scores_that_do_not_fit_are_not_used(
    with_panel: Path, file: str, old: str, new: str, reason: str
) -> None:
    path = with_panel / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    baseline = evaluate("aimd-fc", suite=str(with_panel), replicates=1).regret_baseline
    assert not baseline.stored
    assert reason in baseline.reason


def test_scores_of_other_environments_are_not_used(with_panel: Path) -> None:
    baseline = evaluate("aimd-fc", suite=str(with_panel), replicates=1, sets=["duration=5 s"]).regret_baseline
    assert baseline.reason == "the environments are changed"
    (with_panel / FILE).unlink()
    answer = cli("evaluate", "aimd", "--suite", with_panel, "--out", with_panel.parent / "out")
    assert f"no stored scores: the suite has no {FILE}" in answer.stdout


def test_a_comment_is_no_change(with_panel: Path) -> None:
    path = with_panel / "alone.toml"
    path.write_text("# A comment.\n" + path.read_text())
    assert evaluate("aimd-fc", suite=str(with_panel), replicates=1).regret_baseline.stored


def test_scores_that_were_damaged_are_refused(with_panel: Path) -> None:
    path = with_panel / FILE
    good = path.read_text()
    for old, new, message in (
        ('"cost": ', '"csot": ', ".best.cost: is missing"),
        ('"cost": ', '"harm": ', ".best.harm: is called 'cost' now"),
        ('"costs": ', '"harms": ', ".harms: is called 'costs' now"),
        ('"fingerprint": "', '"fingerprint": 7, "was": "', "environments.alone.fingerprint: is 7"),
        ('"aimd": [', '"aimd-2": [', "a metric has no costs of aimd"),
    ):
        assert old in good
        path.write_text(good.replace(old, new, 1))
        answer = cli("evaluate", "new-aimd", "--suite", with_panel, "--out", with_panel.parent / "out")
        assert answer.code == 2 and "Traceback" not in answer.stderr
        assert message in answer.stderr and "writes it again" in answer.stderr


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 7}'])
def test_a_broken_file_is_refused(tiny_suite: Path, text: str) -> None:
    (tiny_suite / FILE).write_text(text)
    answer = cli("evaluate", "aimd", "--suite", tiny_suite, "--out", tiny_suite.parent / "out")
    assert answer.code == 2
    assert FILE in answer.stderr and "writes it again" in answer.stderr and "Traceback" not in answer.stderr


def test_the_shipped_scores_are_true() -> None:
    """The first replicate of the panel once more: if this fails, run `ackclock panel`."""
    suite = Suite.load("core")
    panel = Panel.load(suite)
    assert panel is not None
    assert panel.misfit(suite, ()) == ""
    again = panel_document(evaluate("aimd", replicates=1).board)
    assert panel.document["algorithms"] == again["algorithms"] == ["aimd", "cubic", "aimd-fc+", "bbr3"]
    assert panel.document["replicates"] == 40
    for name, environment in again["environments"].items():
        for metric, entry in environment["metrics"].items():
            kept = panel.document["environments"][name]["metrics"][metric]
            for label, costs in entry["costs"].items():
                assert kept["costs"][label][0] == pytest.approx(costs[0], rel=1e-8, abs=1e-12), (name, metric)
            means = {label: sum(costs) / len(costs) for label, costs in kept["costs"].items()}
            assert kept["best"]["cost"] == pytest.approx(min(means.values()), rel=1e-8, abs=1e-12)
            assert means[kept["best"]["cc"]] == pytest.approx(kept["best"]["cost"], rel=1e-8, abs=1e-12)


def test_the_text_of_the_file_is_its_document() -> None:
    document = {"a": [1.5, -2.0], "b": [], "c": {"d": ["x", "y"]}}
    text = panel_text(document)
    assert json.loads(text) == document
    assert "[1.5, -2.0]" in text
