"""Traffic beside the flows, as users see it: results, tables, warnings, mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import TINY, cli

import ackclock

MIXED = f"""{TINY}
[[flows]]
name = "mice"
cc = "aimd"
count = 30
traffic = {{ kind = "arrivals", every = "100 ms", size = {{ kind = "pareto", mean = "4 kB", shape = 1.5 }} }}

[[flows]]
name = "browser"
cc = "aimd"
traffic = {{ kind = "web", think = "200 ms", response = "3 kB" }}

[[flows]]
name = "cross"
traffic = {{ kind = "cbr", rate = "500 kbit/s" }}

[[flows]]
name = "call"
traffic = {{ kind = "rtp", rate = "64 kbit/s", packet = "200 B" }}
"""


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    path = tmp_path / "mixed.toml"
    path.write_text(MIXED)
    return path


def run_json(path: Path, *options: str) -> Any:
    answer = cli("run", path, "--json", *options)
    assert answer.code == 0, answer.stderr
    return json.loads(answer.stdout)


def test_each_kind_of_traffic_has_rows_of_its_own(mixed: Path) -> None:
    document = run_json(mixed)
    assert [flow["name"] for flow in document["flows"]] == ["test.0", "test.1", "browser"]
    assert [row["group"] for row in document["transfers"]] == ["browser", "mice"]
    assert [row["name"] for row in document["datagrams"]] == ["cross", "call"]
    for row in document["transfers"]:
        assert row["completed"] > 0 and row["refused"] == 0
        assert row["fct_p50_s"] <= row["fct_p95_s"] <= row["fct_p99_s"] <= row["fct_max_s"]
    cross, call = document["datagrams"]
    assert cross["offered_bps"] == pytest.approx(500e3, rel=0.01)
    assert cross["delivered_bps"] <= cross["offered_bps"] and "late_rate" not in cross
    assert 0 <= call["late_rate"] <= call["lost_or_late_rate"] <= 1
    # The summary is about the flows.
    goodput_bps = sum(flow["goodput_bps"] for flow in document["flows"])
    assert document["summary"]["goodput_bps"] == pytest.approx(goodput_bps, rel=1e-12)


def test_plain_runs_have_no_such_rows(tiny: Path) -> None:
    assert not {"transfers", "datagrams"} & set(run_json(tiny))
    result = ackclock.run(tiny)
    assert result.transfers == result.datagrams == []


def test_notebooks_find_the_rows(mixed: Path) -> None:
    result = ackclock.run(mixed)
    assert {row["group"] for row in result.transfers} == {"browser", "mice"}
    assert {row["name"] for row in result.datagrams} == {"cross", "call"}
    assert set(result.samples.flows["flow"].unique()) == {"test.0", "test.1", "browser"}


def test_tables_show_them_and_fit(mixed: Path) -> None:
    shown = cli("run", mixed, columns=80).stdout
    assert all(word in shown for word in ("transfers", "mice", "longest", "offered", "jitter"))
    assert max(map(len, shown.splitlines())) <= 80
    checked = cli("check", mixed).stdout
    assert "traffic: mice: arrivals every 100 ms of pareto, mean 4000 B, shape 1.5, 30 at one time" in checked
    assert "random: arrivals of mice: Poisson" in checked
    assert max(len(line) for line in checked.splitlines() if not line.startswith(("traffic", "random"))) <= 80


def test_refused_transfers_are_warned_of(mixed: Path) -> None:
    answer = cli("run", mixed, "--set", "flows.mice.count=1", "--json")
    (mice,) = (row for row in json.loads(answer.stdout)["transfers"] if row["group"] == "mice")
    assert mice["refused"] > 0
    assert (
        f"warning: mice: {mice['refused']} of {mice['refused'] + mice['started']} transfers" in answer.stderr
    )
    assert "warning" not in cli("run", mixed).stderr


def test_resolved_scenarios_read_back(mixed: Path) -> None:
    scenario = ackclock.Scenario.from_file(mixed)
    again = ackclock.Scenario.from_dict(json.loads(scenario.resolved_json))
    assert again.hash == scenario.hash and again.resolved_json == scenario.resolved_json


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("flows.cross.cc=aimd", ("flows.cross.cc", "datagrams have no congestion control")),
        ("flows.cross.ecn=classic", ("flows.cross.ecn", "leave the key out")),
        ("flows.mice.traffic.every=0 s", ("flows.mice.traffic.every", "above zero")),
        ("flows.mice.traffic.size.shape=1", ("flows.mice.traffic.size", "above 1, so that there is a mean")),
        ("flows.mice.traffic.size=0 B", ("flows.mice.traffic.size", "at least 1 B")),
        ("flows.browser.traffic.request=70 kB", ("flows.browser.traffic.request", "at most 65535 B")),
        ("flows.browser.traffic.think=12", ("flows.browser.traffic.think", 'a duration such as "30 ms"')),
        ("flows.cross.traffic.packet=0 B", ("flows.cross.traffic.packet", "at least 1 B")),
        ("flows.cross.traffic.kind=cbrr", ("flows.cross.traffic.kind", 'did you mean "cbr"?')),
        ("flows.call.traffic.deadline=0 s", ("flows.call.traffic.deadline", "above zero")),
    ],
)
def test_mistakes_are_named(mixed: Path, setting: str, words: tuple[str, ...]) -> None:
    answer = cli("check", mixed, "--set", setting)
    assert answer.code == 2 and answer.stderr.count("\n") == 1
    assert all(word in answer.stderr for word in words), answer.stderr


def test_a_flow_of_tcp_needs_an_algorithm(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    path.write_text(TINY.replace("cc = {", "# cc = {"))
    answer = cli("check", path)
    assert answer.code == 2
    assert 'flows.test.cc: missing; write for example cc = "aimd"' in answer.stderr
