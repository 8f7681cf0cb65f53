"""The suite `tcpeval`: the numbers of draft-irtf-iccrg-tcpeval-01, and what stands in for its traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ackclock.evaluation import evaluate
from ackclock.evaluation.suite import Environment, Suite

LOADS = (60, 85, 110)


@pytest.fixture(scope="module")
def environments() -> dict[str, Environment]:
    return {environment.id: environment for environment in Suite.load("tcpeval").environments}


def resolved(environment: Environment) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(environment.base.resolved_json)
    return document


@pytest.mark.parametrize(
    ("name", "rate", "think_s", "size"),
    [
        ("data-center", 1e9, 5, 1e6),
        ("access-link", 100e6, 5, 100e3),
        ("trans-oceanic", 1e9, 5, 1e6),
        ("geostationary", 40e6, 10, 80e3),
        ("dial-up", 64e3, 20, 4e3),
    ],
)
def test_clients_offer_the_loads_of_section_4(
    environments: dict[str, Environment], name: str, rate: float, think_s: float, size: float
) -> None:
    for load in LOADS:
        clients = {flow["name"]: flow for flow in resolved(environments[f"{name}-{load}"])["flows"]}
        offered = clients["test"]["count"] * 8 * size / think_s / rate
        assert 100 * offered == pytest.approx(load, rel=0.01)
        assert clients["test-up"]["count"] == pytest.approx(clients["test"]["count"] / 2, abs=0.5)


def queue(environment: Environment, link: str = "bottleneck") -> str:
    links = environment.base.describe()["links"]
    return next(str(each["queue"]) for each in links if each["name"] == link)


def test_buffers_are_those_of_the_draft(environments: dict[str, Environment]) -> None:
    # 100 ms of 100 Mbit/s are 1.25 MB, a BDP at 100 ms, which 5.1 varies.
    for share in (10, 20, 50, 100, 200):
        assert queue(environments[f"tradeoff-{share}"]) == f"drop-tail, {share * 12500} B"
    for name, rate, ms in (
        ("data-center", 1e9, 10),
        ("access-link", 100e6, 100),
        ("trans-oceanic", 1e9, 100),
        ("geostationary", 40e6, 100),
        ("dial-up", 64e3, 1250),
    ):
        assert queue(environments[f"{name}-85"]) == f"drop-tail, {rate * ms / 8e3:.0f} B"
    uplink = queue(environments["geostationary-85"], "bottleneck.reverse")
    assert uplink == f"drop-tail, {4e6 * 1000 / 8e3:.0f} B"


def test_every_section_has_its_environments(environments: dict[str, Environment]) -> None:
    asked = {
        environment.question.split(":")[0].removeprefix("Section ") for environment in environments.values()
    }
    assert asked == {"4.4", "5.1", "5.2", "5.3", "6.1", "6.2", "6.3"}
    assert len(environments) == 3 * 6 + 5 + 4 + 3 + 4 + 12 + 3


def test_ramp_up_has_the_round_trip_times_of_table_8(environments: dict[str, Environment]) -> None:
    found = []
    for number in (1, 2, 3):
        flows = {flow["name"]: flow["rtt"] for flow in resolved(environments[f"ramp-up-{number}"])["flows"]}
        found.append((flows["test"], flows["test-new"]))
    assert found == [("80 ms", "80 ms"), ("120 ms", "30 ms"), ("30 ms", "120 ms")]


def test_a_part_of_it_runs(tmp_path: Path) -> None:
    source = Suite.load("tcpeval")
    assert source.folder is not None
    text = (source.folder / "suite.toml").read_text()
    head, *parts = text.split("[[environments]]\n")
    chosen = [part for part in parts if part.startswith(('id = "dial-up-60"', 'id = "impact-50"'))]
    folder = tmp_path / "suite"
    folder.mkdir()
    head = head.split("test = ")[0] + 'test = ["test", "test-up"]\npanel = ["reno"]\n'
    (folder / "suite.toml").write_text("[[environments]]\n".join([head, *chosen]))
    for name in ("dial-up.toml", "impact.toml"):
        (folder / name).write_text((source.folder / name).read_text())
    first, second = evaluate("cubic", suite=str(folder), replicates=2).board.results
    times, camp = first.scores[0][-1].value, second.scores[0][-1].value
    # 4 kB of payload take at least half a second at 64 kbit/s. The camps offer 5 Mbit/s together.
    assert times.mean > 0.5
    assert 1 < camp.mean < 5
