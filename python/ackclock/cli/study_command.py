"""`ackclock study`."""

from __future__ import annotations

import dataclasses
import json
import math
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.console import emit, progress, say, show_widest, span, talk, warn
from ackclock.cli.emulating import backend_of, backend_option, tell_invalid
from ackclock.cli.executing import dask_option, executor_of
from ackclock.cli.options import (
    interactive_option,
    json_option,
    metric_option,
    set_option,
    workers_option,
)
from ackclock.cli.shorthand import Shorthand, lasting_tree, optional_file, shorthand_options
from ackclock.metrics.declared import Metric
from ackclock.running.backend import prepare, workers_for
from ackclock.running.job import LINUX, SIM, kernel_of, kind_of
from ackclock.running.store import Store
from ackclock.scenario import Scenario
from ackclock.statistics.estimates import estimate_json
from ackclock.studies.campaign import PointSummary, metrics_of, run_grid, summaries
from ackclock.studies.charts import shown_of
from ackclock.studies.forecast import Forecast, forecast
from ackclock.studies.grid import Grid, plain, require_varied
from ackclock.studies.keys import SAMPLES, SCHEMA
from ackclock.studies.results import plain_settings, summary_frame
from ackclock.studies.until import FIRST
from ackclock.studies.vary import grid_of
from ackclock.text.cells import csv_text

if TYPE_CHECKING:
    from ackclock.text.table import Table

_MOST_ROWS = 40


@click.command("study")
@optional_file
@click.option(
    "--vary",
    multiple=True,
    metavar="KEY=VALUES",
    help="Vary a key of a scenario: topology.queue.limit=0.1..16BDP, flows.0.cc=cubic,reno. May be repeated.",
)
@set_option
@shorthand_options
@click.option(
    "--plan", is_flag=True, help="Print the number of runs, the estimated time and disk space, then exit."
)
@backend_option
@workers_option
@dask_option
@click.option(
    "--replicates", type=click.IntRange(1), help="Replicates of each point. Default: the file's number."
)
@click.option(
    "--until",
    metavar="'METRIC +- NUMBER UNIT'",
    help="Add replicates until this interval is narrow enough, such as 'share(cubic) +- 2 points'.",
)
@metric_option
@click.option("--samples", type=click.Choice(SAMPLES), help="Replicates that keep samples over time.")
@click.option("--out", type=click.Path(file_okay=False), help="Folder for the results.")
@click.option("--report", is_flag=True, help="Write report.html, with charts over the axes of the grid.")
@interactive_option
@json_option
def command(
    file: str | None,
    vary: tuple[str, ...],
    sets: tuple[str, ...],
    plan: bool,
    backend: str,
    kernel: str | None,
    workers: int | None,
    dask: str | None,
    replicates: int | None,
    until: str | None,
    metrics: tuple[str, ...],
    samples: str | None,
    out: str | None,
    report: bool,
    interactive: bool,
    as_json: bool,
    **shorthand: Any,
) -> None:
    """Run the study FILE: every point of its grid, with several replicates each.

    With --vary, FILE is a scenario. Without FILE, --rate, --rtt, --flows and the other options describe the
    scenario, as for `ackclock run`.

    Runs that are already in the folder are not repeated. The same command therefore continues a study that
    was stopped or killed. `summary.csv` and `summary.parquet` contain the mean and the interval of each
    metric at each point. Use `ackclock query` for everything else. --report draws charts, and --interactive
    adds the simulator to the page.
    """
    backend = backend_of(backend, kernel)
    prepare(backend)
    if interactive:
        from ackclock.page.embedded import web

        web()
    options = Shorthand(**shorthand)
    settings: dict[str, Any] = {
        "replicates": replicates,
        "until": until,
        "samples": samples,
        "metrics": metrics,
        "backend": backend,
    }
    if vary:
        grid = _varied(options, file, vary, sets, **settings)
    else:
        grid = _loaded(options, file, sets, **settings)
    workers = workers_for(backend, workers)
    emulated = "" if backend == SIM else f"-{kind_of(backend)}"
    folder = Path(out or f"ackclock-out/study-{grid.name}{emulated}")
    warn(warned.line("points") for warned in grid.warnings)
    if (still := _without_chance(grid, replicates)) is not None:
        talk(f"note: {still}")
    if plan:
        if dask is not None:
            raise click.UsageError(
                "--plan runs a few points here; for a cluster of N threads use --workers N"
            )
        _show_plan(grid, folder, workers, as_json)
        return
    with Store(folder) as store:
        with executor_of(dask, workers) as executor, progress("running") as tell:
            run_grid(grid, store, executor=executor, progress=tell)
        found = list(summaries(grid, store))
        _write(grid, store, found)
    written = None
    if report or interactive:
        from ackclock.studies.report import write_report

        written = write_report(
            grid,
            found,
            folder,
            command=shlex.join(["ackclock", *sys.argv[1:]]),
            is_interactive=interactive,
        )
    if as_json:
        emit(json.dumps(_document(grid, found), indent=2))
    else:
        _show(grid, found)
    tell_invalid(sum(summary.invalid for summary in found), sum(summary.replicates for summary in found))
    talk(f"kept in {folder}")
    if written is not None:
        talk(f"report: {written}")


def _without_chance(grid: Grid, replicates: int | None) -> str | None:
    """Return why points have one run where an option asks for more."""
    once = sum(point.most == 1 for point in grid.points)
    if replicates is None or replicates < 2 or not once:
        return None
    if once == len(grid.points):
        return f"nothing is random in this scenario: 1 run per point instead of {replicates}"
    return f"nothing is random at {once} of {len(grid.points)} points: 1 run each instead of {replicates}"


def _loaded(options: Shorthand, file: str | None, sets: Sequence[str], **settings: Any) -> Grid:
    """Return the grid of a study file, which no option changes."""
    if file is None or any(value is not None for value in options):
        raise click.UsageError("give a study FILE, or --vary KEY=VALUES to vary keys of a scenario")
    if sets:
        raise click.UsageError(f"--set needs --vary; {file} may contain `set`")
    return Grid.load(file, **settings)


def _varied(
    options: Shorthand, file: str | None, vary: Sequence[str], sets: Sequence[str], **settings: Any
) -> Grid:
    """Return the grid of `--vary`, over a scenario file or the options' scenario, and save it if asked to."""
    scenario, tree = options.scenario_and_tree(file, sets)
    grid = grid_of(vary)
    name = "-".join(dict.fromkeys(key.rpartition(".")[2] for key in grid))
    table = {"name": name, "scenario": scenario.written, "grid": grid}
    found = Grid.of(table, source="--vary", **settings)
    read = partial(Scenario.from_dict, tree) if tree is not None else partial(Scenario.from_file, str(file))
    require_varied(sets, read, found.points)
    given = {key: settings[key] for key in ("replicates", "until", "metrics") if settings[key]}
    kept = lasting_tree(options.save, scenario, tree)
    options.keep({"schema": SCHEMA, "name": name, **given, "scenario": kept, "grid": grid}, "study")
    return found


def _show_plan(grid: Grid, folder: Path, workers: int | None, as_json: bool) -> None:
    least = FIRST if grid.until is not None else max(point.most for point in grid.points)
    if folder.exists():
        with Store.reading(folder) as store:
            found = forecast(grid, store, least=least, workers=workers)
    else:
        found = forecast(grid, None, least=least, workers=workers)
    if as_json:
        emit(json.dumps(dataclasses.asdict(found), indent=2))
        return
    say(f"points      {found.points}")
    say(f"runs        {_range(found.least_runs, found.most_runs)}, {found.stored_runs} of them stored")
    time_words = _range(span(found.least_time_s), span(found.most_time_s))
    say(f"time        about {time_words} on {found.workers} workers")
    size_words = _range(_size(found.least_bytes), _size(found.most_bytes))
    say(f"size        about {size_words}{_samples_words(grid, found)}")


def _samples_words(grid: Grid, found: Forecast) -> str:
    if grid.samples == "none":
        return ""
    runs = found.points if grid.samples == "first" else found.most_runs
    return f", and samples of {runs} runs"


def _range(least: object, most: object) -> str:
    return str(least) if least == most else f"{least} to {most}"


def _size(count: int) -> str:
    return f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def _write(grid: Grid, store: Store, found: Sequence[PointSummary]) -> None:
    import io

    frame = summary_frame(grid, found)
    store.write_file("summary.csv", csv_text(frame))
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    store.write_file("summary.parquet", buffer.getvalue())


def _document(grid: Grid, found: Sequence[PointSummary]) -> dict[str, Any]:
    metrics = metrics_of(found)
    return {
        "study": grid.name,
        "seed": grid.seed,
        "backend": kind_of(grid.backend),
        **({"kernel": name} if (name := kernel_of(grid.backend)) else {}),
        "until": None if grid.until is None else grid.until.text,
        "warnings": [warned.json("points") for warned in grid.warnings],
        "points": [
            {
                "point": summary.point.number,
                "settings": plain_settings(summary),
                "replicates": summary.replicates,
                **({"invalid_runs": summary.invalid} if grid.backend == LINUX else {}),
                **(
                    {}
                    if grid.until is None
                    else {"until_met": summary.met, "replicates_needed": summary.needed}
                ),
                "metrics": {
                    metric.key: estimate_json(summary.metrics.get(metric.name)) for metric in metrics
                },
            }
            for summary in found
        ],
    }


def _show(grid: Grid, found: Sequence[PointSummary]) -> None:
    metrics = shown_of(grid, found)
    tables = [_table(grid, found, metrics[:count]) for count in range(len(metrics), 0, -1)]
    # If the settings alone are too wide, the table is transposed and contains all metrics.
    show_widest(tables, otherwise=tables[0])
    if len(found) > _MOST_ROWS:
        say(f"  and {len(found) - _MOST_ROWS} more points (summary.csv has all)")
    unmet = [summary.needed for summary in found if not summary.met]
    reachable = [needed for needed in unmet if needed is not None]
    if grid.until is not None and reachable:
        say(
            f"  ! {grid.until.text!r} is not met at {len(reachable)} of {len(found)} points with all "
            f"replicates; --replicates {max(reachable)} would meet it, by an estimate"
        )
    if grid.until is not None and len(unmet) > len(reachable):
        say(
            f"  ! {grid.until.text!r} cannot be met at {len(unmet) - len(reachable)} of {len(found)} points: "
            f"{grid.until.metric.name} comes from a histogram whose bins are wider"
        )


def _table(grid: Grid, found: Sequence[PointSummary], metrics: Sequence[Metric]) -> Table:
    from ackclock.text.table import Column, Table

    table = Table(
        *_short_keys(grid.keys),
        *(Column(heading, right=True) for heading in ("runs", *(metric.column for metric in metrics))),
        title=grid.name,
    )
    for summary in found[:_MOST_ROWS]:
        settings = (str(plain(summary.point.settings[key])) for key in grid.keys)
        values = (_value(summary, metric) for metric in metrics)
        table.add_row(*settings, f"{summary.replicates}{_marks(summary)}", *values)
    return table


def _marks(summary: PointSummary) -> str:
    """Return the remarks after a number of runs."""
    invalid = f" ({summary.invalid} invalid)" if summary.invalid else ""
    return f"{'' if summary.met else ' !'}{invalid}"


def _short_keys(keys: Sequence[str]) -> list[str]:
    """Return the last words of dotted keys, as many as tell them apart."""

    def tail(key: str, words: int) -> str:
        return ".".join(key.split(".")[-words:])

    def short(key: str) -> str:
        words = range(1, key.count(".") + 2)
        return next(
            tail(key, count)
            for count in words
            if [tail(other, count) for other in keys].count(tail(key, count)) == 1
        )

    return [short(key) for key in keys]


def _value(summary: PointSummary, metric: Metric) -> str:
    value = summary.metrics.get(metric.name)
    if value is None:
        return "-"
    mean, half = metric.factor * value.mean, value.half_width
    if half is None:
        return f"{mean:.4g}"
    # Print figures up to their first uncertain digit.
    digits = min(max(-math.floor(math.log10(metric.factor * half)), 0), 4) if half > 0 else 4
    return f"{mean:.{digits}f} ±{metric.factor * half:.{digits}f}"
