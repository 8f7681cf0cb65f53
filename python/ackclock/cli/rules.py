"""Window rules as a command line names them: `aimd`, `aimd(increase=0.5)`, or an inline table."""

from __future__ import annotations

import json
from typing import Any

from ackclock import _core
from ackclock.errors import InputError, ScenarioError
from ackclock.evaluation.candidate import Candidate
from ackclock.synchronous.model import trajectory


def parse_rule(text: str) -> dict[str, Any]:
    """Return the algorithm that `text` names, with every parameter.

    Raises `InputError` with all rules and their parameters for any text that is not a window rule.
    """
    try:
        resolved = Candidate.parse(text).resolved
    except ScenarioError as error:
        raise InputError(f"{error}\nrules and their parameters: {', '.join(_listing())}") from None
    if not _is_rule(resolved):
        raise InputError(
            f"algorithm {text!r} is more than a window rule, and the model has no clock\n"
            f"rules and their parameters: {', '.join(_listing())}"
        )
    return resolved


def _is_rule(cc: dict[str, Any]) -> bool:
    """Return whether the model takes an algorithm that is sound."""
    try:
        trajectory([{"cc": cc, "window": 1.0}], x_goal=1.0, duration=1.0)
    except InputError:
        return False
    return True


def _listing() -> list[str]:
    """Every rule with the names of its parameters, as `parse_rule` takes them."""
    entries = json.loads(_core.list_json("cc"))
    return [_signature(entry) for entry in entries if _is_rule({"kind": entry["name"]})]


def _signature(entry: dict[str, Any]) -> str:
    names = ", ".join(parameter["name"] for parameter in entry["parameters"])
    return f"{entry['name']}({names})" if names else str(entry["name"])
