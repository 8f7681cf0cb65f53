"""The exported JSON Schema accepts what the parser accepts."""

from __future__ import annotations

import json
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from helpers import ROOT, TWO_FLOWS, cli

import ackclock

SUITES = ROOT / "python" / "ackclock" / "suites"
BUFFER_STUDY = ROOT / "examples" / "buffer-study.toml"
STUDY = {
    "schema": 1,
    "name": "buffers",
    "scenario": "two-flows.toml",
    "set": ["duration=30 s"],
    "replicates": 50,
    "until": "goodput +- 1 %",
    "grid": {"flows.test.cc": ["aimd", {"kind": "aiad"}], "topology": {"rate": ["5 Mbit/s"]}},
    "together": [{"duration": ["1 s", "2 s"], "warmup": ["0 s", "1 s"]}],
}
NO_SCENARIOS = {"suite.toml", "criteria.toml"}
SCENARIOS = sorted(path for path in SUITES.glob("*/*.toml") if path.name not in NO_SCENARIOS)


def validator_of(*command: str) -> Any:
    answer = cli("schema", *command)
    assert answer.code == 0
    schema = json.loads(answer.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture(scope="module")
def validator() -> Any:
    return validator_of()


@pytest.fixture(scope="module")
def study_validator() -> Any:
    return validator_of("study")


def test_the_example_is_valid(validator: Any) -> None:
    validator.validate(tomllib.loads(TWO_FLOWS.read_text()))


def with_value(tree: Any, path: tuple[str | int, ...], value: object) -> Any:
    """Return a copy of a document with another value at a path."""
    changed = deepcopy(tree)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_scenarios_of_suites_are_valid(validator: Any, path: Path) -> None:
    validator.validate(tomllib.loads(path.read_text()))
    assert cli("check", path).code == 0


def test_a_resolved_scenario_is_valid(validator: Any) -> None:
    validator.validate(json.loads(ackclock.Scenario.from_file(TWO_FLOWS).resolved_json))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("durration",), "1 s"),
        (("topology", "dealy"), "1 ms"),
        (("topology", "kind"), "star"),
        (("flows", 0, "cwnd"), 3),
        (("flows", 0, "cc", "kind"), "amid"),
        (("flows", 0, "cc", "increse"), 1),
        (("flows", 0, "count"), 0),
        (("flows", 0, "start"), 1),
        (("schema",), 3),
        (("flows",), []),
    ],
)
def test_mistakes_are_refused(validator: Any, path: tuple[str | int, ...], value: object) -> None:
    changed = with_value(tomllib.loads(TWO_FLOWS.read_text()), path, value)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(changed)


def test_studies_are_valid(study_validator: Any) -> None:
    study_validator.validate(tomllib.loads(BUFFER_STUDY.read_text()))
    study_validator.validate(STUDY)
    study_validator.validate({"scenario": tomllib.loads(TWO_FLOWS.read_text())})
    # What a scenario lacks may be set.
    study_validator.validate({"scenario": {"schema": 1}, "set": ["duration=8 s"]})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("replicate",), 3),
        (("replicates",), 0),
        (("name",), "../up"),
        (("samples",), "some"),
        (("seed",), -1),
        (("until",), "goodput < 1 %"),
        (("set",), [1]),
        (("schema",), 3),
        (("scenario",), {"durration": "1 s"}),
        (("grid", "durration"), ["1 s"]),
        (("grid", "topolgy.rate"), ["1 Mbit/s"]),
        (("grid", "duration"), "1 s"),
        (("grid", "duration"), []),
        (("grid", "topology", "rate"), []),
        (("together", 0, "flow.0.count"), [1, 2]),
    ],
)
def test_mistakes_in_studies_are_refused(
    study_validator: Any, path: tuple[str | int, ...], value: object
) -> None:
    changed = with_value(STUDY, path, value)
    with pytest.raises(jsonschema.ValidationError):
        study_validator.validate(changed)
