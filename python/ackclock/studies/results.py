"""Studies and queries in Python, as polars frames with units in their column names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.arguments import optional_number, path_of, texts
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

#: The largest number of charts in a notebook.
_PICTURES = 2
#: The folder of the commands' results, with a folder for each command.
OUT = Path("ackclock-out")


@dataclass(frozen=True)
class StudyResult:
    """A finished study. It can be pickled."""

    name: str
    seed: int
    #: A row per point: `point`, settings by key, `replicates`, and `until_met` under a stopping rule. A
    #: quantity is followed by its number, with the unit in the name. Mean, `_low` and `_high` of each metric
    #: follow, which are null if the metric does not apply.
    summary: polars.DataFrame = field(repr=False)
    #: A row per run: study, point, settings, replicate, metrics.
    runs: polars.DataFrame = field(repr=False)
    #: The folder of the runs, for `query`. None without one.
    folder: Path | None
    #: The charts of metrics over the axes of the grid, if any.
    drawn: tuple[Drawn, ...] = field(default=(), repr=False)
    #: Warnings of scenarios, and warnings about identical points, with the settings of the points.
    warnings: tuple[Warned, ...] = ()

    def __repr__(self) -> str:
        size = f"{self.summary.height} points, {self.runs.height} runs"
        return f"StudyResult({self.name!r}, {size}, folder={str(self.folder) if self.folder else None!r})"

    def _repr_html_(self) -> str:
        # Imports within functions keep the start of commands fast.
        from ackclock.page.notebook import picture

        pictures = (picture(each.svg(), each.metric.column) for each in self.drawn[:_PICTURES])
        beside = "<div style='display: flex; flex-wrap: wrap; gap: 1em'>" + "".join(pictures) + "</div>"
        return (beside if self.drawn else "") + self.summary._repr_html_()

    def plot(self, metric: str | None = None) -> Plot:
        """Draw a metric over the axes of the grid, with intervals, as a matplotlib figure.

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
    metrics: Iterable[str] = (),
    out: str | PathLike[str] | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> StudyResult:
    """Run a study: a scenario at every point of a grid, with several replicates each.

    - `file`: a study file, or the dict of one. Its scenario may also be a dict.
    - `replicates`, `until`, `samples`, `metrics`: replace the values of the file. `until` is a stopping rule
      such as `"share(cubic) +- 2 points"`. `samples` is `none`, `first` or `all`. `metrics` are the names of
      the metrics that charts show, such as `share(cubic, bbr3)`. The frames contain the others as well.
    - `out`: a folder for the runs. The same study reuses them, and `query` reads them. Without a folder no
      run is stored.
    - `workers`: threads, by default all cores.
    - `progress`: called with the number of finished runs and of all runs. By default notebooks show a bar.

    Raises `AckclockError`. An `ArgumentError` names the argument.
    """
    from ackclock.page.notebook import bar

    # Imports within functions keep the start of commands fast.
    from ackclock.studies.charts import Charts

    if out is None:
        samples = "none"
    replicates = optional_number("replicates", replicates, least=1)
    names = texts("metrics", metrics, "share(cubic, bbr3)")
    if isinstance(file, Mapping):
        grid = Grid.of(file, replicates=replicates, until=until, samples=samples, metrics=names)
    elif isinstance(file, str | PathLike):
        grid = Grid.load(file, replicates=replicates, until=until, samples=samples, metrics=names)
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

    `store`: the folder from `out` or `--out`, by default the newest one in `ackclock-out`. The tables are
    `runs`, `flows`, `transfers`, `datagrams`, `meters`, `links` and `histograms`. Column names contain units,
    and names with a dot need double quotes. `all_versions` includes runs of other versions of ackclock.
    Otherwise a warning counts the omitted runs. Raises `InputError` or `StoreError`.
    """
    if not isinstance(sql, str):
        raise ArgumentTypeError("sql", f"is of type {type(sql).__name__}, but must be a query as text")
    with Store.reading(newest_store() if store is None else path_of("store", store)) as opened:
        return answer(opened, sql, all_versions=all_versions)


def newest_store() -> Path:
    """Return the newest folder in `ackclock-out`. Raises `InputError` if there is none."""
    stores = sorted(OUT.glob("*/runs.sqlite"), key=lambda path: path.stat().st_mtime)
    if not stores:
        raise InputError(f"{OUT}: has no results; name the folder of a store")
    return stores[-1].parent


def summary_frame(grid: Grid, found: Iterable[PointSummary]) -> polars.DataFrame:
    """Return a row per point of a study, with settings, replicates, and means and intervals of metrics."""
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
    """Return the settings of a point as cells. Quantities get a numeric column, all else is text."""
    return with_numbers({key: plain(value) for key, value in summary.point.settings.items()})
