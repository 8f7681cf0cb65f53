"""Completes user-supplied algorithms of a scenario: adds their text and every parameter."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from ackclock.foreign import process
from ackclock.foreign.describe import (
    Description,
    Parameter,
    describe_bpf,
    describe_class,
    describe_library,
    describe_module,
)
from ackclock.foreign.module import read_module
from ackclock.foreign.source import SESSION, ForeignError, Source, hash_of, parsed, require_alone
from ackclock.text.suggest import hint

#: The keys that are not parameters.
OWN_KEYS = {
    "python": ("kind", "source", "code"),
    "library": ("kind", "path", "sha256"),
    "bpf": ("kind", "object", "sha256", "jit"),
    "module": ("kind", "source", "code"),
}


def complete_json(table: str, folder: str) -> tuple[str | None, str, str]:
    """Return the complete table of an algorithm, or None with the wrong key and the problem."""
    try:
        return json.dumps(complete(json.loads(table), folder), ensure_ascii=False), "", ""
    except ForeignError as error:
        return None, error.key, error.message


def complete(table: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return the table of an algorithm with its code and all its parameters. Raises `ForeignError`."""
    if process.is_worker():
        return table
    kind = table["kind"]
    if kind == "module":
        return table if "code" in table else {**table, "code": read_module(table["source"], folder)}
    table = (_with_code if kind == "python" else _with_hash)(table, folder)
    description = described(table)
    if description.message:
        raise ForeignError(description.key, description.message)
    given = {key: value for key, value in table.items() if key not in OWN_KEYS[kind]}
    parameters = {parameter.name: parameter for parameter in description.parameters}
    for name in given:
        if name not in parameters:
            raise ForeignError(name, _unknown(name, description))
    values = {name: _value(parameter, given.get(name)) for name, parameter in parameters.items()}
    return {key: table[key] for key in OWN_KEYS[kind] if key in table} | values


def _with_code(table: dict[str, Any], folder: str) -> dict[str, Any]:
    source = Source.parse(table["source"])
    if "code" in table:
        return table
    code = source.read(folder)
    require_alone(source.file, folder, parsed(source.file, code))
    return {**table, "code": code}


def _with_hash(table: dict[str, Any], folder: str) -> dict[str, Any]:
    key = OWN_KEYS[table["kind"]][1]
    path = Path(folder, table[key]).absolute()
    found = hash_of(path, key)
    if table.get("sha256", found) != found:
        raise ForeignError(key, f"{path}: the file has changed since the results were computed")
    return {**table, key: str(path), "sha256": found}


def described(table: dict[str, Any]) -> Description:
    """Return the description of the code of a table."""
    if table["kind"] == "module":
        return describe_module(table)
    if table["kind"] == "library":
        return _described_library(table["path"], table["sha256"])
    if table["kind"] == "bpf":
        return _described_bpf(table["object"], table["sha256"], table.get("jit", False))
    return _described_class(table["source"], table["code"])


@lru_cache(maxsize=1024)
def _described_class(source: str, code: str) -> Description:
    if Source.parse(source).file == SESSION:
        return describe_class(source, code)
    return _isolated("source", describe_class, source, code)


@lru_cache(maxsize=1024)
def _described_library(path: str, sha256: str) -> Description:
    return _isolated("path", describe_library, path, sha256)


@lru_cache(maxsize=1024)
def _described_bpf(path: str, sha256: str, jit: bool) -> Description:
    # The program accesses only its own memory and needs no separate process.
    return describe_bpf(path, sha256, jit)


def _isolated(key: str, describe: Callable[[str, str], Description], *code: str) -> Description:
    """Describe code in a process of its own, as it may do anything."""
    try:
        return process.call(describe, *code)
    except process.CrashError as error:
        return Description("", (), key=key, message=f"{code[0]}: {error}")


def _unknown(name: str, description: Description) -> str:
    if name in description.annotated:
        return (
            f"{description.name} takes no parameter {name!r}: make it a dataclass (@dataclass), whose fields "
            "are its parameters"
        )
    names = [parameter.name for parameter in description.parameters]
    return f"{description.name} takes no parameter {name!r}; {hint(name, names)}"


def _value(parameter: Parameter, given: object) -> object:
    if given is None:
        if parameter.default is None:
            raise ForeignError(
                parameter.name, f"the parameter {parameter.name!r} has no default; give it a value"
            )
        given = parameter.default
    match parameter.type, given:
        case ("bool", bool()) | ("str", str()):
            return given
        case "int" | "float", int() | float() if not isinstance(given, bool):
            if parameter.type == "float":
                return float(given)
            if given == int(given):
                return int(given)
        case _:
            pass
    words = {"bool": "true or false", "str": "a text", "int": "a whole number", "float": "a number"}
    raise ForeignError(
        parameter.name, f"expected {words[parameter.type]}, found {json.dumps(given, ensure_ascii=False)}"
    )
