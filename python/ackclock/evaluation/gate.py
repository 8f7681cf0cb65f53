"""A gate for continuous integration: conditions on changes since a baseline."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.errors import InputError
from ackclock.evaluation.score import METRICS, WATCH, Scoreboard
from ackclock.evaluation.suite import Suite
from ackclock.files.declaration import SETS, ListOf, MapOf, Number, Place, Table, Text, Type, Whole
from ackclock.files.documents import read_json
from ackclock.statistics.estimates import Estimate, paired_difference

_FORM = re.compile(
    r"(?:([\w.-]+)\s*/\s*)?([\w-]+)\s*([<>])\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(%?)"
)
#: The largest possible change of bounded metrics, in their units.
_MOST_CHANGE = {"loss_rate": 100.0, "delay_score": 100.0, "jain_index": 1.0}
_FILE = "scoreboard.json"
_RENAMED = {"contenders": "candidates", "contender": "candidate"}


def _part(required: Mapping[str, Type]) -> Table:
    """Return a table of a scoreboard with the keys that the gate reads."""
    return Table("a scoreboard", required, is_open=True, renamed=_RENAMED)


#: The parts of a baseline's scoreboard that the gate reads.
_BOARD = _part(
    {
        "suite": _part({"name": Text(), "version": Whole()}),
        "seed": Whole(),
        "sets": SETS,
        "candidates": ListOf(_part({"label": Text()}), 1),
        "environments": ListOf(
            _part(
                {
                    "id": Text(),
                    "scores": ListOf(
                        _part(
                            {
                                "candidate": Text(),
                                "metrics": MapOf(_part({"values": ListOf(Number())})),
                            }
                        )
                    ),
                }
            )
        ),
    }
)


@dataclass(frozen=True)
class Condition:
    """A condition for failure: a change of a metric below or above a limit."""

    text: str
    metric: str
    #: The id of an environment, or None for all environments with the metric.
    environment: str | None
    below: bool
    limit: float
    #: Whether the limit is a percentage of the baseline. Otherwise it has the unit of the metric.
    relative: bool

    @classmethod
    def parse(cls, text: str, suite: Suite) -> Condition:
        """Read `[ENVIRONMENT/]METRIC < NUMBER [%]`. Raises `InputError` with a suggestion."""
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise InputError(
                f"--fail-if {text!r}: expected [ENVIRONMENT/]METRIC < or > NUMBER [%], as in 'goodput < -2 %'"
            )
        environment, metric, sign, limit, percent = found.groups()
        place = Place(f"--fail-if {text!r}")
        place.require(metric, METRICS, "metric")
        with_metric = {
            entry.id: (entry.fairness or metric != "jain_index")
            and (entry.watch is not None or metric != WATCH)
            for entry in suite.environments
        }
        if environment is not None:
            place.require(environment, with_metric, "environment")
        if not any(has for name, has in with_metric.items() if environment in (None, name)):
            raise InputError(f"--fail-if {text!r}: no such environment of suite {suite.name} has {metric}")
        condition = cls(text.strip(), metric, environment, sign == "<", float(limit), percent == "%")
        if reach := condition._out_of_reach:
            raise InputError(f"--fail-if {text!r}: can never fail: {reach}")
        return condition

    @property
    def _out_of_reach(self) -> str:
        """The reason why no change can exceed the limit, or an empty text."""
        most = _MOST_CHANGE.get(self.metric, math.inf)
        if self.relative:
            nothing = self.below and self.limit <= -100 and self.metric != WATCH
            return "nothing falls by more than 100 %" if nothing else ""
        beyond = self.limit <= -most if self.below else self.limit >= most
        return f"{self.metric} changes by at most {most:g}" if beyond else ""


@dataclass(frozen=True)
class Check:
    """A condition in one environment."""

    condition: Condition
    environment: str
    heading: str
    #: The algorithm minus the baseline, in percent or in the unit of the metric.
    change: Estimate

    @property
    def failed(self) -> bool:
        """Whether the mean exceeds the limit, and the paired interval excludes zero."""
        if self.condition.below:
            beyond = self.change.mean < self.condition.limit
        else:
            beyond = self.change.mean > self.condition.limit
        return beyond and self.change.excludes_zero

    def __str__(self) -> str:
        unit = " %" if self.condition.relative else ""
        interval = (
            "nothing random"
            if self.change.low is None
            else f"95 % interval {self.change.low:+.3g} to {self.change.high:+.3g}{unit}"
        )
        return (
            f"{self.environment}/{self.condition.metric} ({self.heading}): changed by "
            f"{self.change.mean:+.3g}{unit} ({interval})"
        )


@dataclass(frozen=True)
class Baseline:
    """The first candidate of an earlier evaluation."""

    path: Path
    #: Name and version, in words.
    suite: str
    seed: int
    sets: list[str]
    #: Values per replicate, by environment and metric.
    values: dict[str, dict[str, list[float]]]

    @classmethod
    def load(cls, folder: str | Path) -> Baseline:
        """Read the scoreboard of a folder that `evaluate` left. Raises `InputError`."""
        path = Path(folder) / _FILE
        if not path.exists():
            raise InputError(f"--baseline {folder}: there is no {_FILE}; `ackclock evaluate` writes it")
        try:
            board = read_json(path)
            _BOARD.check(board, Place(str(path)))
        except InputError as error:
            raise InputError(f"{error}; it is not a scoreboard of this version of ackclock") from None
        label = board["candidates"][0]["label"]
        values = {}
        for entry in board["environments"]:
            place = Place(str(path), f"environments[{entry['id']}].scores")
            place.require(label, [row["candidate"] for row in entry["scores"]], "candidate")
            row = next(row for row in entry["scores"] if row["candidate"] == label)
            values[entry["id"]] = {name: list(metric["values"]) for name, metric in row["metrics"].items()}
        suite = f"{board['suite']['name']} version {board['suite']['version']}"
        return cls(path, suite, board["seed"], list(board["sets"]), values)

    def require(self, suite: Suite, seed: int, sets: Sequence[str]) -> None:
        """Raise `InputError` unless the baseline has the same environments and the same random draws."""
        for what, theirs, ours, hint in (
            ("suite", self.suite, f"{suite.name} version {suite.version}", "run the baseline again"),
            ("seed", self.seed, seed, f"--seed {self.seed} gives the same random draws"),
            ("--set", self.sets, list(sets), "give both the same"),
            (
                "environments",
                sorted(self.values),
                sorted(environment.id for environment in suite.environments),
                "run the baseline again",
            ),
        ):
            if theirs != ours:
                raise InputError(f"{self.path}: the baseline has {what} {theirs}, this is {ours}; {hint}")

    def check(self, board: Scoreboard, conditions: Sequence[Condition]) -> tuple[Check, ...]:
        """Check the first candidate of a scoreboard against the baseline.

        Compares the common replicates. Raises `InputError` for a single random replicate.
        """
        checks = []
        for condition in conditions:
            for result in board.results:
                name = result.environment.id
                score = next((s for s in result.scores[0] if s.metric.name == condition.metric), None)
                if score is None or condition.environment not in (None, name):
                    continue
                before = self.values[name].get(condition.metric)
                if not before:
                    raise InputError(
                        f"{self.path}: has no {condition.metric} in {name}; run the baseline again"
                    )
                count = min(len(before), len(score.values))
                if count == 1 and not result.exact:
                    raise InputError(
                        f"--fail-if {condition.text!r}: {name} is random, and one replicate cannot show "
                        "significance; use --replicates 2 or more"
                    )
                change = _change(score.values[:count], before[:count], relative=condition.relative)
                if math.isnan(change.mean):
                    raise InputError(
                        f"--fail-if {condition.text!r}: {condition.metric} of {name} is not a number"
                    )
                checks.append(Check(condition, name, score.metric.heading, change))
        return tuple(checks)


def gate_json(baseline: Baseline, checks: Sequence[Check]) -> dict[str, Any]:
    """Return the result of the gate. A relative change from zero is null."""
    return {
        "baseline": str(baseline.path.parent),
        "passed": not any(check.failed for check in checks),
        "checks": [
            {
                "condition": check.condition.text,
                "environment": check.environment,
                "metric": check.condition.metric,
                "unit": "%" if check.condition.relative else check.heading,
                "change": _finite(check.change.mean),
                "low": _finite(check.change.low),
                "high": _finite(check.change.high),
                "failed": check.failed,
            }
            for check in checks
        ],
    }


def _change(ours: Sequence[float], before: Sequence[float], *, relative: bool) -> Estimate:
    change = paired_difference(ours, before)
    if not relative:
        return change
    whole = abs(math.fsum(before) / len(before))
    ends = (change.mean, change.low, change.high)
    mean, low, high = (None if end is None else _per_cent(end, whole) for end in ends)
    assert mean is not None, "a difference has a mean"
    return Estimate(mean, low, high, change.count)


def _per_cent(part: float, whole: float) -> float:
    """Return a percentage, which is infinite for a whole of zero."""
    if whole:
        return 100 * part / whole
    return math.copysign(math.inf, part) if part else 0.0


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
