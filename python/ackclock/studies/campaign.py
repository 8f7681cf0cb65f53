"""Runs a study file: its missing runs, and further replicates for its stopping rule."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ackclock.errors import InputError
from ackclock.metrics.declared import Metric
from ackclock.metrics.shares import metric_named, shares_of
from ackclock.metrics.summary import SUMMARY
from ackclock.running.backend import faults
from ackclock.running.executor import Executor
from ackclock.running.job import Job, Outcome
from ackclock.running.store import Store
from ackclock.running.work import work_off
from ackclock.statistics.estimates import Estimate, resolved_estimate
from ackclock.studies.grid import Grid, Point, sets_of
from ackclock.studies.until import FIRST, STEP


def run_grid(
    grid: Grid,
    store: Store,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Run the missing runs of a study, and record the number of replicates of each point in the store.

    Points are recorded before the first run, with their largest number of replicates. That identifies the
    runs of a study that is running or was killed. The store is claimed, which blocks other writing processes.
    The final runs depend neither on the number of workers nor on earlier interruptions.
    """
    store.claim()
    campaign = Campaign(grid, store, progress)
    _note_points(grid, store, lambda point: point.most)
    work_off(campaign, store, executor=executor, workers=workers)
    if grid.until is not None:
        _note_points(grid, store, lambda point: campaign.replicates[point.number])


def _note_points(grid: Grid, store: Store, replicates: Callable[[Point], int]) -> None:
    store.set_points(
        grid.name,
        (
            (
                point.number,
                point.scenario_hash,
                grid.seed,
                replicates(point),
                json.dumps(point.settings, default=str),
            )
            for point in grid.points
        ),
    )


@dataclass
class _Progress:
    """A running point."""

    point: Point
    jobs: Iterator[Job]
    #: The number of requested replicates.
    asked: int = 0
    #: The number of finished replicates.
    done: int = 0
    #: The values of the stopping rule's metric, by replicate.
    values: dict[int, float] = field(default_factory=dict)
    #: The expected number of further replicates for the stopping rule.
    ahead: int = 0


class Campaign:
    """The runs of a study file as `Work`, in the order of its points. Further replicates come first.

    It contains the running points, and no results.
    """

    def __init__(
        self, grid: Grid, store: Store, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> None:
        self._grid, self._store, self._tell = grid, store, progress
        self._points = iter(grid.points)
        self._asked: deque[tuple[_Progress, Job]] = deque()
        #: The points that wait for a running job. Two points may share a scenario.
        self._waiting: dict[str, list[_Progress]] = {}
        #: The replicates of finished points, by the number of the point.
        self.replicates: dict[int, int] = {}
        self._done = 0
        self._total = sum(self._first(point) for point in grid.points)
        #: The expected number of further runs for the stopping rule.
        self._ahead = 0
        progress(0, self._total)

    def next(self) -> Job | None:
        """Return the next run that is not stored, if any."""
        while True:
            if not self._asked:
                point = next(self._points, None)
                if point is None:
                    return None
                self._ask(_Progress(point, self._grid.jobs(point)), self._first(point))
            progress, job = self._asked.popleft()
            if job.key in self._waiting:
                self._waiting[job.key].append(progress)
            elif self._store.has(job):
                self._note(progress, job.replicate, self._stored_value(job))
            else:
                self._waiting[job.key] = [progress]
                return job

    def left(self) -> int:
        """Return the number of pending runs, and the number of stored ones among them."""
        return self._total - self._done - len(self._waiting)

    def finished(self, job: Job, outcome: Outcome) -> None:
        """Record a run, which finishes its point or adds replicates."""
        value = self._value(outcome)
        for progress in self._waiting.pop(job.key):
            self._note(progress, job.replicate, value)

    def title(self, job: Job) -> str:
        """Return the study with the settings of the job's first point."""
        settings = self._waiting[job.key][0].point.settings
        return f"{job.name}{': with ' * bool(settings)}{', '.join(sets_of(settings))}"

    def _first(self, point: Point) -> int:
        """Return the smallest number of replicates of a point."""
        return point.most if self._grid.until is None else min(point.most, FIRST)

    def _ask(self, progress: _Progress, count: int) -> None:
        progress.asked += count
        # Further replicates of a point come first, to keep the number of open points small.
        self._asked.extendleft(reversed([(progress, next(progress.jobs)) for _ in range(count)]))

    def _note(self, progress: _Progress, replicate: int, value: float) -> None:
        progress.done += 1
        self._done += 1
        until, point = self._grid.until, progress.point
        if until is not None:
            progress.values[replicate] = value
        if progress.done == progress.asked:
            enough: int | None = progress.asked
            needed: int | None = None
            if until is not None and progress.asked < point.most:
                values = [progress.values[number] for number in range(progress.asked)]
                enough, needed = until.enough(values), until.needed(values)
            if enough is None and needed is not None:
                more = min(STEP, point.most - progress.asked)
                self._total += more
                self._expect(progress, max(min(needed, point.most) - progress.asked - more, 0))
                self._ask(progress, more)
            else:
                self._expect(progress, 0)
                self.replicates[point.number] = progress.asked if enough is None else enough
        self._tell(self._done, self._total + self._ahead)

    def _expect(self, progress: _Progress, ahead: int) -> None:
        self._ahead += ahead - progress.ahead
        progress.ahead = ahead

    def _stored_value(self, job: Job) -> float:
        if self._grid.until is None:
            return 0.0
        outcome = self._store.get(replace(job, samples=False))
        assert outcome is not None, "invariant: the store has it"
        return self._value(outcome)

    def _value(self, outcome: Outcome) -> float:
        until = self._grid.until
        if until is None:
            return 0.0
        document = json.loads(outcome.result_json)
        value = until.metric.of(document)
        if value is None:
            raise InputError(
                f"until: {until.metric.name} does not apply to {document['scenario']}: {until.metric.absent}"
            )
        return value


@dataclass(frozen=True)
class PointSummary:
    """A point with the metrics of its replicates."""

    point: Point
    replicates: int
    #: Whether the stopping rule was met. True without a rule.
    met: bool
    #: The estimated number of replicates for a stopping rule that was not met. None if it cannot be met.
    needed: int | None
    #: The number of emulated replicates that missed their times. The metrics include them.
    invalid: int
    #: The metrics by name, in the units of their keys, over the replicates to which each applies.
    metrics: dict[str, Estimate | None]


def summaries(grid: Grid, store: Store) -> Iterator[PointSummary]:
    """Yield the summary of each point of a finished study, in the order of the points."""
    counts = {
        number: count
        for number, count in store.rows("SELECT point, replicates FROM points WHERE study = ?", (grid.name,))
    }
    for point in grid.points:
        count = counts[point.number]
        invalid = 0
        until = grid.until
        wanted = (*SUMMARY, *grid.metrics, *(() if until is None else (until.metric,)))
        found: dict[str, tuple[Metric, list[float]]] = {metric.name: (metric, []) for metric in wanted}
        for _, job in zip(range(count), grid.jobs(point), strict=False):
            outcome = store.get(replace(job, samples=False))
            assert outcome is not None, "invariant: points are noted when their runs are stored"
            document = json.loads(outcome.result_json)
            invalid += bool(faults(document))
            for share in shares_of(document):
                found.setdefault(share.name, (share, []))
            for metric, values in found.values():
                if (value := metric.of(document)) is not None:
                    values.append(value)
        metrics = {
            name: resolved_estimate(values, metric.resolution) if values else None
            for name, (metric, values) in found.items()
        }
        met, needed = True, None
        if until is not None and point.most > 1:
            _, values = found[until.metric.name]
            met = until.enough(values) is not None
            needed = None if met else until.needed(values)
        yield PointSummary(point, count, met, needed, invalid, metrics)


def metrics_of(found: Sequence[PointSummary]) -> list[Metric]:
    """Return the metrics of a study: the summary metrics, then the shares of groups."""
    names = dict.fromkeys(name for summary in found for name in summary.metrics)
    return [metric for name in names if (metric := metric_named(name)) is not None]
