"""`ackclock tune --against-adversary`: turns of search and attack, held-out finds, determinism, bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import cli

from ackclock.cli.console import show
from ackclock.errors import InputError
from ackclock.evaluation import storing
from ackclock.evaluation.suite import Suite
from ackclock.hardening import Hardening, harden
from ackclock.hardening.page import write_page
from ackclock.hardening.present import comparisons_table, hardening_json, sentence, turns_table
from ackclock.tuning.objective import Objective

SMALL: dict[str, Any] = {
    "turns": 1,
    "budget": 30,
    "attack_budget": 60,
    "families": ["path"],
    "held_out": ["square"],
    "over": ["remaining=0.3..0.9"],
    "replicates": 1,
    "check_replicates": 2,
    "checks": 2,
}


@pytest.fixture
def suite(tiny_suite: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The suite of two environments with stored scores. Panels take few replicates."""
    monkeypatch.setattr(storing, "PANEL_REPLICATES", 2)
    storing.store_panel(Suite.load(str(tiny_suite)))
    return tiny_suite


def turned(suite: Path, out: Path, **options: Any) -> Hardening:
    return harden("aimd", suite=str(suite), out=out, **{**SMALL, **options})


def test_finds_of_attacks_join_the_suite_of_the_next_search(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = turned(suite, tmp_path / "out")
    first, second = found.turns
    assert first.attack is not None and first.kept and not found.has_settled
    assert found.finds is not None
    assert {each.id for each in found.finds.environments} == set(first.kept)
    assert found.warnings == () and hardening_json(found)["warnings"] == []
    # The default is part of each search, and the second one also runs the finds.
    ids = set(second.tuning.trials[0].regret.by_environment)
    assert ids == {"alone", "company", *first.kept}
    assert first.worst(found.finds) is None
    assert second.worst(found.finds) == max(
        second.tuning.best.regret.by_environment[name] for name in first.kept
    )
    # Finds that judge the result come from other families and another seed.
    assert [family.name for attack in found.last_attacks for family in attack.families] == ["square"] * len(
        found.last_attacks
    )
    assert {attack.seed for attack in found.last_attacks}.isdisjoint({first.attack.seed})
    assert found.comparisons[0].suite.name == "tiny"
    is_default = second.tuning.best.is_default
    assert ("The tuned parameters are" in sentence(found)) != is_default
    show(turns_table(found))
    show(comparisons_table(found))
    printed = capsys.readouterr().out
    assert "worst in tiny" in printed and "attack finds" in printed and "default" in printed
    page = write_page(found, tmp_path / "out", command="ackclock tune").read_text()
    assert "turn-1-attack/report.html" in page
    assert (tmp_path / "out/turn-2-tune/tuning.json").is_file()


def test_the_result_does_not_depend_on_the_workers(suite: Path, tmp_path: Path) -> None:
    one, two = (
        json.dumps(hardening_json(turned(suite, tmp_path / str(workers), workers=workers)))
        for workers in (1, 2)
    )
    assert one == two


def test_a_large_threshold_ends_the_turns(suite: Path, tmp_path: Path) -> None:
    found = turned(suite, tmp_path / "out", threshold=99.0)
    assert len(found.turns) == 1 and found.has_settled and found.finds is None
    assert len(found.comparisons) == 1
    assert "The last attacks found no regret of 99 % or more." in sentence(found)


def test_joined_suites_keep_the_regret_of_each_environment(suite: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for file in suite.iterdir():
        text = file.read_text()
        if file.name == "suite.toml":
            text = text.replace('id = "alone"', 'id = "alone-too"').replace('id = "company"', 'id = "third"')
        if file.name != "panel.json":
            (other / file.name).write_text(text)
    storing.store_panel(Suite.load(str(other)))
    here, there = (Objective.of(Suite.load(str(each)), "shares", {}) for each in (suite, other))
    both = here.joined(there)
    assert [each.id for each in both.suite.environments] == ["alone", "company", "alone-too", "third"]
    assert both.regret_baseline.best["efficiency"].keys() == {"alone", "company", "alone-too", "third"}
    with pytest.raises(InputError, match="both have 'alone'"):
        here.joined(here)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--turns", "2"], "options marked [adversary] need --against-adversary"),
        (["--against-adversary", "--family", "paths"], "did you mean 'path'?"),
        (["--against-adversary", "--family", "path", "--held-out", "path"], "path: is also in the families"),
        (["--against-adversary", "--budget", "5"], "is too small"),
        (["--against-adversary", "--attack-budget", "some"], "--attack-budget 'some': expected"),
        (["--against-adversary", "--attack-budget", "30"], "--attack-budget '30': is too small"),
        (["--against-adversary", "--held-out", "ack"], "--held-out no family is called 'ack'"),
        (["--against-adversary", "--threshold", "1"], "--threshold"),
    ],
)
def test_bad_input_is_one_message(options: list[str], message: str, suite: Path, tmp_path: Path) -> None:
    answer = cli("tune", "aimd", "--suite", suite, *options, "--out", tmp_path / "out")
    assert answer.code == 2
    assert message in answer.stderr
