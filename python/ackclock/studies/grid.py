"""Study files: a scenario, its varied keys, and the number of replicates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from ackclock.errors import ArgumentValueError, InputError, ScenarioError, sets_called
from ackclock.files.declaration import Place
from ackclock.files.documents import as_toml, read_text, read_toml
from ackclock.files.kinds import hint_for_text
from ackclock.metrics.declared import Metric
from ackclock.running.job import LINUX, SIM, Job
from ackclock.running.reach import require_reached
from ackclock.running.warned import Warned, gathered
from ackclock.scenario import Scenario
from ackclock.studies.keys import NAME, SCHEMA, SEED_END, STUDY
from ackclock.studies.named import every_named
from ackclock.studies.until import DEFAULT_MOST, FIRST, Until

#: Keys that cannot vary because they do not affect runs, with reasons.
_IDENTITY = {
    "name": "runs do not depend on it",
    "seed": "every point has the seed of the study; for more runs of each use `replicates`",
}
#: A larger number of points is treated as a mistake.
_MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class Axis:
    """Keys that change together, and their values, with a row per step."""

    keys: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Point:
    """One scenario of a study."""

    number: int
    #: The settings of the axes, by key.
    settings: Mapping[str, Any]
    scenario_hash: str
    #: The largest number of replicates, which is one for a deterministic simulation.
    most: int


@dataclass(frozen=True)
class _Checked:
    """A point with the warnings of its scenario."""

    point: Point
    warnings: tuple[str, ...]
    #: Equal for points whose compiled plans are equal.
    fingerprint: str

    @property
    def title(self) -> str:
        """The settings of the point."""
        return ", ".join(sets_of(self.point.settings)) or f"point {self.point.number}"


@dataclass(frozen=True)
class Grid:
    """A checked study file."""

    path: Path
    name: str
    scenario: Scenario
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]
    until: Until | None
    seed: int
    samples: str
    #: The backend of the runs.
    backend: str = SIM
    #: Warnings about results, with the affected points.
    warnings: tuple[Warned, ...] = ()
    #: The metrics of tables and charts. Empty for the usual ones.
    metrics: tuple[Metric, ...] = ()

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        replicates: int | None = None,
        until: str | None = None,
        samples: str | None = None,
        metrics: Sequence[str] = (),
        backend: str = SIM,
    ) -> Grid:
        """Read a study file. `replicates`, `until`, `samples` and `metrics` replace the values of the file.

        Raises `InputError` or `ScenarioError` with file and key.
        """
        path = Path(path)
        return cls._of(path, _with(_read(path), until), replicates, samples, metrics, backend)

    @classmethod
    def of(
        cls,
        table: Mapping[str, Any],
        *,
        replicates: int | None = None,
        until: str | None = None,
        samples: str | None = None,
        metrics: Sequence[str] = (),
        backend: str = SIM,
        source: str = "<dict>",
    ) -> Grid:
        """Take the table of a study file as a dict. Paths of scenario files are relative to this folder.

        `source` is the name in messages.

        Raises `InputError` or `ScenarioError` with the key.
        """
        path = Path(source)
        _check(path, table)
        table = _with({"name": "study", **table}, until)
        return cls._of(path, table, replicates, samples, metrics, backend)

    @classmethod
    def _of(
        cls,
        path: Path,
        table: Mapping[str, Any],
        replicates: int | None,
        samples: str | None,
        metrics: Sequence[str],
        backend: str,
    ) -> Grid:
        sets, read = table.get("set", ()), partial(_scenario, path, table)
        with sets_called(f"{path}: set:"):
            scenario = read(sets)
        axes = _axes(path, table)
        until = _until(path, table, scenario)
        most = _replicates(path, table, until, replicates)
        kept = table.get("samples", "first") if samples is None else samples
        seed = table.get("seed", scenario.seed)
        if not 0 <= seed < SEED_END:
            _fail(path, "seed", f"is {seed}, but must be at least 0 and below 2^63")
        checked = list(_points(path, scenario, axes, most, backend))
        points = tuple(each.point for each in checked)
        with sets_called(f"{path}: set:"):
            require_varied(sets, read, points)
        return cls(
            path,
            _name(path, table),
            scenario,
            axes,
            points,
            until,
            seed,
            kept,
            backend,
            (*gathered((each.title, each.warnings) for each in checked), *_equal_points(checked)),
            _metrics(path, table, scenario, metrics),
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that vary, in the order of the file."""
        return tuple(key for axis in self.axes for key in axis.keys)

    def jobs(self, point: Point) -> Iterator[Job]:
        """Yield the job of each replicate of a point."""
        scenario = self.scenario.with_sets(sets_of(point.settings))
        resolved = scenario.resolved_json
        for replicate in range(point.most):
            yield Job(
                name=self.name,
                scenario_json=resolved,
                scenario_hash=point.scenario_hash,
                seed=self.seed,
                replicate=replicate,
                backend=self.backend,
                samples=self.samples == "all" or (self.samples == "first" and replicate == 0),
            )


def _with(table: dict[str, Any], until: str | None) -> dict[str, Any]:
    """Return the table of a study with its stopping rule replaced by an option."""
    if until is None:
        return table
    try:
        Until.parse(until)
    except InputError as error:
        raise ArgumentValueError("until", str(error)) from None
    return {**table, "until": until}


def _read(path: Path) -> dict[str, Any]:
    if kind := hint_for_text(path, read_text(path), "study"):
        raise InputError(f"{path}: {kind}")
    table = read_toml(path)
    _check(path, table)
    return table


def _check(path: Path, table: Mapping[str, Any]) -> None:
    STUDY.check(table, Place(str(path)))
    if table.get("schema", SCHEMA) != SCHEMA:
        _fail(path, "schema", f"is {table['schema']}; this version of ackclock reads {SCHEMA}")


def _scenario(path: Path, table: Mapping[str, Any], sets: Sequence[str]) -> Scenario:
    given = table["scenario"]
    if isinstance(given, str):
        return Scenario.from_file(path.parent / given, sets)
    return Scenario.from_dict(given, sets, source=f"{path}: scenario")


def _axes(path: Path, table: Mapping[str, Any]) -> tuple[Axis, ...]:
    axes = [
        Axis((key,), tuple((value,) for value in _values(path, f"grid.{key}", values)))
        for key, values in _flat(table.get("grid", {}))
    ]
    for index, group in enumerate(table.get("together", ())):
        name = f"together[{index}]"
        columns = {key: _values(path, f"{name}.{key}", values) for key, values in _flat(group)}
        if len({len(values) for values in columns.values()}) > 1:
            lengths = ", ".join(f"{key} {len(values)}" for key, values in columns.items())
            _fail(path, name, f"must have as many values for each key; there are: {lengths}")
        axes.append(Axis(tuple(columns), tuple(zip(*columns.values(), strict=True))))
    keys = [key for axis in axes for key in axis.keys]
    for key in keys:
        if keys.count(key) > 1:
            _fail(path, key, "varies twice; each key belongs to one axis")
        if key in _IDENTITY:
            _fail(path, key, f"reaches nothing: {_IDENTITY[key]}")
    return tuple(axes)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys: `a.b = [..]` is `"a.b" = [..]`."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _values(path: Path, key: str, values: Any) -> list[Any]:
    if not isinstance(values, list) or not values:
        _fail(path, key, f"is {as_toml(values)}, but must be a list of at least one value")
    return values


def _until(path: Path, table: Mapping[str, Any], scenario: Scenario) -> Until | None:
    if "until" not in table:
        return None
    try:
        until = Until.parse(table["until"])
        every_named((until.metric.name,), scenario.groups)
        return until
    except InputError as error:
        _fail(path, "until", str(error))


def _metrics(
    path: Path, table: Mapping[str, Any], scenario: Scenario, option: Sequence[str]
) -> tuple[Metric, ...]:
    try:
        return every_named(option or table.get("metrics", ()), scenario.groups)
    except InputError as error:
        if option:
            raise ArgumentValueError("metrics", str(error), option="--metric") from None
        _fail(path, "metrics", str(error))


def _replicates(path: Path, table: Mapping[str, Any], until: Until | None, option: int | None) -> int:
    least, default = (1, 1) if until is None else (FIRST, DEFAULT_MOST)
    most: int = table.get("replicates", default) if option is None else option
    if most < least:
        why = "" if until is None else ", the number that `until` checks first"
        what = f"is {most}, but must be at least {least}{why}"
        if option is not None:
            raise ArgumentValueError("replicates", what)
        _fail(path, "replicates", what)
    return most


def _name(path: Path, table: Mapping[str, Any]) -> str:
    """Return the name, which is also the name of a folder."""
    name: str = table.get("name", path.stem)
    if NAME.fullmatch(name) is None:
        hint = "" if "name" in table else "; the study has no name, so this is the name of the file"
        _fail(
            path,
            "name",
            f"is {name!r}, but may hold letters, digits, '_', then also '-', '.' and spaces{hint}",
        )
    return name


def _points(
    path: Path, scenario: Scenario, axes: Sequence[Axis], most: int, backend: str
) -> Iterator[_Checked]:
    count = math.prod(len(axis.rows) for axis in axes)
    if count > _MOST_POINTS:
        _fail(path, "grid", f"has {count} points; at most {_MOST_POINTS} are possible")
    for number, steps in enumerate(itertools.product(*(axis.rows for axis in axes))):
        settings = {
            key: value
            for axis, row in zip(axes, steps, strict=True)
            for key, value in zip(axis.keys, row, strict=True)
        }
        try:
            changed = scenario.with_sets(sets_of(settings))
        except ScenarioError as error:
            raise ScenarioError("\n".join(_of_point(path, settings, error))) from None
        replicates = most if changed.is_random or backend == LINUX else 1
        point = Point(number, settings, changed.hash, replicates)
        yield _Checked(point, tuple(changed.warnings), changed.fingerprint)


def require_varied(
    sets: Sequence[str], read: Callable[[Sequence[str]], Scenario], points: Sequence[Point]
) -> None:
    """Raise `ScenarioError` for a change of the scenario that the settings of every point replace.

    `read` returns the scenario with some of the changes.
    """
    require_reached(
        sets,
        read,
        lambda scenario: (scenario.with_sets(sets_of(point.settings)) for point in points),
        "the grid replaces it at every point",
    )


def _equal_points(checked: Iterable[_Checked]) -> Iterator[Warned]:
    """Yield a warning for points with identical runs."""
    alike: dict[str, list[str]] = {}
    for each in checked:
        alike.setdefault(each.fingerprint, []).append(each.title)
    for titles in alike.values():
        if len(titles) > 1:
            yield Warned("these points are the same run, as their compiled plans are equal", tuple(titles))


def _of_point(path: Path, settings: Mapping[str, Any], error: ScenarioError) -> Iterator[str]:
    """Yield the mistakes of a point: in one of its settings, or in the resulting scenario."""
    for mistake in error.mistakes:
        if mistake.set is not None:
            yield mistake.text(f"{path}: grid:")
        else:
            yield f"{path}: grid: with {', '.join(sets_of(settings))}: {mistake.text()}"
    if not error.mistakes:
        yield f"{path}: grid: with {', '.join(sets_of(settings))}: {error}"


def sets_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the settings of a point as `KEY=VALUE`."""
    return [f"{key}={as_toml(value)}" for key, value in settings.items()]


def _fail(path: Path, key: str, what: str) -> NoReturn:
    raise InputError(f"{path}: {key}: {what}")


def plain(value: Any) -> Any:
    """Return a setting as a cell: numbers and texts unchanged, all else as in a study file."""
    return value if isinstance(value, (int, float, str)) else as_toml(value)
