"""Nothing gets lost in the books: every data packet sent is in flight, has arrived or is known to be lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ackclock
from ackclock.evaluation.subject import Queues
from ackclock.evaluation.suite import Suite

SUITES = sorted(path.parent.name for path in Path(ackclock.__file__).parent.glob("suites/*/suite.toml"))


def imbalance(flow: dict[str, int]) -> int:
    """Data packets that came from nowhere, or went there."""
    known = flow["in_flight_start"] + flow["sent"] + flow["copies"]
    return known - flow["arrived"] - flow["lost"] - flow["corrupted"] - flow["in_flight_end"]


def shortened(scenario: ackclock.Scenario) -> ackclock.Scenario:
    """Return the scenario, or its first 20 s if its links carry more than 100 Gbit."""
    described = scenario.describe()
    rate_bps = max(link["rate_bps"] or 0 for link in described["links"])
    return scenario.with_sets(["duration=20 s"]) if rate_bps * described["duration_s"] > 1e11 else scenario


@pytest.mark.parametrize("name", SUITES)
def test_every_flow_of_every_environment_balances(name: str) -> None:
    suite = Suite.load(name)
    signals = 0
    for environment in suite.environments:
        for candidate in ("red", "fq-codel") if isinstance(suite.subject, Queues) else ("aimd", "cubic"):
            scenario = shortened(environment.scenario(candidate, suite.subject))
            run = ackclock.run(scenario)
            for flow in run.flows:
                assert imbalance(flow) == 0, f"{environment.id}, {candidate}: {json.dumps(flow)}"
                assert flow["access_drops"] <= flow["lost"]
                signals += flow["lost"] + flow["marks"]
            sent = sum(flow["sent"] for flow in run.flows)
            rate = sum(flow["lost"] for flow in run.flows) / sent
            assert run.summary["loss_rate"] == pytest.approx(rate, abs=1e-12)
    # A call and one competitor lose little in a minute.
    assert signals > (100 if name == "call" else 1000), "a suite without losses and marks shows nothing"
