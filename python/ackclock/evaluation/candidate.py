"""An algorithm under evaluation, as named on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ackclock import _core
from ackclock.errors import Mistake, ScenarioError
from ackclock.files.documents import as_toml, toml_of
from ackclock.foreign.complete import OWN_KEYS, described
from ackclock.foreign.describe import Parameter
from ackclock.scenario import Algorithm, algorithm_text, probe_scenario

#: The key of the algorithm in the probe scenario.
_PLACE = "flows.test.cc"
#: The largest number of characters of an algorithm in messages.
_LONGEST = 500
#: The form of a label: kind and parameters.
_LABEL = re.compile(r"([\w+-]+)\(\s*(.*?)\s*\)")
#: A rule, marked by the word `rule`.
_RULE = re.compile(r"\s*rule\s+(.+)", re.DOTALL)
#: A file name, with optional parameters.
_FILE = re.compile(r"([^\s(){}=]+)(?:\(\s*(.*?)\s*\))?")


@dataclass(frozen=True)
class Candidate:
    """An algorithm with its parameters."""

    #: A name such as `new-aimd`, or an inline table such as `{ kind = "aimd", increase = 2 }`.
    text: str
    #: The name that `distinct` assigns if another candidate has the same label.
    alias: str = ""

    @classmethod
    def parse(cls, cc: Algorithm) -> Candidate:
        """Take a name, an inline table, a label such as `aimd(increase=2)`, a file, or a `cc` of `run`.

        This method reads the file, once: `my_cc.py:MyCc`, `my_cc.py:MyCc(gain=2)`, `my_cc.so`. Raises
        `ScenarioError` with a suggestion.
        """
        if isinstance(cc, str) and (rule := _RULE.fullmatch(cc)) is not None:
            return cls.from_rule(rule[1])
        given = text = algorithm_text(cc)
        of_file = _FILE.fullmatch(text)
        code = _core.kind_of_code(of_file[1]) if of_file else None
        if of_file and code:
            (kind, key), (file, parameters) = code, of_file.groups()
            table = as_toml({"kind": kind, key: file})
            text = f"{table.removesuffix('}')}, {parameters} }}" if parameters else table
        elif labelled := _LABEL.fullmatch(text):
            kind, parameters = labelled.groups()
            text = f'{{ kind = "{kind}", {parameters} }}' if parameters else kind
        candidate = cls(text)
        try:
            _ = candidate.resolved
        except ScenarioError as error:
            raise ScenarioError(str(error).replace(repr(text), repr(given))) from None
        if code and code[0] == "rule":
            return cls(as_toml(candidate.resolved))
        return candidate._with_content() if candidate.is_foreign else candidate

    def _with_content(self) -> Candidate:
        """Return the algorithm with the contents of its file."""
        written = self.written if isinstance(self.written, dict) else {}
        keys = [key for key in (*OWN_KEYS[self.kind], *written) if key in self.resolved]
        return Candidate(as_toml({key: self.resolved[key] for key in keys}))

    @property
    def written(self) -> str | dict[str, Any]:
        """The value of `cc` in a scenario: a name, or a table."""
        return toml_of(f"cc = {self.text}")["cc"] if self.text.startswith("{") else self.text

    @property
    def kind(self) -> str:
        """The kind of the algorithm."""
        return str(self.resolved["kind"])

    @property
    def is_foreign(self) -> bool:
        """Whether its code is in a user-supplied file."""
        return self.kind in OWN_KEYS

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of user-supplied code."""
        return described(self.resolved).parameters if self.is_foreign else ()

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
        try:
            scenario = probe_scenario([f"{_PLACE}={self.text}"])
        except ScenarioError as error:
            mistakes = (f"algorithm {self._named!r}: {self._mistake(mistake)}" for mistake in error.mistakes)
            raise ScenarioError("\n".join(mistakes)) from None
        cc: dict[str, Any] = json.loads(scenario.resolved_json)["flows"][0]["cc"]
        return cc

    @property
    def _named(self) -> str:
        """The text for messages, without the end of long code."""
        return self.text if len(self.text) <= _LONGEST else f"{self.text[:_LONGEST]}..."

    def _mistake(self, mistake: Mistake) -> str:
        """Return a mistake without the key of the probe scenario, which the user does not know."""
        parameter = mistake.key.removeprefix(_PLACE).removeprefix(".")
        if parameter == "kind" and "{" in self.text:
            try:
                toml_of(f"cc = {self.text}")
            except ValueError:
                return (
                    "cannot be read; write aimd(increase=2, remaining=0.5), "
                    'with decimal points, or { kind = "aimd", increase = 2 }'
                )
        return f"{parameter}: {mistake.message}" if parameter else mistake.message

    @cached_property
    def label(self) -> str:
        """A short name: the kind, and the parameters that are not the defaults."""
        return self.alias or self.labelled(described(self.resolved).name if self.is_foreign else self.kind)

    def labelled(self, title: str) -> str:
        """Return `title` with the parameters that are not the defaults."""
        cc = dict(self.resolved)
        kind = cc.pop("kind")
        if self.is_foreign:
            defaults = {parameter.name: parameter.default for parameter in self.parameters}
            changed = [
                f"{name}={_toml(cc[name])}" for name, default in defaults.items() if cc[name] != default
            ]
            return f"{title}({', '.join(changed)})" if changed else title
        defaults = {
            parameter["name"]: parameter["default"]
            for entry in json.loads(_core.list_json("cc"))
            if entry["name"] == kind
            for parameter in entry["parameters"]
        }
        return changed_text(title, cc, defaults)


def changed_text(title: str, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """Return `title` with the values that are not the defaults: `aimd(increase=2)`."""
    changed = [f"{key}={_toml(value)}" for key, value in values.items() if value != defaults.get(key)]
    return f"{title}({', '.join(changed)})" if changed else title


def distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with distinct labels.

    Classes of the same name are labelled by their files, and numbered if the files also have the same name.
    """
    by_file = [
        replace(each, alias=each.labelled(str(each.resolved[OWN_KEYS[each.kind][1]])))
        if each.is_foreign and _is_shared(each, candidates)
        else each
        for each in candidates
    ]
    named: list[Candidate] = []
    for each in by_file:
        same = [other for other in named if other.label.partition(" #")[0] == each.label]
        known = next((other for other in same if other.resolved == each.resolved), None)
        if known is None and same:
            different = {json.dumps(other.resolved, sort_keys=True) for other in same}
            each = replace(each, alias=f"{each.label} #{len(different) + 1}")
        named.append(known or each)
    return named


def _is_shared(candidate: Candidate, others: Sequence[Candidate]) -> bool:
    """Whether another algorithm has the same label."""
    return any(each.label == candidate.label and each.resolved != candidate.resolved for each in others)


def _toml(value: bool | float | str) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"
