"""Networks that differ from replicate to replicate, in suites and in runs, and the word for others."""

from __future__ import annotations

import json
import random
import re
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from helpers import cli

import interval_coverage as intervals
from ackclock import run
from ackclock.evaluation import evaluate
from ackclock.evaluation.suite import Environment, Suite, Watch
from ackclock.evaluation.verdict import verdict

SUITES = sorted(
    path.parent.name for path in Path(str(resources.files("ackclock.suites"))).glob("*/suite.toml")
)
DRAWN = ("replicates.rtt=0.05", "replicates.rate=0.02")
#: Bytes of a segment on the wire.
PACKET = 1500


@pytest.mark.parametrize("name", SUITES)
def test_every_environment_of_a_suite_draws_its_network(name: str) -> None:
    for environment in Suite.load(name).environments:
        # A source that leaves a difference of rates would leave another part of a drawn rate.
        is_difference = environment.path.name in ("cross.toml", "crowd.toml")
        expected = {"rtt": 0.05, "rate": 0.0 if is_difference else 0.02}
        assert json.loads(environment.base.resolved_json)["replicates"] == expected, environment.id
        assert environment.base.is_random


def test_starts_in_core_spread_over_a_sawtooth_of_standard_tcp() -> None:
    """W / 2 round trips, where W is the window of one flow at a full buffer."""
    checked = 0
    for environment in Suite.load("core").environments:
        scenario = environment.base.with_sets(["replicates.rtt=0", "replicates.rate=0"])
        described, flows = scenario.describe(), json.loads(scenario.resolved_json)["flows"]
        link = next(each for each in described["links"] if each["name"] == described["bottleneck"])
        limit = re.fullmatch(r"drop-tail, (\d+) packets", link["queue"])
        first = [flow for flow in flows if not isinstance(flow["start"], str) and _low(flow) == 0]
        if limit is None or any(flow["traffic"]["kind"] != "bulk" for flow in first):
            continue
        names = {flow["name"] for flow in first}
        rtts = [each["base_rtt_s"] for each in described["flows"] if each["group"] in names]
        mean_rtt, packet_s = sum(rtts) / len(rtts), 8 * PACKET / link["rate_bps"]
        window = (mean_rtt / packet_s + int(limit[1])) / len(rtts)
        sawtooth = window / 2 * (mean_rtt + int(limit[1]) * packet_s / 2)
        for flow in first:
            # 26 s for 26.2 s.
            assert _high(flow) >= 0.99 * sawtooth, environment.id
            assert _high(flow) < described["warmup_s"], environment.id
        checked += 1
    assert checked > 15


def _low(flow: dict[str, Any]) -> float:
    return _seconds(flow["start"]["uniform"][0])


def _high(flow: dict[str, Any]) -> float:
    return _seconds(flow["start"]["uniform"][1])


def _seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1.0, "ms": 1e-3}[unit]


def test_candidate_and_reference_meet_the_same_networks() -> None:
    suite = Suite.load("core")
    environment = next(each for each in suite.environments if each.id == "with-standard")
    drawn = []
    for cc in ("cubic", "aiad"):
        scenario = environment.scenario(cc, suite.subject, ["duration=11 s"])
        runs = [run(scenario, seed=5, replicate=number).document for number in range(3)]
        drawn.append([document["drawn"] for document in runs])
        for document in runs:
            told = [flow["base_rtt_s"] for flow in document["drawn"]["flows"]]
            assert told == [flow["base_rtt_s"] for flow in document["flows"]]
            assert document["summary"]["capacity_bps"] == document["drawn"]["links"][0]["rate_bps"]
    assert drawn[0] == drawn[1]
    assert len({json.dumps(each) for each in drawn[0]}) == 3


def test_a_run_without_the_key_has_no_such_document(tiny: Path) -> None:
    assert "drawn" not in run(tiny, sets=["duration=2 s"]).document


def test_the_model_takes_the_network_of_the_first_replicate(tiny: Path) -> None:
    sets = [word for each in DRAWN for word in ("--set", each)]
    answer = cli("run", tiny, *sets, "--backend", "model", "--json")
    assert answer.code == 0, answer.stderr
    simulated = json.loads(cli("run", tiny, *sets, "--json").stdout)
    summary = json.loads(answer.stdout)["summary"]
    assert summary["capacity_bps"] == simulated["summary"]["capacity_bps"] != 2e6


def test_check_says_what_is_drawn(tiny: Path) -> None:
    sets = [word for each in DRAWN for word in ("--set", each)]
    answer = cli("check", tiny, *sets)
    assert "random: base RTT of each flow: uniform, within 5 %" in answer.stdout
    assert "random: rates of all links: uniform, within 2 %" in answer.stdout
    refused = cli("check", tiny, "--set", "replicates.rtt=0.7")
    assert refused.code == 2 and "replicates.rtt: 0.7 is out of range" in refused.stderr


@pytest.fixture
def fixed_suite(tiny_suite: Path) -> Path:
    """The tiny suite, in whose first environment nothing is random."""
    text = (tiny_suite / "suite.toml").read_text()
    changed = text.replace(
        'scenario = "alone.toml"', 'scenario = "alone.toml"\nset = ["flows.test.start=0 s"]'
    )
    (tiny_suite / "suite.toml").write_text(changed)
    return tiny_suite


def test_environments_in_which_nothing_is_random_say_so(fixed_suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = cli("evaluate", "aimd(increase=8)", "--suite", fixed_suite, "--out", out)
    assert answer.code == 0, answer.stderr
    assert "Among themselves (fixed)" in answer.stdout and "In company (fixed)" not in answer.stdout
    assert "Among themselves (fixed)</h3>" in (out / "report.html").read_text()
    told = json.loads(
        cli("evaluate", "aimd(increase=8)", "--suite", fixed_suite, "--json", "--out", out).stdout
    )
    assert [each["fixed"] for each in told["environments"]] == [True, False]


def test_the_verdict_says_so_of_the_worst(fixed_suite: Path) -> None:
    text = (fixed_suite / "suite.toml").read_text()
    # The environment in company alone is fixed, and has the worst figure.
    (fixed_suite / "suite.toml").write_text(
        text.replace('"duration=6 s"', '"duration=6 s", "flows.test.start=0 s", "flows.standard.start=0 s"')
    )
    board = evaluate("mimd", suite=str(fixed_suite), replicates=2).board
    assert all(result.exact for result in board.results)
    text = verdict(board)
    assert "worst" not in text or re.search(r"worst environment is “[^”]* \(fixed\)”", text)


def test_the_list_of_suites_counts_them() -> None:
    suites = json.loads(cli("list", "suite", "--json").stdout)
    assert {suite["name"] for suite in suites} == set(SUITES)
    assert not any(environment["fixed"] for suite in suites for environment in suite["environments"])


def test_a_report_shows_the_network_that_is_written(tiny_suite: Path, tmp_path: Path) -> None:
    sets = [word for each in DRAWN for word in ("--set", each)]
    answer = cli("evaluate", "aimd(increase=2)", "--suite", tiny_suite, *sets, "--out", tmp_path / "out")
    assert answer.code == 0, answer.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    assert "</span> 2 Mbit/s ± 2 %</li>" in page and "</span> 40 ms ± 5 %</li>" in page


#: A standard TCP's share beside CUBIC, at a queue that keeps flows in step.
SHARED = """\
schema = 2
duration = "16 s"
warmup = "4 s"
topology = { kind = "dumbbell", rate = "5 Mbit/s", delay = "20 ms" }
transport = { send_jitter = "0.1 packets" }

[[flows]]
name = "test"
cc = "cubic"
start = { uniform = ["0 s", "2 s"] }

[[flows]]
name = "other"
cc = "reno"
start = { uniform = ["0 s", "2 s"] }
"""


def _shares(path: Path, sets: tuple[str, ...], count: int) -> list[float]:
    """The share in each replicate."""
    watch = Watch("share", "other", "share", "near-one")
    environment = Environment("shared", "Shared", "Why?", path, sets, True, watch)
    rows = intervals.values_of_replicates(environment.base, environment, range(count), workers=2)
    return [row[-1] for row in rows]


def test_intervals_of_ten_replicates_cover_the_mean_of_drawn_networks(tmp_path: Path) -> None:
    """In small what `tools/evidence/interval_coverage.py` measures at full length."""
    path = tmp_path / "shared.toml"
    path.write_text(SHARED)
    drawn = _shares(path, DRAWN, 300)
    truth = fmean(drawn)

    def covered(values: list[float]) -> float:
        """The share of 1,000 intervals, each of ten values out of these."""
        chosen = random.Random(1).choices(values, k=10_000)
        return intervals.coverage(chosen, 10, truth)[0]

    low, high = intervals.BOUNDS
    assert low <= covered(drawn) <= high


def test_a_coverage_by_hand() -> None:
    # Intervals of pairs: 1 and 3 give 2 ± 12.7, 8 and 8 give 8, -1 and -1 give -1.
    assert intervals.coverage([1.0, 3.0, 8.0, 8.0, -1.0, -1.0], 2, 5.0) == pytest.approx(
        (1 / 3, 1 / 3, 1 / 3)
    )
