"""An algorithm under evaluation, as a command line names it."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ackclock import _core
from ackclock.errors import Mistake, ScenarioError
from ackclock.scenario import Scenario

#: Where an algorithm is tried.
_PLACE = "flows.test.cc"
#: The form of a label: kind and parameters.
_LABEL = re.compile(r"([\w+-]+)\(\s*(.*?)\s*\)")
#: A rule on one line.
_RULE = re.compile(r"rule\s+(.+)", re.DOTALL)


@dataclass(frozen=True)
class Candidate:
    """An algorithm with its parameters, as a command line names it."""

    #: A name such as `new-aimd`, or an inline table such as `{ kind = "aimd", increase = 2 }`.
    text: str

    @classmethod
    def parse(cls, text: str) -> Candidate:
        """Take a name, an inline table, a label such as `aimd(increase=2)`, or `rule` and a rule on one line.

        Raises `ScenarioError` with a suggestion.
        """
        given = text = text.strip()
        if (rule := _RULE.fullmatch(text)) is not None:
            return cls.from_rule(rule[1])
        if labelled := _LABEL.fullmatch(text):
            kind, parameters = labelled.groups()
            text = f'{{ kind = "{kind}", {parameters} }}' if parameters else kind
        candidate = cls(text)
        try:
            _ = candidate.resolved
        except ScenarioError as error:
            raise ScenarioError(str(error).replace(repr(text), repr(given))) from None
        return candidate

    @classmethod
    def from_rule(cls, line: str) -> Candidate:
        """Take a rule on one line, such as `grow = 1/w; cut = w/2`. Raises `ScenarioError` with the place."""
        if not line.strip():
            raise ScenarioError("rule: is empty; give formulas, such as 'grow = 1/w; cut = w/2'")
        try:
            table: dict[str, Any] = json.loads(_core.rule_json(line))
        except _core.ScenarioError as error:
            raise ScenarioError(str(error)) from None
        candidate = cls(f"{{ {', '.join(f'{key} = {json.dumps(value)}' for key, value in table.items())} }}")
        try:
            _ = candidate.resolved
        except ScenarioError as error:
            raise ScenarioError(str(error).replace(f"algorithm {candidate.text!r}", "rule")) from None
        return candidate

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The algorithm with every parameter. Raises `ScenarioError`."""
        probe = {
            "schema": 1,
            "duration": "1 s",
            "topology": {"kind": "dumbbell", "rate": "1 Mbit/s", "delay": "1 ms"},
        }
        try:
            scenario = Scenario.from_dict(
                {**probe, "flows": [{"name": "test", "cc": "aimd"}]}, [f"{_PLACE}={self.text}"]
            )
        except ScenarioError as error:
            mistakes = (f"algorithm {self.text!r}: {self._mistake(mistake)}" for mistake in error.mistakes)
            raise ScenarioError("\n".join(mistakes)) from None
        cc: dict[str, Any] = json.loads(scenario.resolved_json)["flows"][0]["cc"]
        return cc

    def _mistake(self, mistake: Mistake) -> str:
        """Return a mistake without the place of the probe scenario, which the user does not know."""
        parameter = mistake.key.removeprefix(_PLACE).removeprefix(".")
        if parameter == "kind" and "{" in self.text:
            try:
                tomllib.loads(f"cc = {self.text}")
            except tomllib.TOMLDecodeError:
                return (
                    "cannot be read; write aimd(increase=2, remaining=0.5), "
                    'with decimal points, or { kind = "aimd", increase = 2 }'
                )
        return f"{parameter}: {mistake.message}" if parameter else mistake.message

    @cached_property
    def label(self) -> str:
        """A short name: the kind, and the parameters that are not the defaults."""
        cc = dict(self.resolved)
        kind = cc.pop("kind")
        defaults = {
            parameter["name"]: parameter["default"]
            for entry in json.loads(_core.list_json("cc"))
            if entry["name"] == kind
            for parameter in entry["parameters"]
        }
        changed = [f"{key}={_toml(value)}" for key, value in cc.items() if value != defaults.get(key)]
        return f"{kind}({', '.join(changed)})" if changed else str(kind)


def _toml(value: bool | float | str) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"
