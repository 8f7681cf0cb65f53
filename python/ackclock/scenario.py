"""Scenarios: one configuration each, from a file, a dict or keywords. Rust parses them once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from ackclock import _core
from ackclock.arguments import path_of, texts
from ackclock.errors import ArgumentTypeError, ScenarioError, as_scenario_error
from ackclock.files.documents import as_toml, text_of
from ackclock.files.kinds import hint_for_text
from ackclock.files.reading import JSON, TOML, too_deep

#: An algorithm as Python code gives it.
Algorithm = str | Mapping[str, Any] | type[_core.CongestionControl]

#: The version of scenario files that is written today.
SCHEMA = 2
#: One of `sets`, for messages.
_EXAMPLE = "flows.test.cc.increase=2"
_ALGORITHMS = (
    "give a class that inherits ackclock.CongestionControl, a name such as 'aimd', 'my_cc.py:MyCc', or a dict"
)
#: The beginning of a rule on one line.
_RULE = re.compile(r"\s*\w+(\s+\w+)?\s*=")


class Scenario:
    """A checked scenario.

    Create it with `Scenario.from_file`, `Scenario.from_dict` or `Scenario(**keys)`, with the keys of a
    scenario file. In keywords `schema` is 2 by default: the transport is Linux's unless `transport` names
    another profile. A scenario is immutable and can be pickled.
    """

    def __init__(self, **keys: Any) -> None:
        self._core = _read(_json({"schema": SCHEMA, **keys}), "<keywords>", (), is_json=True)

    @classmethod
    def from_file(
        cls, path: str | PathLike[str], sets: Iterable[str] = (), *, known: bool = False
    ) -> Scenario:
        """Read a TOML file, or JSON by its name. `sets` are `KEY=VALUE` texts, applied in order.

        A setting that reaches no run is an error. `known` leaves this check out, which is several times as
        fast. It is for a grid in which the settings of another, checked cell differ in numbers alone.
        Raises `ScenarioError` with file, line and key of every mistake.
        """
        path = path_of("path", path)
        is_json = path.suffix == ".json"
        try:
            text = text_of(path, JSON if is_json else TOML)
        except OSError as error:
            raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ScenarioError(f"{path}: is not UTF-8 text; a scenario is a TOML file") from None
        # The reader of JSON counts brackets by itself.
        if not is_json and (deep := too_deep(text)):
            raise ScenarioError(f"{path}: cannot be read: {deep}")
        try:
            return cls._wrap(_read(text, str(path), sets, is_json=is_json, known=known))
        except ScenarioError as error:
            if hint := hint_for_text(path, text, "scenario"):
                raise ScenarioError(f"{path}: {hint}") from None
            raise error

    @classmethod
    def from_dict(
        cls, tree: Mapping[str, Any], sets: Iterable[str] = (), *, source: str = "<dict>"
    ) -> Scenario:
        """Take the tree of a scenario file as a dict. `source` is its name in messages."""
        if not isinstance(tree, Mapping):
            raise ArgumentTypeError("tree", f"is of type {type(tree).__name__}, but must be a dict of keys")
        return cls._wrap(_read(_json(tree), source, sets, is_json=True))

    @classmethod
    def _wrap(cls, core: _core.Scenario) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._core = core
        return scenario

    def with_sets(self, sets: Iterable[str]) -> Scenario:
        """Return this scenario with some keys changed: `sets` are `KEY=VALUE` texts, applied in order."""
        try:
            return self._wrap(self._core.with_sets(list(texts("sets", sets, _EXAMPLE))))
        except _core.ScenarioError as error:
            raise as_scenario_error(error) from None

    def with_algorithm(self, cc: Algorithm) -> Scenario:
        """Return this scenario with another algorithm in the flows `test`, or in all if none is called so.

        `cc`: a subclass of `CongestionControl`, a name, `my_cc.py:MyCc`, rule text such as `grow = 1/w`, or
        the dict of an algorithm.
        """
        text = algorithm_text(cc)
        try:
            return self.with_sets([f"flows.{group}.cc={text}" for group in self.groups_under_test])
        except ScenarioError as error:
            # Each mistake appears once, without the text of the algorithm, which may be long.
            told = dict.fromkeys(f"cc: {mistake.message}" for mistake in error.mistakes)
            raise ScenarioError("\n".join(told)) from None

    @property
    def groups(self) -> list[str]:
        """The groups of flows that have an algorithm."""
        return [flow["name"] for flow in self.resolved["flows"] if "cc" in flow]

    @property
    def groups_under_test(self) -> list[str]:
        """The flows `test`, or all that have an algorithm if none are called so."""
        groups = self.groups
        return ["test"] if "test" in groups else groups

    @property
    def name(self) -> str:
        """The name, for people."""
        return self._core.name

    @property
    def hash(self) -> str:
        """The canonical hash: equal for scenarios that give equal results."""
        return self._core.hash

    @property
    def seed(self) -> int:
        """The seed that the file gives."""
        return self._core.seed

    @property
    def is_random(self) -> bool:
        """True if replicates differ."""
        return self._core.is_random

    @property
    def warnings(self) -> list[str]:
        """Warnings: properties to check before trusting a result."""
        return self._core.warnings

    @property
    def resolved_json(self) -> str:
        """The resolved scenario, every default filled in, as canonical JSON."""
        return self._core.resolved_json()

    @property
    def resolved(self) -> dict[str, Any]:
        """The same as a dict that `from_dict` takes."""
        tree: dict[str, Any] = json.loads(self.resolved_json)
        return tree

    @property
    def written(self) -> dict[str, Any]:
        """The scenario as it was written, with the contents of its files, as a dict that `from_dict` takes.

        Settings reach the common keys of its flows in `transport`. In `resolved` every flow has its own keys.
        """
        tree: dict[str, Any] = json.loads(self._core.written_json())
        return tree

    @property
    def fingerprint(self) -> str:
        """A hash that is equal for scenarios with equal compiled plans. Name and seed do not count."""
        return self._core.fingerprint

    def check_capture(self, at: str, flows: Iterable[str] = ()) -> None:
        """Check that packets of these flows can be captured there. Raises `_core.CaptureError`."""
        self._core.check_capture(at, list(flows))

    def describe(self, most: int | None = None) -> dict[str, Any]:
        """Links, flows and random inputs of the resolved scenario, with at most `most` flows per group."""
        described: dict[str, Any] = json.loads(self._core.describe_json(most))
        return described

    def __repr__(self) -> str:
        return f"Scenario({self.name!r}, hash={self.hash!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_written, (self._core.written_json(), self.name)


#: The flows of `probe_scenario`.
PROBED = "test"


def probe_scenario(sets: Iterable[str] = ()) -> Scenario:
    """Return a small scenario to test an algorithm. The flows `PROBED` use it."""
    tree = {
        "schema": SCHEMA,
        "duration": "1 s",
        "topology": {"kind": "dumbbell", "rate": "1 Mbit/s", "delay": "1 ms"},
        "transport": {"profile": "rfc"},
        "flows": [{"name": PROBED, "cc": "reno"}],
    }
    return Scenario.from_dict(tree, sets)


def algorithm_text(cc: Algorithm) -> str:
    """Return an algorithm as a scenario has it. Raises `ScenarioError`, or `ArgumentError` for others."""
    if isinstance(cc, type) and issubclass(cc, _core.CongestionControl):
        from ackclock.foreign.session import class_table

        return as_toml(class_table(cc))
    if isinstance(cc, Mapping):
        return as_toml(dict(cc))
    if not isinstance(cc, str):
        raise ArgumentTypeError("cc", f"is of type {type(cc).__name__}; {_ALGORITHMS}")
    if cc.lstrip().startswith("{") or not _RULE.match(cc):
        return cc.strip()
    try:
        return as_toml(json.loads(_core.rule_json(cc)))
    except _core.ScenarioError as error:
        raise ScenarioError(str(error)) from None


def _from_written(written_json: str, source: str) -> Scenario:
    """Make a scenario that was pickled again."""
    return Scenario._wrap(_read(written_json, source, (), is_json=True))


def _json(tree: Mapping[str, Any]) -> str:
    """Return a dict as JSON: numpy's numbers are numbers, times and paths are texts."""

    def plain(value: Any) -> Any:
        return value.item() if hasattr(value, "item") else str(value)

    return json.dumps(dict(tree), default=plain)


def _read(
    text: str, source: str, sets: Iterable[str], *, is_json: bool, known: bool = False
) -> _core.Scenario:
    of_toml = _core.Scenario.from_toml_known if known else _core.Scenario.from_toml
    read = _core.Scenario.from_json if is_json else of_toml
    try:
        return read(text, source, list(texts("sets", sets, _EXAMPLE)))
    except _core.ScenarioError as error:
        raise as_scenario_error(error) from None
