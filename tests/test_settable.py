"""Scenarios of stored runs in a form whose keys can be set: the same scenario, and `transport` counts."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from ackclock.running.settable import settable
from ackclock.scenario import Scenario

ROOT = Path(__file__).resolve().parents[1]
SUITES = Path(str(resources.files("ackclock.suites")))
FILES = sorted(
    path
    for folder in (ROOT / "examples", SUITES)
    for path in folder.rglob("*.toml")
    if "[[flows]]" in path.read_text()
)


def test_there_are_scenarios() -> None:
    assert len(FILES) > 30


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_scenario_is_the_same(path: Path) -> None:
    scenario = Scenario.from_file(path)
    assert Scenario.from_dict(settable(scenario.resolved)).resolved == scenario.resolved


def test_keys_of_the_transport_change_all_flows_as_in_a_file() -> None:
    scenario = Scenario.from_file(ROOT / "examples" / "two-flows.toml")
    stored = settable(scenario.resolved)
    for text in ("transport.profile=rfc", "transport.rack=false", "transport.min_rto=1 s"):
        assert Scenario.from_dict(stored, [text]).hash == scenario.with_sets([text]).hash != scenario.hash


def test_what_one_flow_sets_stays_its_own() -> None:
    sets = ["transport.min_rto=1 s", "flows.test.prr=false"]
    scenario = Scenario.from_file(ROOT / "python/ackclock/suites/core/with-standard.toml", sets)
    stored = settable(scenario.resolved)
    assert stored["transport"]["min_rto"] == "1 s" and "prr" not in stored["transport"]
    changed = Scenario.from_dict(stored, ["transport.prr=false"])
    assert changed.hash == scenario.with_sets(["transport.prr=false"]).hash


def test_flows_of_several_profiles_keep_what_each_has() -> None:
    sets = ["flows.test.profile=rfc"]
    scenario = Scenario.from_file(ROOT / "python/ackclock/suites/core/with-standard.toml", sets)
    assert settable(scenario.resolved) == scenario.resolved
