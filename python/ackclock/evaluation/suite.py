"""Suites of named environments without an algorithm under test."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from ackclock.errors import InputError, ScenarioError
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.queues import QUEUE
from ackclock.evaluation.subject import ALGORITHM, QUEUE_DISCIPLINE, SUBJECTS, Algorithms, Queues, Subject
from ackclock.files.declaration import SETS, Flag, ListOf, Number, Place, Table, Text, Whole
from ackclock.files.documents import read_json, read_toml
from ackclock.running.warned import Warned, gathered
from ackclock.scenario import Scenario
from ackclock.text.suggest import hint

#: The metrics that can be watched in a group of flows. `score` defines them.
_OF_FLOWS = (
    "share",
    "group-efficiency",
    "group-goodput",
    "completion-time",
    "segments-sent",
    "loss-rate",
    "queue-delay",
)
_BETTER = ("higher", "lower", "near-one", "reach-one")
#: The metrics that can be watched in flow arrivals, which have no fair share.
_OF_ARRIVALS = (
    "group-goodput",
    "completion-time",
    "completion-p95",
    "segments-sent",
    "loss-rate",
    "queue-delay",
)
_ARRIVALS = ("arrivals", "web", "page")
#: The metrics that can be watched in flows whose data a client plays.
_OF_PLAYED = (*_OF_FLOWS, "completion-p95", "late-rate", "stalled-time")
_PLAYED = ("chunks", "video")
#: The metrics that can be watched in clients that stream.
_OF_STREAMED = (*_OF_ARRIVALS, "bit-rate", "stalled-time", "startup-delay")
_STREAMED = ("abr",)
#: The metrics that can be watched in datagrams, without and with a deadline.
_OF_DATAGRAMS = ("loss-rate", "packets-lost", "delay-p99")
_OF_RTP = (*_OF_DATAGRAMS, "lost-or-late-rate")
_WATCHED = tuple(dict.fromkeys((*_OF_PLAYED, *_OF_STREAMED, *_OF_RTP)))
#: The traffic of finite flows.
_FINITE = ("transfer", *_ARRIVALS, *_STREAMED)
#: The form of an id, which conditions of the gate can name.
_ID = re.compile(r"[\w.-]+")
_FILE = "suite.toml"

_ENVIRONMENT = Table(
    "an environment",
    {"id": Text(), "title": Text(), "question": Text(), "scenario": Text()},
    {
        "set": SETS,
        "fairness": Flag(),
        "company": Flag(),
        "watch": Table(
            "a watch",
            {
                "metric": Text(_WATCHED),
                "group": Text(),
                "label": Text(),
                "better": Text(_BETTER),
            },
            {"unit": Text(), "scale": Number()},
        ),
    },
)
_SUITE = Table(
    "a suite",
    {
        "name": Text(),
        "version": Whole(1),
        "title": Text(),
        "replicates": Whole(1),
        "panel": ListOf(Text(), 1),
        "environments": ListOf(_ENVIRONMENT, 1),
    },
    {"test": ListOf(Text(), 1), "subject": Text(SUBJECTS), "panel_version": Whole(1)},
)


@dataclass(frozen=True)
class Watch:
    """The metric that an environment watches in addition to the common metrics."""

    metric: str
    group: str
    label: str
    better: str
    unit: str = ""
    scale: float = 1.0


@dataclass(frozen=True)
class Neighbours:
    """The flows of another algorithm that share the link with the flows under test."""

    rival: Candidate
    #: The number of flows that run it, and the number of all flows.
    of_rival: int
    flows: int


@dataclass(frozen=True)
class Environment:
    """A scenario and its question."""

    id: str
    title: str
    question: str
    path: Path
    sets: tuple[str, ...]
    #: Whether the flows should get equal goodput.
    fairness: bool
    watch: Watch | None
    #: The groups under test if other traffic shares the link. Their score refers to the remaining capacity.
    scored: tuple[str, ...] = ()

    @cached_property
    def base(self) -> Scenario:
        """The scenario of the suite. Raises `ScenarioError`."""
        return Scenario.from_file(self.path, self.sets)

    @cached_property
    def traffic(self) -> dict[str, str]:
        """The kind of traffic of each group of flows with an algorithm, by name."""
        return {name: kind for name, (kind, has_cc) in self._groups.items() if has_cc}

    @cached_property
    def _groups(self) -> dict[str, tuple[str, bool]]:
        """The kind of traffic of each group, and whether it runs an algorithm, by name."""
        flows = json.loads(self.base.resolved_json)["flows"]
        return {flow["name"]: (flow["traffic"]["kind"], "cc" in flow) for flow in flows}

    def scenario(self, candidate: str, subject: Subject, sets: Iterable[str] = ()) -> Scenario:
        """Return the scenario with a candidate.

        Raises `ScenarioError`, or `InputError` if `sets` change the candidate.
        """
        return subject.scenario(self.base, candidate, sets)

    def neighbours(self, subject: Subject, sets: Iterable[str] = ()) -> Neighbours | None:
        """Return the competing flows whose share is watched, or None.

        There are none if the share is not another algorithm's, or if a third group shares the link.
        """
        watch, under_test = self.watch, set(subject.groups)
        if watch is None or watch.metric != "share" or not under_test or watch.group in under_test:
            return None
        flows = json.loads(self.base.with_sets(sets).resolved_json)["flows"]
        if any(flow["name"] not in {watch.group, *under_test} for flow in flows):
            return None
        watched = next(flow for flow in flows if flow["name"] == watch.group)
        return Neighbours(
            Candidate.parse(watched["cc"]), watched["count"], sum(flow["count"] for flow in flows)
        )

    def require_groups(self, place: Place, subject: Subject) -> None:
        """Raise `InputError` unless there is something under test and the watched metric exists."""
        under_test = set(subject.groups)
        if isinstance(subject, Queues):
            for text in self.sets:
                key = text.partition("=")[0].strip()
                if key.startswith(QUEUE) and key != f"{QUEUE}.limit":
                    place.at("set").fail(
                        f"{text}: has no effect: the bottleneck gets the queue that is evaluated"
                    )
        elif not under_test & self.traffic.keys():
            place.fail(
                f"has no flows under test: `test` names {', '.join(sorted(under_test))}; the groups of "
                f"{self.path} that run an algorithm: {', '.join(self.traffic) or 'none'}"
            )
        for text in self.sets:
            key = text.partition("=")[0].strip()
            for group in under_test:
                if f"{key}.".startswith(f"flows.{group}.cc."):
                    place.at("set").fail(
                        f"{text}: has no effect: the flows {group!r} get the algorithm that is evaluated"
                    )
        if self.watch is not None:
            self._require_watched(self.watch, place.at("watch"))

    def _require_watched(self, watch: Watch, place: Place) -> None:
        """Raise `InputError` unless the watched group exists and has the metric."""
        place.at("group").require(watch.group, self._groups, "group of flows")
        kind, has_cc = self._groups[watch.group]
        there_are: tuple[str, ...]
        if not has_cc:
            what, there_are = "datagrams", _OF_RTP if kind == "rtp" else _OF_DATAGRAMS
        elif kind in _ARRIVALS:
            what, there_are = "flow arrivals", _OF_ARRIVALS
        elif kind in _STREAMED:
            what, there_are = "streams", _OF_STREAMED
        elif kind in _PLAYED:
            what, there_are = "played flows", _OF_PLAYED
        else:
            what, there_are = "flows", _OF_FLOWS
        if watch.metric not in there_are:
            place.at("metric").fail(
                f"{watch.metric} does not apply to {what} such as {watch.group!r}; "
                f"there are: {', '.join(there_are)}"
            )
        if has_cc and kind not in _FINITE and watch.metric == "completion-time":
            place.at("metric").fail(
                f"the flows {watch.group!r} never complete, as their traffic is {kind}; "
                f"there are: {', '.join(name for name in there_are if name != watch.metric)}"
            )


def _subject(tree: dict[str, Any], place: Place) -> Subject:
    """Return the subject of a suite. Raises `InputError` unless it fits the groups under test."""
    groups = tree.get("test")
    if tree.get("subject", ALGORITHM) == QUEUE_DISCIPLINE:
        company = [entry["id"] for entry in tree["environments"] if "company" in entry]
        if company:
            there = Place(place.file, f"environments[{company[0]}]")
            there.at("company").fail("applies to flows under test, but this suite tests queues")
        if groups is not None:
            place.at("test").fail("names flows under test, but this suite tests queues; remove the key")
        return Queues()
    if groups is None:
        place.at("test").fail("is missing; it names the groups of flows under test")
    return Algorithms(tuple(groups))


@dataclass(frozen=True)
class Suite:
    """A versioned set of environments. Scores of different versions are not comparable."""

    name: str
    version: int
    title: str
    replicates: int
    subject: Subject
    panel: tuple[str, ...]
    environments: tuple[Environment, ...]
    #: The version of the panel. It increases when its algorithms or their stored scores change.
    panel_version: int = 1
    #: The folder of `suite.toml`.
    folder: Path | None = None

    @classmethod
    def load(cls, name: str) -> Suite:
        """Load a suite by name, or from a folder with a `suite.toml`.

        Raises `InputError` with file and key, or with the names of all suites. Raises `ScenarioError` for the
        scenario of an environment.
        """
        builtin = Path(str(resources.files("ackclock.suites")))
        folder = next((path for path in (builtin / name, Path(name)) if (path / _FILE).is_file()), None)
        if folder is None:
            known = sorted(path.parent.name for path in builtin.glob(f"*/{_FILE}"))
            raise InputError(
                f"no suite is called {name!r}, and no folder of that name has a {_FILE}; {hint(name, known)}"
            )
        place, tree = Place(str(folder / _FILE)), read_toml(folder / _FILE)
        _SUITE.check(tree, place)
        suite = cls._read(folder, tree, _subject(tree, place))
        suite._require_groups(place)
        return suite

    @classmethod
    def _read(cls, folder: Path, tree: dict[str, Any], subject: Subject) -> Suite:
        environments = tuple(
            Environment(
                id=entry["id"],
                title=entry["title"],
                question=entry["question"],
                path=folder / entry["scenario"],
                sets=tuple(entry.get("set", ())),
                fairness=entry.get("fairness", True),
                scored=tuple(tree.get("test", ())) if entry.get("company", False) else (),
                watch=Watch(**entry["watch"]) if "watch" in entry else None,
            )
            for entry in tree["environments"]
        )
        return cls(
            name=tree["name"],
            version=tree["version"],
            title=tree["title"],
            replicates=tree["replicates"],
            subject=subject,
            panel=tuple(tree["panel"]),
            environments=environments,
            panel_version=tree.get("panel_version", 1),
            folder=folder,
        )

    def _require_groups(self, place: Place) -> None:
        """Raise `InputError` for unknown names of environments, algorithms and flows."""
        ids = [environment.id for environment in self.environments]
        groups: set[str] = set()
        for environment in self.environments:
            there = Place(place.file, f"environments[{environment.id}]")
            if _ID.fullmatch(environment.id) is None:
                there.at("id").fail("may hold letters, digits, '_', '-' and '.'")
            if ids.count(environment.id) > 1:
                there.at("id").fail("there are two environments of this id")
            try:
                groups |= environment.traffic.keys()
            except ScenarioError as error:
                raise ScenarioError(f"{place.file}: environments[{environment.id}]: {error}") from None
        for group in self.subject.groups:
            place.at("test").require(group, groups, "group of flows")
        for environment in self.environments:
            there = Place(place.file, f"environments[{environment.id}]")
            environment.require_groups(there, self.subject)
        for text in self.panel:
            try:
                self.subject.parse(text)
            except ScenarioError as error:
                raise ScenarioError(f"{place.file}: panel: {error}") from None

    def joined(self, other: Suite) -> Suite:
        """Return this suite with the environments of another one as well, without a folder.

        Raises `InputError` for two environments of the same id.
        """
        ids = {environment.id for environment in self.environments}
        for environment in other.environments:
            if environment.id in ids:
                raise InputError(f"suites {self.name} and {other.name}: both have {environment.id!r}")
        groups = tuple(dict.fromkeys((*self.subject.groups, *other.subject.groups)))
        return replace(
            self,
            name=f"{self.name}+{other.name}",
            subject=Algorithms(groups),
            environments=(*self.environments, *other.environments),
            folder=None,
        )

    def warnings(self, candidates: Iterable[Candidate]) -> tuple[Warned, ...]:
        """Return the distinct warnings of scenarios with candidates, each with its environments."""
        every = tuple(candidates)
        return gathered(
            (each.id, [text for one in every for text in each.scenario(one.text, self.subject).warnings])
            for each in self.environments
        )

    def fingerprint(self, environment: Environment) -> str:
        """Return a short hash of an environment, independent of comments and layout of its file."""
        read = read_json if environment.path.suffix == ".json" else read_toml
        tree = read(environment.path)
        parts = [tree, environment.sets, self.subject.groups or self.subject.name, environment.fairness]
        parts.append(asdict(environment.watch) if environment.watch else None)
        parts += [environment.scored] if environment.scored else []
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
