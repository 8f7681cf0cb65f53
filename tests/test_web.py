"""The module for browsers and Node gives the results of native runs."""

from __future__ import annotations

import itertools
import json
import subprocess
from typing import Any

import golden_on_web
import polars
import pytest

import ackclock
import golden
from ackclock import _core
from ackclock.errors import ScenarioError
from ackclock.scenario import Scenario


@pytest.mark.parametrize(("place", "every"), [("node", 12), ("chromium", 40)])
def test_runs_give_the_bytes_of_native_ones(place: str, every: int) -> None:
    problem = golden_on_web.missing(place)
    if problem is not None:
        pytest.skip(problem)
    chosen = dict(itertools.islice(golden.scenarios(), 0, None, every))
    assert len(chosen) >= 4
    new = golden_on_web.measured(chosen.items(), place)
    assert golden.differences({name: golden.committed()[name] for name in chosen}, new) == []


def test_lists_and_mistakes_are_those_of_the_native_engine() -> None:
    problem = golden_on_web.missing()
    if problem is not None:
        pytest.skip(problem)
    topology = {
        "kind": "dumbbell",
        "rate": "1 Mbit/s",
        "dely": "1 ms",
        "queue": {"kind": "codel", "targt": "5 ms"},
    }
    wrong = {"schema": 2, "duration": "1 parsec", "topology": topology, "flows": [{"cc": "cubick"}]}
    command = [
        "node",
        str(golden_on_web.PROGRAMS / "lists.mjs"),
        str(golden_on_web.MODULE),
        json.dumps(wrong),
    ]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert found["lists"] == {kind: json.loads(_core.list_json(kind)) for kind in found["lists"]}
    assert found["metrics"] == json.loads(_core.metrics_json())
    with pytest.raises(ScenarioError) as error:
        Scenario.from_dict(wrong)
    mistakes = [[mistake.key, mistake.message] for mistake in error.value.mistakes]
    assert found["mistakes"] == mistakes and len(mistakes) > 2


def test_a_queue_that_is_set_at_the_start_is_that_of_a_scenario() -> None:
    problem = golden_on_web.missing()
    if problem is not None:
        pytest.skip(problem)
    topology = {"kind": "dumbbell", "rate": "10 Mbit/s", "delay": "20 ms"}
    flows = [{"cc": "cubic", "count": 3, "start": {"uniform": ["0 s", "1 s"]}}]
    tree = {"schema": 2, "duration": "5 s", "topology": topology, "flows": flows}
    queues: list[Any] = [
        "codel",
        {"kind": "red", "limit": "0.5 BDP"},
        {"kind": "fq-codel", "flows": 0},
        "codell",
    ]
    command = [
        "node",
        str(golden_on_web.PROGRAMS / "queues.mjs"),
        str(golden_on_web.MODULE),
        json.dumps(tree),
        json.dumps(queues),
    ]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    for queue, changed in zip(queues[:2], found[:2], strict=True):
        native = ackclock.run(Scenario.from_dict({**tree, "topology": {**topology, "queue": queue}})).document
        assert changed["links"][0]["drops"] > 0
        for part in ("summary", "links", "flows"):
            assert changed[part] == native[part], (queue, part)
    assert found[0]["words"] == "codel, 1000 packets, target 5 ms, interval 100 ms"
    assert found[2]["refused"].startswith("queue: flows: ")
    assert found[3]["refused"].startswith('queue: kind: unknown queue discipline "codell"')


def test_columns_are_read_as_they_lie_in_memory() -> None:
    columns: list[dict[str, Any]] = [
        {"name": "time_ns", "kind": "u64", "names": None, "length": 2},
        {"name": "cwnd", "kind": "f64", "names": None, "length": 2},
        {"name": "event", "kind": "u8", "names": ["sent", "dropped"], "length": 2},
        {"name": "again", "kind": "bool", "names": None, "length": 2},
    ]
    data = polars.Series([3, 4], dtype=polars.UInt64).to_numpy().tobytes()
    data += polars.Series([1.5, float("nan")]).to_numpy().tobytes() + bytes([1, 255, 0, 1])
    table, rest = golden_on_web.frame(columns, memoryview(data + b"more"))
    assert table.rows() == [(3, 1.5, "dropped", False), (4, None, None, True)]
    assert bytes(rest) == b"more"
