"""Rivals: who they are, whether a candidate is better than they are, and whether it starves them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import TINY, cli

from ackclock.evaluation.rivals import STARVED
from ackclock.evaluation.subject import Algorithms
from ackclock.evaluation.suite import Environment, Suite, Watch

CORE = Suite.load("core")


def test_core_has_flows_of_what_runs_today_in_shallow_and_deep_buffers() -> None:
    met: dict[str, list[str]] = {}
    for environment in CORE.environments:
        if (neighbours := environment.neighbours(CORE.subject)) is not None:
            assert (neighbours.of_rival, neighbours.flows) == (2, 4)
            met.setdefault(neighbours.rival.label, []).append(environment.id)
    assert met == {
        "aimd": ["with-standard", "ecn-with-standard"],
        "cubic": ["with-cubic-shallow", "with-cubic-deep", "fq-codel"],
        "bbr3": ["with-bbr3-shallow", "with-bbr3-deep"],
    }
    assert met.keys() <= set(CORE.panel)


def test_core_is_of_the_transport_that_runs_today() -> None:
    for environment in CORE.environments:
        flows = json.loads(environment.base.resolved_json)["flows"]
        assert {flow["profile"] for flow in flows} == {"linux"}, environment.id


def test_a_flow_under_test_is_no_rival(tmp_path: Path) -> None:
    """Nor is a group beside a third one, whose share nobody knows."""
    path = tmp_path / "x.toml"
    other = '\n[[flows]]\nname = "{}"\ncount = 3\ncc = "cubic"\n'
    path.write_text(TINY + other.format("late"))
    watch = Watch("share", "late", "x", "reach-one")
    environment = Environment("x", "x", "?", path, (), True, watch)
    assert environment.neighbours(Algorithms(("test", "late"))) is None
    found = environment.neighbours(Algorithms(("test",)), ["flows.late.cc=bbr3"])
    assert found is not None
    assert (found.rival.label, found.of_rival, found.flows) == ("bbr3", 3, 5)
    path.write_text(TINY + other.format("late") + other.format("third"))
    assert Environment("x", "x", "?", path, (), True, watch).neighbours(Algorithms(("test",))) is None


def test_who_is_starved_is_told(tiny_suite: Path, tmp_path: Path) -> None:
    """BBRv1 pays no attention to losses: in a queue of eight packets it leaves next to nothing to AIMD."""
    out = tmp_path / "out"
    command: list[str | Path] = [
        "evaluate",
        "bbr1",
        "--suite",
        tiny_suite,
        "--against",
        "aimd,cubic",
        "--set",
        "topology.queue.limit=8 packets",
    ]
    answer = cli(*command, "--json", "--out", out)
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    standard, cubic = document["competitors"]
    assert (standard["competitor"], cubic["competitor"]) == ("aimd", "cubic")
    assert cubic["beside"] == [] and cubic["starved"] is None and cubic["difference"] is not None
    (company,) = standard["beside"]
    assert company["environment"] == "company"
    assert company["share"]["mean"] < STARVED < company["share"]["high"]
    assert company["band"] == "maybe-starved" and company["harm"] == pytest.approx(
        1 - company["share"]["mean"] / 3
    )
    assert standard["starved"] == "maybe" and standard["starves_candidate"] == "no"
    # One flow of three: what it does not get the two others have.
    assert company["candidate_share"]["mean"] == pytest.approx((3 - company["share"]["mean"]) / 2)
    assert "It may starve aimd" in document["verdict"] and "“In company”" in document["verdict"]
    page = (out / "report.html").read_text()
    assert "It may starve aimd" in page and 'id="competitors"' in page
    shown = cli(*command, "--out", out, "--full")
    assert "fair-share ratio" in shown.stdout and "possibly starved" in shown.stdout
