"""Weights of the score: their effect, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import cli

import ackclock
from ackclock.errors import ArgumentError


def test_a_queue_costs_score_unless_delay_weighs_nothing(tiny_suite: Path, tmp_path: Path) -> None:
    # A rule that keeps the queue short, and a control that fills the buffer.
    ccs = ["rule grow = if(queue_delay > 5 ms, 0, 1 / w); cut = w / 2", "aimd"]
    gains = []
    for weight in (20.0, 0.0):
        found = ackclock.evaluate(
            ccs,
            suite=str(tiny_suite),
            against=["aimd"],
            replicates=3,
            out=tmp_path / "out",
            weights={"delay_score": weight},
        )
        assert found.document["score"]["weights"] == {
            "delay_score": weight,
            **dict.fromkeys(("efficiency", "jain_index", "loss_rate", "watch"), 1.0),
        }
        score = {entry["index"]: entry["score"] for entry in found.document["ranking"]}
        gains.append(score[1] - score[0])
    assert gains[0] > gains[1] + 1, gains


def test_the_delay_score_is_the_part_of_the_base_rtt() -> None:
    scenario = {
        "schema": 2,
        "duration": "30 s",
        "warmup": "10 s",
        "topology": {"kind": "dumbbell", "rate": "10 Mbit/s", "delay": "20 ms"},
        "flows": [{"cc": "cubic"}],
    }
    document = ackclock.run(ackclock.Scenario.from_dict(scenario)).document
    flow = document["flows"][0]
    assert document["summary"]["delay_score"] == flow["delay_score"]
    # The median lies between no queue and the 95th percentile.
    least = flow["base_rtt_s"] / (flow["base_rtt_s"] + flow["queue_delay_p95_s"])
    assert least < flow["delay_score"] < (1 + least) / 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--weights", "delay=0"], "--weights contain 'delay'; did you mean 'delay_score'"),
        (["--weights", "efficiency=-1"], "--weights contain efficiency=-1, but a weight must be at least 0"),
        (
            ["--weights", "efficiency=nan"],
            "--weights contain efficiency=nan, but a weight must be at least 0",
        ),
        (["--weights", "efficiency"], "'efficiency': expected NAME=NUMBER, as in delay_score=0"),
        (
            ["--weights", "efficiency=0,loss_rate=0,delay_score=0"],
            "--weights must leave one of these above 0: efficiency, loss_rate, delay_score",
        ),
        (
            ["--weights", "delay_score=2", "--metric", "efficiency"],
            "--weights belong to the default score, but the metric is efficiency",
        ),
    ],
)
def test_mistakes_are_named(words: list[str], message: str) -> None:
    answer = cli("evaluate", "reno", "--quick", *words)
    assert answer.code == 2 and message in " ".join(answer.stderr.split()), answer.stderr


def test_gates_know_the_delay_score(tiny_suite: Path, tmp_path: Path) -> None:
    words = ("--suite", tiny_suite, "--replicates", "3")
    assert cli("evaluate", "aimd", *words, "--out", tmp_path / "before").code == 0
    condition = ("--baseline", tmp_path / "before", "--fail-if", "delay_score < -5")
    answer = cli("evaluate", "aimd", *words, *condition, "--json", "--out", tmp_path / "after")
    assert answer.code == 0
    assert {check["metric"] for check in json.loads(answer.stdout)["gate"]["checks"]} == {"delay_score"}


def test_scores_without_the_metric_do_not_apply(tiny_suite: Path) -> None:
    assert cli("panel", "--suite", tiny_suite).code == 0
    path = tiny_suite / "panel.json"
    stored = json.loads(path.read_text())
    for environment in stored["environments"].values():
        del environment["metrics"]["delay_score"]
    path.write_text(json.dumps(stored))
    found = ackclock.evaluate("reno", suite=str(tiny_suite), replicates=2)
    baseline = found.document["regret_baseline"]
    assert not baseline["stored"] and "no delay_score" in baseline["reason"]


def test_weights_belong_to_known_metrics() -> None:
    with pytest.raises(ArgumentError, match="contain 'speed'"):
        ackclock.tune("aimd", weights={"speed": 2})
