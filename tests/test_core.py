"""The binding: scenarios in, runs and tables out."""

import json
import threading
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import polars
import pytest
from helpers import ROOT, without_cpu_time

from ackclock import _core

TWO_FLOWS = (ROOT / "examples" / "two-flows.toml").read_text()


def two_flows(*sets: str) -> _core.Scenario:
    return _core.Scenario.from_toml(TWO_FLOWS, "two-flows.toml", sets)


def result_of(run: _core.Run) -> dict[str, Any]:
    return without_cpu_time(json.loads(run.to_json()))


def test_toml_and_json_are_the_same_scenario() -> None:
    scenario = two_flows()
    again = _core.Scenario.from_json(json.dumps(tomllib.loads(TWO_FLOWS)))
    resolved = _core.Scenario.from_json(scenario.resolved_json())
    assert scenario.hash == again.hash == resolved.hash
    assert (scenario.name, scenario.seed, scenario.is_random) == ("two-flows", 1, True)
    assert two_flows("duration=10 s").hash == scenario.with_sets(["duration=10 s"]).hash != scenario.hash


def test_the_description_has_links_and_base_rtts() -> None:
    description = json.loads(two_flows().describe_json())
    assert description["links"][0]["name"] == "bottleneck"
    assert [flow["base_rtt_s"] for flow in description["flows"]] == [0.064, 0.064]


def test_a_mistake_is_an_error_with_its_place() -> None:
    with pytest.raises(_core.ScenarioError) as error:
        _core.Scenario.from_toml(TWO_FLOWS.replace("increase", "increse"), "two-flows.toml")
    place = "two-flows.toml:17: flows.test.cc.increse"
    assert str(error.value) == f'{place}: unknown key; did you mean "increase"?'
    with pytest.raises(ValueError, match="did you mean"):
        _core.list_json("ccs")
    with pytest.raises(ValueError, match="expected"):
        _core.model_json('{"what": "weather"}')


def test_the_same_seed_gives_the_same_run() -> None:
    scenario = two_flows("duration=10 s")
    first = result_of(scenario.run())
    assert result_of(scenario.run(seed=1, replicate=0)) == first
    assert result_of(scenario.run(replicate=1))["flows"] != first["flows"]
    assert [flow["name"] for flow in first["flows"]] == ["test.0", "test.1"]
    assert list(first)[:5] == ["scenario", "scenario_hash", "backend", "seed", "replicate"]


def test_samples_are_tables() -> None:
    run = two_flows("duration=10 s").run()
    flows, links = polars.DataFrame(run.flow_samples), polars.DataFrame(run.link_samples)
    assert flows.columns == run.flow_samples.columns
    assert len(flows) == len(run.flow_samples) > 1000
    assert set(flows["flow"].unique()) == {"test.0", "test.1"}
    assert "slow-start" in set(flows["phase"].cast(polars.String))
    assert "bottleneck" in set(links["link"].unique())
    # The capsule can be taken more than once.
    assert polars.DataFrame(run.flow_samples).equals(flows)


def test_a_run_without_samples_has_the_same_result() -> None:
    scenario = two_flows("duration=20 s")
    sampled, bare = scenario.run(), scenario.run(samples=False)
    assert len(polars.DataFrame(sampled.flow_samples)) == 2 * 1001
    assert len(polars.DataFrame(bare.flow_samples)) == 0
    assert sampled.histograms_json() == bare.histograms_json()
    results = [result_of(run) for run in (sampled, bare)]
    events = [result.pop("events") for result in results]
    assert results[0] == results[1] and events[0] > events[1]


def test_a_run_can_be_cancelled() -> None:
    cancel = _core.Cancel()
    threading.Timer(0.1, cancel.set).start()
    with pytest.raises(_core.Interrupted):
        two_flows("duration=200 h", "sampling.interval=none").run(cancel=cancel)
    assert cancel.is_set()


def test_the_schema_accepts_shorthand_and_refuses_unknown_keys() -> None:
    schema = json.loads(_core.schema_json())
    jsonschema.Draft202012Validator.check_schema(schema)
    document = tomllib.loads(TWO_FLOWS)
    jsonschema.validate(document, schema)
    jsonschema.validate(document | {"flows": [{"cc": "new-aimd", "rtt": "100 ms"}]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"flows": [{"cc": "new-amd"}]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"durration": "1 s"}, schema)


def test_lists_and_keys_are_explained() -> None:
    for kind in ("cc", "recovery", "queue", "loss", "traffic", "topology"):
        assert all(entry["summary"] for entry in json.loads(_core.list_json(kind)))
    assert {"duration", "transport.mss", "flows.cc"} <= {key["path"] for key in json.loads(_core.keys_json())}


def test_fuzz_targets_do_not_ship() -> None:
    shipped = Path(_core.__file__).read_bytes()
    assert b"grows without bound" in shipped, "messages of runs are found"
    for text in (b"the same script gives the same report", b"a resolved scenario reads back"):
        assert text not in shipped


def test_nothing_is_undone_on_a_path_that_keeps_the_order() -> None:
    # CoDel drops one packet after the other, so that a recovery begins with what the last one has sent again.
    tree = {
        "schema": 2,
        "duration": "4 s",
        "topology": {"kind": "dumbbell", "rate": "10 Mbit/s", "delay": "20 ms", "queue": "codel"},
        "flows": [{"name": "test", "cc": {"kind": "aimd", "increase": 2, "remaining": 0.8}}],
    }

    def flow(undo: str) -> dict[str, Any]:
        scenario = _core.Scenario.from_json(json.dumps({**tree, "transport": {"undo": undo}}))
        (row,) = result_of(scenario.run())["flows"]
        assert row["retransmits"] > 30
        return dict(row)

    assert flow("eifel") == flow("none")
