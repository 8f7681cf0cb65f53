"""Queues and sources of arrivals, as a command line names them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ackclock.errors import ArgumentValueError, ScenarioError
from ackclock.files.documents import as_toml
from ackclock.files.labels import table_of
from ackclock.scenario import probe_scenario

#: The place of a queue in the scenario that checks it.
_PLACE = "topology.queue"
#: The first value of a source without a key.
_FIRST = "rate"


def queue_of(queue: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a queue with every key: of a name, a label, an inline table or a dict.

    Raises `ArgumentValueError` for another text, and `ScenarioError` for unknown names and keys.
    """
    table = dict(queue) if isinstance(queue, Mapping) else _table("queue", queue)
    try:
        scenario = probe_scenario([f"{_PLACE}={as_toml(table)}"])
    except ScenarioError as error:
        named = queue if isinstance(queue, str) else as_toml(table)
        lines = (f"queue {named}: {_of_queue(mistake.key, mistake.message)}" for mistake in error.mistakes)
        raise ScenarioError("\n".join(lines)) from None
    resolved: dict[str, Any] = json.loads(scenario.resolved_json)["topology"]["queue"]
    return resolved


def source_of(arrivals: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a source, such as `poisson(9 Mbit/s, to=3 s)`. Raises `ArgumentValueError`."""
    return dict(arrivals) if isinstance(arrivals, Mapping) else _table("arrivals", arrivals, _FIRST)


def _table(argument: str, text: str, first: str | None = None) -> dict[str, Any]:
    try:
        return table_of(text, first)
    except ValueError as error:
        raise ArgumentValueError(argument, f"{text!r}: {error}") from None


def _of_queue(key: str, message: str) -> str:
    """Return a message with the key of the queue, and not of the scenario."""
    own = key.removeprefix(_PLACE).removeprefix(".")
    return f"{own}: {message}" if own and own != "kind" else message
