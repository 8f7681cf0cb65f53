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
from ackclock.files.documents import as_toml
from ackclock.foreign.complete import OWN_KEYS, described
from ackclock.foreign.describe import Parameter
from ackclock.scenario import Algorithm, Scenario, algorithm_text

#: Where an algorithm is tried.
_PLACE = "flows.test.cc"
#: Characters of an algorithm that messages show.
_LONGEST = 500
#: The form of a label: kind and parameters.
_LABEL = re.compile(r"([\w+-]+)\(\s*(.*?)\s*\)")
#: A rule, told to be one.
_RULE = re.compile(r"\s*rule\s+(.+)", re.DOTALL)
#: A file of one's own, with parameters.
_FILE = re.compile(r"([^\s(){}=]+\.(?:py|so|dylib|dll|rule|bpf\.o)(?::\w+)?)(?:\(\s*(.*?)\s*\))?")


def split_list(text: str) -> list[str]:
    """Return the algorithms that a text names one after the other, with commas between them.

    Commas in parentheses, braces and quotes belong to what is around them.
    """
    parts, depth, quote = [""], 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        depth += (char in "({[") - (char in ")}]") if not quote else 0
        if char == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _table_of(file: str) -> dict[str, str]:
    """Return the table of an algorithm in a file."""
    if file.endswith(".rule"):
        return {"kind": "rule", "file": file}
    if file.endswith(".bpf.o"):
        return {"kind": "bpf", "object": file}
    return {"kind": "python", "source": file} if ".py" in file else {"kind": "library", "path": file}


@dataclass(frozen=True)
class Candidate:
    """An algorithm with its parameters, as a command line names it."""

    #: A name such as `new-aimd`, or an inline table such as `{ kind = "aimd", increase = 2 }`.
    text: str

    @classmethod
    def parse(cls, cc: Algorithm) -> Candidate:
        """Take a name, an inline table, a label such as `aimd(increase=2)`, a file, or a `cc` of `run`.

        A file is read here, once: `my_cc.py:MyCc`, `my_cc.py:MyCc(gain=2)`, `my_cc.so`. Raises
        `ScenarioError` with a suggestion.
        """
        if isinstance(cc, str) and (rule := _RULE.fullmatch(cc)) is not None:
            return cls.from_rule(rule[1])
        given = text = algorithm_text(cc)
        file: str | None = None
        if of_file := _FILE.fullmatch(text):
            file, parameters = of_file.groups()
            key = _table_of(file)
            text = f"{as_toml(key).removesuffix('}')}, {parameters} }}" if parameters else as_toml(key)
        elif labelled := _LABEL.fullmatch(text):
            kind, parameters = labelled.groups()
            text = f'{{ kind = "{kind}", {parameters} }}' if parameters else kind
        candidate = cls(text)
        try:
            _ = candidate.resolved
        except ScenarioError as error:
            raise ScenarioError(str(error).replace(repr(text), repr(given))) from None
        if file and file.endswith(".rule"):
            return cls(as_toml(candidate.resolved))
        return candidate._with_content() if candidate.is_foreign else candidate

    def _with_content(self) -> Candidate:
        """Return the algorithm as it was given, with the content of its file."""
        written = tomllib.loads(f"cc = {self.text}")["cc"] if self.text.startswith("{") else {}
        return Candidate(as_toml({key: self.resolved[key] for key in (*OWN_KEYS[self.kind], *written)}))

    @property
    def kind(self) -> str:
        """The kind of the algorithm."""
        return str(self.resolved["kind"])

    @property
    def is_foreign(self) -> bool:
        """Whether its code is in a file of one's own."""
        return self.kind in OWN_KEYS

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of code from outside."""
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
            mistakes = (f"algorithm {self._named!r}: {self._mistake(mistake)}" for mistake in error.mistakes)
            raise ScenarioError("\n".join(mistakes)) from None
        cc: dict[str, Any] = json.loads(scenario.resolved_json)["flows"][0]["cc"]
        return cc

    @property
    def _named(self) -> str:
        """The text for messages: whatever is long in it is the code."""
        return self.text if len(self.text) <= _LONGEST else f"{self.text[:_LONGEST]}..."

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
        if self.is_foreign:
            defaults = {parameter.name: parameter.default for parameter in self.parameters}
            changed = [
                f"{name}={_toml(cc[name])}" for name, default in defaults.items() if cc[name] != default
            ]
            title = described(self.resolved).name
            return f"{title}({', '.join(changed)})" if changed else title
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
