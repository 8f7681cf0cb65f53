"""Shares of groups as metrics, and stopping rules on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import cli

import ackclock
from ackclock.cli.console import Lines
from ackclock.errors import ArgumentValueError, InputError
from ackclock.metrics.shares import GroupShare, groups_of, metric_named, shares_of
from ackclock.studies.until import Until

PAIR = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"kind": "drop-tail", "limit": "1 BDP"}}
SCENARIO = {
    "schema": 2,
    "duration": "4 s",
    "warmup": "1 s",
    "topology": {"kind": "dumbbell", **PAIR},
    "flows": [
        {"name": "a", "cc": "reno", "count": 2, "start": {"uniform": ["0 s", "1 s"]}},
        {"name": "b", "cc": "cubic"},
        {"name": "c", "cc": "aimd"},
    ],
}


def document(**goodputs: list[float]) -> dict[str, object]:
    flows = [{"group": name, "delivered_bps": each} for name, values in goodputs.items() for each in values]
    return {"flows": flows}


def test_a_share_is_of_all_flows_or_of_a_pair() -> None:
    run = document(a=[1.0, 2.0], b=[1.0], c=[6.0])
    # (1 + 2) of 10, and of 4 with b.
    assert [share.of(run) for share in shares_of(run)] == [0.3, 0.1, 0.6]
    assert GroupShare.between("a", "b").of(run) == 0.75
    assert groups_of(run)[0] == {"group": "a", "flows": 2, "delivered_bps": 3.0, "share": 0.3}
    assert GroupShare.between("a", "x").of(run) is None
    assert GroupShare.between("a", "b").of(document(a=[0.0], b=[0.0])) is None
    assert shares_of(document(a=[1.0, 2.0])) == []


def test_a_rule_takes_shares_in_points() -> None:
    rule = Until.parse("share( a,b ) +- 2 points")
    assert (rule.metric.name, rule.width, rule.relative) == ("share(a, b)", 0.02, False)
    assert metric_named("share(a)") == GroupShare.between("a")
    with pytest.raises(InputError, match=r"the unit of share\(a\) must be % of the mean, or points"):
        Until.parse("share(a) +- 2 ms")


def test_replicates_needed_go_with_the_square_of_the_width() -> None:
    values = [0.5 + (0.03 if number % 2 else -0.03) for number in range(20)]
    narrow, wide = Until.parse("share(a) +- 0.5 points"), Until.parse("share(a) +- 1 points")
    few = wide.needed(values)
    assert few is not None and narrow.needed(values) == pytest.approx(4 * few, rel=0.15)
    assert Until.parse("share(a) +- 10 points").needed(values) == 10


def test_no_number_of_replicates_makes_an_interval_narrower_than_a_bin() -> None:
    rule = Until.parse("rtt_p50 +- 0.1 ms")
    assert rule.needed([0.1, 0.1, 0.1]) is None
    assert rule.needed([0.019, 0.01901, 0.01899]) == 10


def test_a_rule_that_cannot_be_met_ends_a_study_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "three.json"
    file.write_text(json.dumps(SCENARIO))
    options = ("--vary", "topology.queue.limit=1BDP", "--replicates", "40", "--out", tmp_path / "o")
    shown = cli("study", file, *options, "--until", "rtt-p95 +- 0.0001 ms")
    assert (
        "cannot be met at 1 of 1 points: rtt_p95 comes from a histogram whose bins are wider" in shown.stdout
    )
    summary = (tmp_path / "o" / "summary.csv").read_text(encoding="utf-8").splitlines()
    assert summary[1].split(",")[summary[0].split(",").index("replicates")] == "10"


def test_a_rule_names_groups_of_the_scenario(tmp_path: Path) -> None:
    file = tmp_path / "three.json"
    file.write_text(json.dumps(SCENARIO))
    options = ("--vary", "topology.queue.limit=1BDP", "--until", "share(x) +- 2 points")
    refused = cli("study", file, *options, "--out", tmp_path / "o")
    assert refused.code == 2 and "no flows are called 'x'" in refused.stderr
    assert not (tmp_path / "o").exists()


def test_runs_tell_the_share_of_each_group(tmp_path: Path) -> None:
    result = ackclock.run(SCENARIO)
    assert sum(group["share"] for group in result.groups) == pytest.approx(1)
    assert [group["flows"] for group in result.groups] == [2, 1, 1]
    file = tmp_path / "three.json"
    file.write_text(json.dumps(SCENARIO))
    assert json.loads(cli("run", file, "--json").stdout)["groups"] == result.groups
    assert "share of b" in cli("run", file).stdout


def test_a_study_has_shares_with_intervals_and_stops_by_them(tmp_path: Path) -> None:
    table = {"scenario": SCENARIO, "grid": {"topology.queue.limit": ["1 BDP", "2 BDP"]}}
    study = ackclock.study(table, until="share(a) +- 30 points", replicates=15, out=tmp_path / "o")
    assert study.summary["until_met"].to_list() == [True, True]
    for column in ("share(a)", "share(a)_low", "share(b)_high"):
        assert study.summary[column].null_count() == 0
    file = tmp_path / "study.json"
    file.write_text(json.dumps(SCENARIO))
    shown = cli(
        "study",
        file,
        "--vary",
        "topology.queue.limit=1..2BDP",
        "--until",
        "share(a, b) +- 0.01 points",
        "--replicates",
        "10",
        "--out",
        tmp_path / "p",
    )
    assert "--replicates" in shown.stdout and "by an estimate" in shown.stdout
    shown = cli(
        "study", file, "--vary", "topology.queue.limit=1..2BDP", "--json", "--replicates", "2",
        "--out", tmp_path / "q",
    )  # fmt: skip
    metrics = json.loads(shown.stdout)["points"][0]["metrics"]
    assert metrics["share(a)"]["low"] <= metrics["share(a)"]["mean"] <= metrics["share(a)"]["high"]
    assert metrics["queue_delay_p95_s"]["low"] is not None


def test_a_run_prints_the_metrics_that_are_named(tmp_path: Path) -> None:
    file = tmp_path / "three.json"
    file.write_text(json.dumps(SCENARIO))
    result = ackclock.run(SCENARIO)
    pair = result.metric("share(a, b)")
    first, second, _ = (group["delivered_bps"] for group in result.groups)
    assert (
        pair == pytest.approx(first / (first + second))
        and result.metric("jain-index") == result.summary["jain_index"]
    )
    answer = cli("run", file, "--metric", "share(a,b)", "--metric", "rtt_p95", "--json")
    assert json.loads(answer.stdout)["metrics"] == {"share(a, b)": pair, "rtt_p95": result.metric("rtt_p95")}
    shown = cli("run", file, "--metric", "share(a,b)").stdout
    assert "share of a against b" in shown and "Jain index" not in shown and "share of c" not in shown


def test_backends_are_compared_by_the_metrics_that_are_named(tiny: Path) -> None:
    words = ("--backend", "sim", "--backend", "model", "--metric", "goodput", "--json")
    answer = cli("run", tiny, *words)
    assert answer.code == 0, answer.stderr
    rows = json.loads(answer.stdout)["differences"]
    assert [row["metric"] for row in rows if row["flow"] is None] == ["goodput_bps"]


def test_a_study_has_the_metrics_that_are_named(tmp_path: Path) -> None:
    """Tables and charts show only these, and files contain them next to all others."""
    grid = {"topology.queue.limit": ["1 BDP", "2 BDP"]}
    table = {"scenario": SCENARIO, "grid": grid, "metrics": ["goodput", "share(a, b)"], "replicates": 2}
    study = ackclock.study(table)
    assert [drawn.metric.name for drawn in study.drawn] == ["goodput", "share(a, b)"]
    frame = study.summary
    assert frame["share(a, b)"].null_count() == 0 == frame["share(a, b)_low"].null_count()
    assert {"share(a)", "share(c)", "jain_index"} <= set(frame.columns)
    assert [each.metric.name for each in ackclock.study(table, metrics=["share(b, c)"]).drawn] == [
        "share(b, c)"
    ]
    file, saved = tmp_path / "three.json", tmp_path / "saved.toml"
    file.write_text(json.dumps(SCENARIO))
    vary = ("--vary", "topology.queue.limit=1..2BDP", "--replicates", "2", "--metric", "share(a,b)")
    shown = cli("study", file, *vary, "--save", saved, "--out", tmp_path / "o")
    assert "share a, b %" in shown.stdout and "goodput" not in shown.stdout
    assert 'metrics = ["share(a,b)"]' in saved.read_text()
    again = cli("study", saved, "--out", tmp_path / "o", "--json")
    point = json.loads(again.stdout)["points"][0]
    assert point["metrics"]["share(a, b)"]["mean"] == pytest.approx(study.summary["share(a, b)"][0])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--metric", "godput"), "--metric no metric is called 'godput'; did you mean 'goodput'?"),
        (("--metric", "share(a, d)"), "--metric share(a, d): no flows are called 'd'; there are: a, b, c"),
        (("--metric", "goodput", "--all"), "--all prints every metric; leave --metric out"),
    ],
)
def test_a_metric_that_is_none_is_one_message(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    file = tmp_path / "three.json"
    file.write_text(json.dumps(SCENARIO))
    answer = cli("run", file, *words)
    assert answer.code == 2 and message in answer.stderr and answer.stderr.count("\n") == 1
    if "--all" not in words:
        answer = cli("study", file, "--vary", "topology.queue.limit=1..2BDP", *words)
        assert answer.code == 2 and message in answer.stderr and answer.stderr.count("\n") == 1
    with pytest.raises(InputError, match=r"<dict>: metrics: share\(d\): no flows are called 'd'"):
        ackclock.study({"scenario": SCENARIO, "metrics": ["share(d)"]})
    with pytest.raises(ArgumentValueError, match="which is not a metric"):
        ackclock.run(SCENARIO).metric("godput")


def test_a_rule_that_is_none_names_the_option() -> None:
    with pytest.raises(ArgumentValueError, match="until"):
        ackclock.study({"scenario": SCENARIO}, until="goodput")


def test_progress_without_a_terminal_has_lines_at_growing_intervals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 0.0
    lines = Lines("running", lambda: now)
    for done in range(301):
        lines.tell(100 + done, 400)
        now += 1
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "running: 110 of 400 runs, about 5 min left"
    # At 10, 30, 70, 150 and 270 s.
    assert [int(line.split()[1]) - 100 for line in told] == [10, 30, 70, 150, 270]
