"""The schema of scenarios as the module for browsers has it, to standard output.

    python tools/web/schema_on_web.py > target/schema.json

Descriptions of keys that no list of `ackclock list` shows are left out: nearly half of its compressed size.
"""

import json
from collections.abc import Iterator
from typing import Any

from ackclock import _core

#: Definitions whose variants `ackclock list` shows.
LISTED = ("CcSpec", "LossRecovery", "QueueSpec", "Loss", "TrafficKeys", "Topology", "Channel")
PROSE = ("description", "examples")
#: Below them are names, not words of the schema.
NAMED = ("properties", "$defs")


def main() -> None:
    schema = json.loads(_core.schema_json())
    definitions = schema.pop("$defs")
    listed = reached(LISTED, definitions)
    kept = {name: each if name in listed else without_prose(each) for name, each in definitions.items()}
    print(json.dumps({**without_prose(schema), "$defs": kept}, ensure_ascii=False, separators=(",", ":")))


def reached(names: tuple[str, ...], definitions: dict[str, Any]) -> set[str]:
    """Return these definitions and the definitions of their variants."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += references(definitions[name])
    return found


def references(schema: Any) -> Iterator[str]:
    """Give the names of the definitions that a schema consists of. Definitions of its keys are left out."""
    for key, value in schema.items() if isinstance(schema, dict) else ():
        if key == "properties":
            continue
        if key == "$ref":
            yield value.removeprefix("#/$defs/")
        else:
            yield from references(value)
    for value in schema if isinstance(schema, list) else ():
        yield from references(value)


def without_prose(schema: Any, *, named: bool = False) -> Any:
    """Return a schema without descriptions."""
    if isinstance(schema, list):
        return [without_prose(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if named or key not in PROSE}
    return {key: without_prose(value, named=key in NAMED and not named) for key, value in kept.items()}


if __name__ == "__main__":
    main()
