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
SCENARIOS = sorted(path for path in SUITES.glob("*/*.toml") if path.name != "suite.toml")


@pytest.fixture(scope="module")
def validator() -> Any:
    answer = cli("schema")
    assert answer.code == 0
    schema = json.loads(answer.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_example_is_valid(validator: Any) -> None:
    validator.validate(tomllib.loads(TWO_FLOWS.read_text()))


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
        (("schema",), 2),
        (("flows",), []),
    ],
)
def test_mistakes_are_refused(validator: Any, path: tuple[str | int, ...], value: object) -> None:
    tree: Any = deepcopy(tomllib.loads(TWO_FLOWS.read_text()))
    place = tree
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(tree)
