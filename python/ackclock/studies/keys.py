"""The keys of a study file with types and descriptions, and the JSON Schema made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ackclock import _core
from ackclock.files.declaration import SETS, Anything, Either, ListOf, MapOf, Table, Text, Type, Whole

#: The version of the format.
SCHEMA = 1
#: The replicates whose samples over time are stored.
SAMPLES = ("none", "first", "all")
#: The exclusive upper bound of seeds.
SEED_END = 2**63
#: The form of a study's name, which is also the name of a folder.
NAME = re.compile(r"\w[\w .-]*")
_JSON_TYPES = {int: "integer", str: "string", dict: "object", list: "array"}


@dataclass(frozen=True)
class Key:
    """A key of a study file."""

    type: Type
    help: str
    #: The limits in the JSON Schema in addition to the type.
    limits: Mapping[str, Any] = field(default_factory=dict)


#: A table with the keys of a scenario, which checks them.
_TABLE = MapOf(Anything())

KEYS = {
    "schema": Key(Whole(), "Version of the format.", {"const": SCHEMA}),
    "name": Key(
        Text(),
        "Name of the study and of its folder, by default the name of the file.",
        {"pattern": f"^{NAME.pattern}$"},
    ),
    "scenario": Key(
        Either((Text(), _TABLE)), "A file, relative to this one, or a table with a scenario's keys."
    ),
    "set": Key(SETS, 'Changes to the scenario, each "KEY=VALUE".', {"items": {"type": "string"}}),
    "grid": Key(_TABLE, "Keys of the scenario and their values. Every combination is run."),
    "together": Key(ListOf(_TABLE), "Tables of keys that change together, as one axis."),
    "replicates": Key(
        Whole(), "Runs of each point, or the largest number of runs with `until`.", {"minimum": 1}
    ),
    "until": Key(Text(), 'The stopping rule for replicates: "METRIC +- NUMBER UNIT".', {"pattern": r"\+-"}),
    "metrics": Key(
        ListOf(Text(), 1),
        "Metrics of the table and the charts, such as `share(cubic, bbr3)`.",
        {"items": {"type": "string"}, "minItems": 1},
    ),
    "seed": Key(Whole(), "Seed, by default the scenario's.", {"minimum": 0, "exclusiveMaximum": SEED_END}),
    "samples": Key(Text(SAMPLES), "Which replicates keep samples over time.", {"enum": list(SAMPLES)}),
}

#: The possible contents of a study file.
STUDY = Table(
    "a study",
    {"scenario": KEYS["scenario"].type},
    {name: key.type for name, key in KEYS.items() if name != "scenario"},
)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study file.

    It checks only the first part of a grid's keys, up to the dot. `ackclock study --plan` checks whole keys.
    """
    scenario = json.loads(_core.schema_json())
    definitions = scenario.pop("$defs")
    # `set` can supply keys that the table omits.
    scenario.pop("required", None)
    first_parts = "|".join(map(re.escape, scenario["properties"]))
    definitions["Axes"] = {
        "description": "Keys of the scenario, dotted or as tables in tables, and their values.",
        "type": "object",
        "patternProperties": {f"^({first_parts})(\\.|$)": {"$ref": "#/$defs/Values"}},
        "additionalProperties": False,
    }
    definitions["Values"] = {
        "anyOf": [
            {"type": "array", "minItems": 1},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/Values"}},
        ]
    }
    places: dict[str, dict[str, Any]] = {
        "scenario": {
            "anyOf": [{"type": "string"}, {key: value for key, value in scenario.items() if key != "$schema"}]
        },
        "grid": {"$ref": "#/$defs/Axes"},
        "together": {"type": "array", "items": {"$ref": "#/$defs/Axes"}},
    }
    return {
        "$schema": scenario["$schema"],
        "title": "Study",
        "description": "A scenario, its varied keys, and the number of replicates.",
        "type": "object",
        "properties": {
            name: {
                "description": key.help,
                **places.get(name, {"type": _JSON_TYPES[key.type.python[0]], **key.limits}),
            }
            for name, key in KEYS.items()
        },
        "required": ["scenario"],
        "additionalProperties": False,
        "$defs": definitions,
    }
