"""Writes the page of a study: metrics over its axes, and the command of every point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ackclock.files.writing import keeping_runs, write_whole
from ackclock.metrics.declared import Metric
from ackclock.page import render
from ackclock.page.interactive import interactive
from ackclock.running.backend import title as backend_title
from ackclock.running.cells import Cell, command, write_cells
from ackclock.running.kept import kept
from ackclock.running.store import Store
from ackclock.statistics.estimates import CONFIDENCE, Estimate
from ackclock.studies.campaign import PointSummary
from ackclock.studies.charts import Charts
from ackclock.studies.grid import Grid, plain

_TEMPLATES = Path(__file__).parent / "templates"
#: The largest number of rows in the table of points.
_ROWS = 2000
#: The number of metrics in the title.
_TITLED = 3


def write_report(
    grid: Grid, found: Sequence[PointSummary], folder: Path, *, command: str, is_interactive: bool = False
) -> Path:
    """Write `report.html` and `cells.json` into the folder of a study, and return the path of the page.

    `is_interactive`: the page can rerun its points. Raises `InputError` then if the module for browsers is
    missing.
    """
    path, cells = folder / "report.html", _cells(grid, found)
    text = page(grid, found, folder, command=command, is_interactive=is_interactive)
    if is_interactive:
        shown = {str(summary.point.number) for summary in found[:_ROWS]}
        with Store.reading(folder) as store:
            named = {name: cell for name, cell in cells.items() if name in shown}
            text = interactive(text, kept(store, named, grid.backend))
    with keeping_runs(path):
        write_cells(folder, cells)
        write_whole(path, text.encode())
    return path


def page(
    grid: Grid, found: Sequence[PointSummary], folder: Path, *, command: str, is_interactive: bool = False
) -> str:
    """Return the text of the page. `is_interactive`: with a button that reruns each point."""
    charts = Charts(grid, found)
    return render(
        _TEMPLATES / "study.html.jinja",
        grid=grid,
        title=_title(grid, charts.metrics),
        scenario=_base(grid),
        backend=backend_title(grid.backend),
        sides=charts.sides,
        count=len(found),
        sections=[(metric, charts.of(metric), charts.heat(metric)) for metric in charts.metrics],
        rows=_rows(grid, found[:_ROWS], charts.metrics, folder),
        metrics=charts.metrics,
        more=max(0, len(found) - _ROWS),
        open_points=sum(not summary.met for summary in found),
        invalid=sum(summary.invalid for summary in found),
        confidence=f"{100 * CONFIDENCE:.0f} %",
        command=command,
        is_interactive=is_interactive,
    )


def _title(grid: Grid, metrics: Sequence[Metric]) -> str:
    """Return the name of a study, its main metrics and its axes."""
    shown = ", ".join(metric.label for metric in metrics[:_TITLED])
    axes = " and ".join(", ".join(axis.keys) for axis in grid.axes)
    return f"{grid.name}: {shown} against {axes}" if shown and axes else grid.name


def _base(grid: Grid) -> str:
    """Return the scenario of a study in one line."""
    described = grid.scenario.describe()
    link = next(link for link in described["links"] if link["name"] == described["bottleneck"])
    rtts = sorted({flow["base_rtt_s"] for flow in described["flows"] if flow["base_rtt_s"] is not None})
    rtt = "" if not rtts else f"{1e3 * rtts[0]:.4g}" + (f" to {1e3 * rtts[-1]:.4g}" if rtts[1:] else "")
    flows = described["flow_count"]
    parts = [
        f"“{described['name']}”: {float(link['rate_bps'] or 0) / 1e6:g} Mbit/s",
        *([f"{rtt} ms base RTT"] if rtt else []),
        link["queue"].replace(", ", " ", 1),
        f"{flows} flow{'s' * (flows != 1)}",
        f"{described['duration_s']:g} s ({described['warmup_s']:g} s warm-up)",
    ]
    return ", ".join(parts)


def _rows(
    grid: Grid, found: Sequence[PointSummary], metrics: Sequence[Metric], folder: Path
) -> Iterator[dict[str, Any]]:
    for summary in found:
        values = (summary.metrics.get(metric.name) for metric in metrics)
        yield {
            "number": summary.point.number,
            "settings": [str(plain(summary.point.settings[key])) for key in grid.keys],
            "replicates": summary.replicates,
            "met": summary.met,
            "values": [
                None if value is None else (f"{metric.factor * value.mean:.4g}", _half(value, metric.factor))
                for metric, value in zip(metrics, values, strict=True)
            ],
            "command": command(folder, str(summary.point.number), grid.backend),
        }


def _half(value: Estimate, factor: float) -> str:
    return "" if value.half_width is None else f"±{factor * value.half_width:.2g}"


def _cells(grid: Grid, found: Sequence[PointSummary]) -> dict[str, Cell]:
    """Return the runs of each point by its number."""
    return {
        str(summary.point.number): Cell(
            f"point {summary.point.number} of {grid.name}: "
            + ", ".join(f"{key} {plain(summary.point.settings[key])}" for key in grid.keys),
            summary.point.scenario_hash,
            grid.seed,
            summary.replicates,
        )
        for summary in found
    }
