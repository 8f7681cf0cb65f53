"""Studies and queries in Python: polars frames, units in the names of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.arguments import optional_number, path_of
from ackclock.errors import ArgumentTypeError, ArgumentValueError, InputError
from ackclock.metrics.frames import frame_of
from ackclock.metrics.quantities import with_numbers
from ackclock.running.executor import Executor
from ackclock.running.store import Store
from ackclock.running.warned import Warned
from ackclock.studies.campaign import PointSummary, metrics_of, run_grid, summaries
from ackclock.studies.grid import Grid, plain
from ackclock.studies.queries import answer, runs
from ackclock.text.suggest import hint

if TYPE_CHECKING:
    import polars

    from ackclock.page.plots import Plot
    from ackclock.studies.charts import Drawn

#: Charts in a notebook.
_PICTURES = 2
#: Where commands keep their results, a folder each.
OUT = Path("ackclock-out")


@dataclass(frozen=True)
class StudyResult:
    """A study that was run. It can be pickled."""

    name: str
    seed: int
    #: A row per point: `point`, settings by key (a quantity is followed by its number, unit in the name),
    #: `replicates`, `until_met` under a stopping rule, then mean, `_low` and `_high` of each metric: null
    #: where it does not apply.
    summary: polars.DataFrame = field(repr=False)
    #: A row per run: study, point, settings, replicate, metrics.
    runs: polars.DataFrame = field(repr=False)
    #: Where everything is kept, for `query`; None where nothing is.
    folder: Path | None
    #: The charts of metrics over the axes of the grid; none where nothing varies.
    drawn: tuple[Drawn, ...] = field(default=(), repr=False)
    #: What scenarios say of themselves, and points that are the same run, with the settings of the points.
    warnings: tuple[Warned, ...] = ()

    def __repr__(self) -> str:
        size = f"{self.summary.height} points, {self.runs.height} runs"
        return f"StudyResult({self.name!r}, {size}, folder={str(self.folder) if self.folder else None!r})"

    def _repr_html_(self) -> str:
        # Imported here and below: commands start without pages.
        from ackclock.page.notebook import picture

        pictures = (picture(each.svg(), each.metric.column) for each in self.drawn[:_PICTURES])
        beside = "<div style='display: flex; flex-wrap: wrap; gap: 1em'>" + "".join(pictures) + "</div>"
        return (beside if self.drawn else "") + self.summary._repr_html_()

    def plot(self, metric: str | None = None) -> Plot:
        """Draw a metric over the axes of the grid, with intervals: a figure of matplotlib.

        `metric`: the first of `drawn` by default. Raises `InputError` without matplotlib, or where nothing
        varies, and `ArgumentError` for a metric that is not drawn.
        """
        from ackclock.page.notebook import drawer

        if not self.drawn:
            raise InputError(f"{self.name}: nothing varies, so there is nothing to draw; see `summary`")
        found = {each.metric.name: each for each in self.drawn}
        name = self.drawn[0].metric.name if metric is None else metric
        if name not in found:
            raise ArgumentValueError("metric", f"is {name!r}; {hint(name, found)}")
        each = found[name]
        figure: Plot = drawer().lines(each.charts, each.axes, f"{self.name}: {each.metric.label}")
        return figure


def study(
    file: str | PathLike[str] | Mapping[str, Any],
    *,
    replicates: int | None = None,
    until: str | None = None,
    samples: str | None = None,
    out: str | PathLike[str] | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> StudyResult:
    """Run a study: a scenario at every point of a grid, so many replicates each.

    `file`: a study file, or the dict of one, whose scenario may be a dict, too. `replicates`, `until` (a
    stopping rule such as `"share(cubic) +- 2 points"`), `samples` (`none`, `first`, `all`): in place of the
    file's. `out`: a folder to keep every run in, which the same
    study takes up again and `query` reads; without one nothing is kept, samples least of all. `workers`:
    threads, all cores by default. `progress` is called with the number of finished runs and of all runs; by
    default notebooks have a bar.
    Raises `AckclockError`; an `ArgumentError` names the argument.
    """
    from ackclock.page.notebook import bar

    # Imported here: commands start without pages.
    from ackclock.studies.charts import Charts

    if out is None:
        samples = "none"
    replicates = optional_number("replicates", replicates, least=1)
    if isinstance(file, Mapping):
        grid = Grid.of(file, replicates=replicates, until=until, samples=samples)
    elif isinstance(file, str | PathLike):
        grid = Grid.load(file, replicates=replicates, until=until, samples=samples)
    else:
        kind = type(file).__name__
        raise ArgumentTypeError("file", f"is of type {kind}, but must be the path of a study file or a dict")
    folder = None if out is None else path_of("out", out)
    with Store(folder) as store:
        run_grid(grid, store, executor=executor, workers=workers, progress=progress or bar(grid.name))
        found = list(summaries(grid, store))
        charts = Charts(grid, found)
        drawn = tuple(each for each in map(charts.drawn, charts.metrics) if each is not None)
        frame = summary_frame(grid, found)
        return StudyResult(grid.name, grid.seed, frame, runs(store), folder, drawn, grid.warnings)


def query(
    sql: str, store: str | PathLike[str] | None = None, *, all_versions: bool = False
) -> polars.DataFrame:
    """Answer an SQL query over stored results, in the dialect of polars.

    `store`: a folder that was given as `out` or `--out`; by default the one in `ackclock-out` that was filled
    last. Tables are `runs`, `flows`, `transfers`, `datagrams`, `meters`, `links` and `histograms`; columns
    carry their units, and those with a dot in their names go in double quotes. `all_versions`: runs of other
    versions of ackclock, too; without it a warning says what was left out. Raises `InputError` or
    `StoreError`.
    """
    if not isinstance(sql, str):
        raise ArgumentTypeError("sql", f"is of type {type(sql).__name__}, but must be a query as text")
    with Store.reading(newest_store() if store is None else path_of("store", store)) as opened:
        return answer(opened, sql, all_versions=all_versions)


def newest_store() -> Path:
    """Return the folder in `ackclock-out` that was filled last. Raises `InputError` where there is none."""
    stores = sorted(OUT.glob("*/runs.sqlite"), key=lambda path: path.stat().st_mtime)
    if not stores:
        raise InputError(f"{OUT}: has no results; name the folder of a store")
    return stores[-1].parent


def summary_frame(grid: Grid, found: Iterable[PointSummary]) -> polars.DataFrame:
    """Return a row per point of a study: settings, replicates, mean and interval of each metric."""
    rows = []
    summaries = list(found)
    metrics = metrics_of(summaries)
    for summary in summaries:
        row: dict[str, Any] = {"point": summary.point.number, **plain_settings(summary)}
        row["replicates"] = summary.replicates
        if grid.until is not None:
            row["until_met"] = summary.met
        for metric in metrics:
            value = summary.metrics.get(metric.name)
            for end, name in (("", "mean"), ("_low", "low"), ("_high", "high")):
                row[f"{metric.key}{end}"] = None if value is None else getattr(value, name)
        rows.append(row)
    return frame_of(rows)


def plain_settings(summary: PointSummary) -> dict[str, Any]:
    """Return the settings of a point as cells: numbers stay, quantities get one, all else is text."""
    return with_numbers({key: plain(value) for key, value in summary.point.settings.items()})
