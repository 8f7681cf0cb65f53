"""The profile of a flow says how CUBIC computes, unless the flow does."""

import json
from typing import Any

import pytest

from ackclock.evaluation.candidate import Candidate
from ackclock.running.job import execute
from ackclock.running.settable import settable
from ackclock.running.work import Study
from ackclock.scenario import Scenario

PATH = {"kind": "dumbbell", "rate": "20 Mbit/s", "delay": "20 ms"}
SEEN = ("goodput_bps", "cwnd_mean_segments", "retransmits", "rtt_mean_s")


def scenario(cc: Any, **transport: Any) -> Scenario:
    return Scenario.from_dict(
        {
            "schema": 1,
            "duration": "8 s",
            "topology": PATH,
            "transport": transport,
            "flows": [{"name": "test", "cc": cc}],
        }
    )


def figures(of: Scenario) -> dict[str, float]:
    (flow,) = json.loads(execute(Study.of(of).jobs[0]).result_json)["flows"]
    return {key: flow[key] for key in SEEN}


@pytest.mark.parametrize(
    ("profile", "arithmetic"),
    [
        ("linux", {"arithmetic": "linux"}),
        ("ns-2-linux", {"arithmetic": "linux-2.6", "remaining": 819 / 1024}),
        ("rfc", {"arithmetic": "exact"}),
        ("quic", {"arithmetic": "exact"}),
    ],
)
def test_a_profile_gives_the_run_of_its_arithmetic(profile: str, arithmetic: dict[str, Any]) -> None:
    by_profile = figures(scenario("cubic", profile=profile))
    assert by_profile == figures(scenario({"kind": "cubic", **arithmetic}, profile=profile))
    other = "exact" if arithmetic["arithmetic"] != "exact" else "linux"
    assert by_profile != figures(scenario({"kind": "cubic", "arithmetic": other}, profile=profile))


def test_files_of_version_2_have_the_arithmetic_of_linux() -> None:
    document = {"schema": 2, "duration": "8 s", "topology": PATH, "flows": [{"name": "test", "cc": "cubic"}]}
    linux = scenario({"kind": "cubic", "arithmetic": "linux"}, profile="linux")
    assert figures(Scenario.from_dict(document)) == figures(linux)


def test_a_stored_scenario_takes_the_arithmetic_of_another_profile() -> None:
    stored = settable(scenario("cubic", profile="linux").resolved)
    changed = Scenario.from_dict(stored).with_sets(["transport.profile=rfc"])
    assert figures(changed) == figures(scenario("cubic", profile="rfc"))


def test_cubic_is_one_algorithm_under_all_profiles() -> None:
    resolved = [scenario("cubic", profile=profile).resolved["flows"][0]["cc"] for profile in ("rfc", "linux")]
    assert resolved[0] == resolved[1]
    assert Candidate("cubic").label == "cubic"
    exact = Candidate('{ kind = "cubic", arithmetic = "exact" }')
    assert exact.label == 'cubic(arithmetic="exact")'
