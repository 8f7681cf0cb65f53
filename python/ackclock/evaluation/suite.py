"""Suites: named environments, the algorithm left open."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.errors import InputError, Mistake, ScenarioError
from ackclock.scenario import Scenario

#: What can be watched of a group of flows; `score` has the formulas.
_WATCHED = ("share", "group-efficiency", "group-goodput", "completion-time")
_BETTER = ("higher", "lower", "near-one", "reach-one")
#: The form of a label: kind and parameters.
_LABEL = re.compile(r"([\w+-]+)\(\s*(.*?)\s*\)")


@dataclass(frozen=True)
class Watch:
    """A metric that an environment is about, beyond those of every environment."""

    metric: str
    group: str
    label: str
    better: str
    unit: str = ""
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.metric not in _WATCHED:
            raise ValueError(f"watch.metric: {self.metric!r} is none of {', '.join(_WATCHED)}")
        if self.better not in _BETTER:
            raise ValueError(f"watch.better: {self.better!r} is none of {', '.join(_BETTER)}")


@dataclass(frozen=True)
class Environment:
    """A scenario and what it asks."""

    id: str
    title: str
    question: str
    path: Path
    sets: tuple[str, ...]
    #: Whether the flows are meant to get the same.
    fairness: bool
    watch: Watch | None
    #: Where others take part of the link: the groups whose flows are scored, with what is left to them.
    scored: tuple[str, ...] = ()

    def scenario(self, cc: str, test_groups: Iterable[str], sets: Iterable[str] = ()) -> Scenario:
        """Return the scenario with an algorithm in the flows under test.

        Raises `ScenarioError`, or `InputError` where the group to watch is not there.
        """
        base = Scenario.from_file(self.path, self.sets)
        flows = json.loads(base.resolved_json)["flows"]
        groups = [flow["name"] for flow in flows if "cc" in flow]
        if self.watch is not None and self.watch.group not in groups:
            raise InputError(
                f"{self.path}: environment {self.id} watches the flows {self.watch.group!r}; "
                f"there are: {', '.join(groups)}"
            )
        chosen = [f"flows.{group}.cc={cc}" for group in groups if group in set(test_groups)]
        return base.with_sets([*chosen, *sets])


@dataclass(frozen=True)
class Suite:
    """Environments with a version: scores of different versions are not compared."""

    name: str
    version: int
    title: str
    replicates: int
    test_groups: tuple[str, ...]
    panel: tuple[str, ...]
    environments: tuple[Environment, ...]
    #: Goes up whenever the algorithms of the panel or their stored scores change.
    panel_version: int = 1
    #: Where `suite.toml` is.
    folder: Path | None = None

    @classmethod
    def load(cls, name: str) -> Suite:
        """Load a suite by name, or from a folder with a `suite.toml`.

        Raises `InputError` with the names of the suites there are.
        """
        builtin = Path(str(resources.files("ackclock.suites")))
        folder = next(
            (path for path in (builtin / name, Path(name)) if (path / "suite.toml").is_file()), None
        )
        if folder is None:
            known = ", ".join(sorted(path.parent.name for path in builtin.glob("*/suite.toml")))
            raise InputError(
                f"no suite is called {name!r}, and no folder of that name holds a suite.toml; "
                f"there are: {known}"
            )
        path = folder / "suite.toml"
        try:
            return cls._read(folder, tomllib.loads(path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            raise InputError(f"{path}: is not UTF-8 text") from None
        except KeyError as error:
            raise InputError(f"{path}: the key {error} is missing") from None
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"{path}: cannot be read: {error}") from None

    @classmethod
    def _read(cls, folder: Path, tree: dict[str, Any]) -> Suite:
        environments = tuple(
            Environment(
                id=entry["id"],
                title=entry["title"],
                question=entry["question"],
                path=folder / entry["scenario"],
                sets=tuple(entry.get("set", ())),
                fairness=entry.get("fairness", True),
                scored=tuple(tree["test"]) if entry.get("company", False) else (),
                watch=Watch(**entry["watch"]) if "watch" in entry else None,
            )
            for entry in tree["environments"]
        )
        if not environments:
            raise ValueError("environments: there are none")
        if tree["replicates"] < 1:
            raise ValueError(f"replicates: {tree['replicates']} is out of range; must be at least 1")
        return cls(
            name=tree["name"],
            version=tree["version"],
            title=tree["title"],
            replicates=tree["replicates"],
            test_groups=tuple(tree["test"]),
            panel=tuple(tree["panel"]),
            environments=environments,
            panel_version=tree.get("panel_version", 1),
            folder=folder,
        )

    def fingerprint(self, environment: Environment) -> str:
        """Return a short hash of what an environment is; comments and layout of its file do not count."""
        tree = tomllib.loads(environment.path.read_text(encoding="utf-8"))
        parts = [tree, environment.sets, self.test_groups, environment.fairness]
        parts.append(asdict(environment.watch) if environment.watch else None)
        parts += [environment.scored] if environment.scored else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Contender:
    """An algorithm with its parameters, as a command line names it."""

    #: A name such as `new-aimd`, or an inline table such as `{ kind = "aimd", increase = 2 }`.
    text: str

    @classmethod
    def parse(cls, text: str) -> Contender:
        """Take a name, an inline table, or a label such as `aimd(increase=2)`.

        Raises `ScenarioError` with a suggestion.
        """
        text = text.strip()
        if labelled := _LABEL.fullmatch(text):
            kind, parameters = labelled.groups()
            text = f'{{ kind = "{kind}", {parameters} }}' if parameters else kind
        contender = cls(text)
        _ = contender.resolved
        return contender

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The algorithm with every parameter."""
        probe = {
            "schema": 1,
            "duration": "1 s",
            "topology": {"kind": "dumbbell", "rate": "1 Mbit/s", "delay": "1 ms"},
        }
        key = "flows.test.cc"
        try:
            scenario = Scenario.from_dict(
                {**probe, "flows": [{"name": "test", "cc": "aimd"}]}, [f"{key}={self.text}"]
            )
        except ScenarioError as error:
            raise ScenarioError(
                "\n".join(self._mistake(key, mistake) for mistake in error.mistakes)
            ) from None
        cc: dict[str, Any] = json.loads(scenario.resolved_json)["flows"][0]["cc"]
        return cc

    def _mistake(self, key: str, mistake: Mistake) -> str:
        """Return what is wrong with the algorithm, whose parameters are keys below `key`."""
        parameter = mistake.key.removeprefix(key).removeprefix(".")
        if parameter == "kind" and "{" in self.text:
            try:
                tomllib.loads(f"cc = {self.text}")
            except tomllib.TOMLDecodeError:
                return (
                    f"{self.text}: cannot be read; write aimd(increase=2, remaining=0.5), "
                    'with decimal points, or { kind = "aimd", increase = 2 }'
                )
        return f"{self.text}: {f'{parameter}: ' if parameter else ''}{mistake.message}"

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


def _toml(value: bool | float) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"
