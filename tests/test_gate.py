"""The gate: conditions, judgements, exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers import Answer, cli

from ackclock.errors import InputError
from ackclock.evaluation.gate import Baseline, Check, Condition
from ackclock.evaluation.suite import Suite
from ackclock.statistics.estimates import Estimate


def test_conditions_are_read() -> None:
    suite = Suite.load("core")
    condition = Condition.parse("goodput < -2 %", suite)
    assert (condition.metric, condition.environment, condition.below) == ("goodput", None, True)
    assert (condition.limit, condition.relative) == (-2.0, True)
    condition = Condition.parse(" newcomer/jain_index>+.05", suite)
    assert (condition.metric, condition.environment, condition.below) == ("jain_index", "newcomer", False)
    assert (condition.limit, condition.relative) == (0.05, False)
    assert Condition.parse("loss_rate > 1e-1%", suite).limit == 0.1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("godput < -2 %", "no metric is called 'godput'; did you mean 'goodput'?"),
        ("loss < -2 %", "did you mean 'loss_rate'?"),
        (
            "throughput-per-joule < 1",
            "there are: efficiency, loss_rate, queue_delay, jain_index, goodput, delay_score, watch",
        ),
        ("newcommer/goodput < -2 %", "no environment is called 'newcommer'; did you mean 'newcomer'?"),
        ("short-flows/jain_index < 0", "no such environment of suite core has jain_index"),
        ("goodput -2 %", "expected [ENVIRONMENT/]METRIC"),
        ("goodput <= -2 %", "expected [ENVIRONMENT/]METRIC"),
        ("goodput < nan", "expected [ENVIRONMENT/]METRIC"),
        ("goodput < 2 Mbit/s", "expected [ENVIRONMENT/]METRIC"),
        ("", "expected [ENVIRONMENT/]METRIC"),
        ("goodput < -100 %", "can never fail: nothing falls by more than 100 %"),
        ("jain_index < -1", "can never fail: jain_index changes by at most 1"),
        ("loss_rate > 100", "can never fail: loss_rate changes by at most 100"),
    ],
)
def test_conditions_that_mean_nothing(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Condition.parse(text, Suite.load("core"))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "change", "failed"),
    [
        ("goodput < -2", Estimate(-3.0, -4.0, -1.0, 5), True),
        # Beyond the limit, but it may be chance.
        ("goodput < -2", Estimate(-3.0, -7.0, 1.0, 5), False),
        ("goodput < -2", Estimate(-1.9, -2.5, -1.3, 5), False),
        ("goodput < -2", Estimate(3.0, 2.5, 3.5, 5), False),
        ("loss_rate > .5", Estimate(0.6, 0.4, 0.8, 5), True),
        ("loss_rate > .5", Estimate(0.6, None, None, 1), True),
        ("loss_rate > .5", Estimate(0.5, None, None, 1), False),
        ("loss_rate > -1", Estimate(0.0, 0.0, 0.0, 5), False),
    ],
)
def test_judgements(text: str, change: Estimate, failed: bool) -> None:
    assert Check(Condition.parse(text, Suite.load("core")), "slow-1", "x", change).failed is failed


class Gate:
    """A suite with a baseline of AIMD."""

    def __init__(self, suite: Path, folder: Path) -> None:
        self.suite, self.folder = suite, folder
        self.base = folder / "base"
        answer = cli("evaluate", "aimd", "--suite", suite, "--replicates", "3", "--out", self.base)
        assert answer.code == 0, answer.stderr

    def run(self, cc: str, *conditions: str, more: tuple[str, ...] = ("--replicates", "3")) -> Answer:
        options = [word for condition in conditions for word in ("--fail-if", condition)]
        where = ("--suite", self.suite, "--out", self.folder / "out", "--baseline", self.base)
        return cli("evaluate", cc, *where, *options, *more)

    def change_baseline(self, **changes: Any) -> None:
        path = self.base / "scoreboard.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.fixture
def gate(tiny_suite: Path, tmp_path: Path) -> Gate:
    return Gate(tiny_suite, tmp_path)


def test_nothing_changed_passes(gate: Gate) -> None:
    answer = gate.run("aimd", "goodput < -0 %", "loss_rate > 0", "company/watch < 0")
    assert answer.code == 0, answer.stderr
    assert "gate: passed, 5 checks" in answer.stderr


def test_a_regression_fails_and_says_why(gate: Gate) -> None:
    harsh = "aimd(remaining=0.1)"
    answer = gate.run(harsh, "goodput < -1 %", "queue_delay > 1000", more=("--replicates", "3", "--json"))
    assert answer.code == 1
    (line,) = (line for line in answer.stderr.splitlines() if line.startswith("gate: alone/"))
    assert line.startswith("gate: alone/goodput (goodput Mbit/s): changed by -")
    assert "95 % interval" in line and line.endswith("fails 'goodput < -1 %'")
    found = json.loads(answer.stdout)["gate"]
    assert not found["passed"]
    assert {check["environment"] for check in found["checks"]} == {"alone", "company"}
    first = found["checks"][0]
    assert first["low"] < first["change"] < first["high"] < 0 and first["unit"] == "%" and first["failed"]
    assert not found["checks"][2]["failed"] and found["checks"][2]["unit"] == "queueing delay ms"
    # The scoreboard that is kept is a baseline itself, and knows nothing of this one.
    assert "gate" not in json.loads((gate.folder / "out" / "scoreboard.json").read_text())


def test_a_change_in_per_cent_is_one_of_the_baseline(gate: Gate) -> None:
    harsh = "aimd(remaining=0.1)"
    checks = {}
    for text in ("alone/goodput > 0", "alone/goodput > 0 %"):
        answer = gate.run(harsh, text, more=("--replicates", "3", "--json"))
        (checks[text[-1]],) = json.loads(answer.stdout)["gate"]["checks"]
    board = json.loads((gate.base / "scoreboard.json").read_text())
    before = board["environments"][0]["scores"][0]["metrics"]["goodput"]["mean"]
    assert checks["%"]["change"] == pytest.approx(100 * checks["0"]["change"] / before)


def test_the_replicates_that_both_have_count(gate: Gate) -> None:
    answer = gate.run("aimd", "goodput < 0", more=("--replicates", "2"))
    assert answer.code == 0, answer.stderr
    answer = gate.run("aimd", "goodput < 0", more=("--replicates", "1"))
    assert answer.code == 2
    assert "one replicate cannot show significance" in answer.stderr


def test_a_change_from_nothing_is_infinite(gate: Gate) -> None:
    board = json.loads((gate.base / "scoreboard.json").read_text())
    board["environments"][0]["scores"][0]["metrics"]["loss_rate"]["values"] = [0.0, 0.0, 0.0]
    gate.change_baseline(environments=board["environments"])
    answer = gate.run("aimd", "alone/loss_rate > 50 %", more=("--replicates", "3", "--json"))
    assert answer.code == 1
    (check,) = json.loads(answer.stdout)["gate"]["checks"]
    assert check["failed"] and check["change"] is None
    assert "changed by +inf %" in answer.stderr


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"suite": {"name": "tiny", "version": 2}}, "suite tiny version 2, this is tiny version 3"),
        ({"suite": {"name": "core", "version": 3}}, "suite core version 3, this is tiny version 3"),
        ({"seed": 7}, "--seed 7 gives the same random draws"),
        ({"sets": ["duration=5 s"]}, "the baseline has --set ['duration=5 s'], this is []"),
        ({"environments": []}, "the baseline has environments []"),
        ({"candidates": []}, "is not a scoreboard"),
        ({"contenders": []}, "contenders: is called 'candidates' now; it is not a scoreboard"),
        ({"suite": 3}, "suite: is 3, but must be a table; it is not a scoreboard"),
        ({"seed": "1"}, 'seed: is "1", but must be a whole number'),
    ],
)
def test_a_baseline_of_something_else_is_refused(gate: Gate, changes: dict[str, Any], message: str) -> None:
    gate.change_baseline(**changes)
    answer = gate.run("aimd", "goodput < -2 %")
    assert answer.code == 2
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr and answer.stdout == ""


def test_a_baseline_without_the_metric_is_refused(gate: Gate) -> None:
    board = json.loads((gate.base / "scoreboard.json").read_text())
    del board["environments"][1]["scores"][0]["metrics"]["goodput"]
    gate.change_baseline(environments=board["environments"])
    answer = gate.run("aimd", "goodput < -2 %")
    assert answer.code == 2
    assert "has no goodput in company" in answer.stderr


@pytest.mark.parametrize("value", ["NaN", "null", '"9"', "Infinity"])
def test_a_baseline_with_a_value_that_is_no_number_is_refused(gate: Gate, value: str) -> None:
    """A change that is not a number is beyond no limit: such a gate could not fail."""
    path = gate.base / "scoreboard.json"
    board = json.loads(path.read_text())
    board["environments"][0]["scores"][0]["metrics"]["goodput"]["values"] = ["here"] * 3
    path.write_text(json.dumps(board).replace('"here"', value))
    answer = gate.run("aimd", "goodput < -2 %")
    assert answer.code == 2 and "Traceback" not in answer.stderr
    assert "environments[alone].scores[0].metrics.goodput.values[0]: is " in answer.stderr


def test_bad_input_ends_before_anything_runs(gate: Gate) -> None:
    shutil.rmtree(gate.base)
    cases: tuple[tuple[tuple[str | Path, ...], str], ...] = (
        (("--baseline", gate.base, "--fail-if", "goodput < -2 %"), "there is no scoreboard.json"),
        (("--baseline", gate.base), "--baseline and --fail-if go together"),
        (("--fail-if", "goodput < -2 %"), "--baseline and --fail-if go together"),
        (("--baseline", gate.base, "--fail-if", "godput < -2 %"), "did you mean 'goodput'?"),
    )
    for args, message in cases:
        answer = cli("evaluate", "aimd", "--suite", gate.suite, "--out", gate.folder / "new", *args)
        assert answer.code == 2
        assert message in answer.stderr
    assert not (gate.folder / "new").exists()
    gate.base.mkdir()
    (gate.base / "scoreboard.json").write_text("{")
    with pytest.raises(InputError, match="is not a scoreboard"):
        Baseline.load(gate.base)
