"""A queue discipline under evaluation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ackclock import _core
from ackclock.errors import ScenarioError
from ackclock.evaluation.candidate import Candidate, changed_text
from ackclock.files.documents import as_toml
from ackclock.files.labels import table_of
from ackclock.queues.spec import queue_of

#: The key of the queue in a scenario.
QUEUE = "topology.queue"


class QueueCandidate(Candidate):
    """A queue discipline with its parameters. `text` is an inline table."""

    @classmethod
    def parse(cls, cc: Any) -> Candidate:
        """Take a name, a label such as `codel(target=10 ms)`, an inline table or a dict.

        Raises `ScenarioError` with a suggestion.
        """
        try:
            table = dict(cc) if isinstance(cc, Mapping) else table_of(cc)
        except ValueError as error:
            raise ScenarioError(f"queue {cc}: {error}") from None
        if queue_of(cc)["kind"] == "kernel":
            raise ScenarioError(
                f"queue {cc}: an evaluation of queues is simulated, without queues of the kernel"
            )
        return cls(as_toml(table))

    @cached_property
    def _given(self) -> dict[str, Any]:
        return table_of(self.text)

    def with_limit(self, limit: str) -> str:
        """Return the queue as an inline table. It has this limit unless it has its own."""
        return as_toml({"limit": limit} | self._given)

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The queue with every parameter. A limit that it leaves open is absent."""
        resolved = queue_of(self._given)
        return resolved if "limit" in self._given else {k: v for k, v in resolved.items() if k != "limit"}

    def labelled(self, title: str) -> str:
        """Return `title` with the parameters that are not the defaults."""
        defaults = {
            parameter["name"]: parameter["default"]
            for entry in json.loads(_core.list_json("queue"))
            if entry["name"] == self.kind
            for parameter in entry["parameters"]
        }
        given = {key: self.resolved[key] for key in self._given if key != "kind" and key in self.resolved}
        return changed_text(title, given, defaults)
