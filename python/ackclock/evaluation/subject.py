"""The subject of a suite: the algorithm of some flows, or the queue of the bottleneck."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ackclock.errors import ArgumentValueError
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.queues import QUEUE, QueueCandidate
from ackclock.scenario import Scenario

#: The subjects by their names in suite files.
ALGORITHM, QUEUE_DISCIPLINE = SUBJECTS = ("algorithm", "queue")
#: Keys that changes may not reach, because they do not affect runs, with reasons.
_IDENTITY = {"name": "runs do not depend on it", "seed": "all runs have the seed of --seed"}


class Subject(ABC):
    """The part of a scenario that candidates take."""

    name: str
    #: The groups of flows under test.
    groups: tuple[str, ...]

    @abstractmethod
    def parse(self, text: Any) -> Candidate:
        """Return a candidate. Raises `ScenarioError` with a suggestion."""

    @abstractmethod
    def sets(self, base: Scenario, candidate: str) -> list[str]:
        """Return the changes to a scenario of the suite that put a candidate in."""

    @abstractmethod
    def part(self, scenario: Scenario) -> Mapping[str, Any]:
        """Return the parts of a scenario that the candidate takes, by the name in messages."""

    @property
    @abstractmethod
    def place(self) -> str:
        """The place of the candidate in a scenario, in words."""

    @property
    @abstractmethod
    def example(self) -> str:
        """A candidate with a parameter."""

    def scenario(self, base: Scenario, candidate: str, sets: Iterable[str] = ()) -> Scenario:
        """Return a scenario with a candidate and changes. Raises as `changed`."""
        return self.changed(base.with_sets(self.sets(base, candidate)), sets)

    def changed(self, scenario: Scenario, sets: Iterable[str]) -> Scenario:
        """Return a scenario that contains its candidates with changes.

        Raises `ScenarioError`, or `ArgumentValueError` if the changes reach a candidate, name or seed.
        """
        sets = tuple(sets)
        if not sets:
            return scenario
        changed = scenario.with_sets(sets)
        for key, reason in _IDENTITY.items():
            if getattr(changed, key) != getattr(scenario, key):
                raise ArgumentValueError("sets", f"{key}: reaches nothing: {reason}", option="--set")
        before, after = self.part(scenario), self.part(changed)
        for name, part in before.items():
            if after.get(name) != part:
                raise ArgumentValueError(
                    "sets",
                    f"change the {name} under test; write its parameters as in {self.example!r}",
                    option="--set",
                )
        return changed


@dataclass(frozen=True)
class Algorithms(Subject):
    """The algorithm of groups of flows."""

    #: The groups under test.
    groups: tuple[str, ...]

    name = ALGORITHM

    def parse(self, text: Any) -> Candidate:
        """Return an algorithm."""
        return Candidate.parse(text)

    def sets(self, base: Scenario, candidate: str) -> list[str]:
        """Return the algorithm of each group under test."""
        return [f"flows.{group}.cc={candidate}" for group in _algorithms(base) if group in self.groups]

    def part(self, scenario: Scenario) -> Mapping[str, Any]:
        """Return the algorithm of each group under test."""
        every = _algorithms(scenario)
        return {
            f"algorithm of the flows {group!r}": cc for group, cc in every.items() if group in self.groups
        }

    @property
    def place(self) -> str:
        """The flows under test."""
        return f"the algorithm of the flow groups {', '.join(self.groups)}"

    @property
    def example(self) -> str:
        """An algorithm with a parameter."""
        return "aimd(increase=2)"


@dataclass(frozen=True)
class Queues(Subject):
    """The queue of the bottleneck."""

    groups: tuple[str, ...] = ()

    name = QUEUE_DISCIPLINE

    def parse(self, text: Any) -> Candidate:
        """Return a queue."""
        return QueueCandidate.parse(text)

    def sets(self, base: Scenario, candidate: str) -> list[str]:
        """Return the queue. It has the limit of the suite's queue unless it has its own."""
        return [f"{QUEUE}={QueueCandidate(candidate).with_limit(_queue(base)['limit'])}"]

    def part(self, scenario: Scenario) -> Mapping[str, Any]:
        """Return the queue of the bottleneck."""
        return {"queue of the bottleneck": _queue(scenario)}

    @property
    def place(self) -> str:
        """The bottleneck."""
        return "the queue of the bottleneck"

    @property
    def example(self) -> str:
        """A queue with a parameter."""
        return "codel(target=10 ms)"


def _algorithms(scenario: Scenario) -> dict[str, Any]:
    """Return the algorithm of each group of flows, with its parameters."""
    flows = json.loads(scenario.resolved_json)["flows"]
    return {flow["name"]: flow["cc"] for flow in flows if "cc" in flow}


def _queue(scenario: Scenario) -> dict[str, Any]:
    queue: dict[str, Any] = json.loads(scenario.resolved_json)["topology"]["queue"]
    return queue
