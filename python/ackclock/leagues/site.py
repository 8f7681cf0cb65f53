"""Writes the static site of a league: a front page, pages of algorithms, reports of suites, and the data."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ackclock.evaluation.ranking import Entry
from ackclock.evaluation.report import cell_names, labels_of, write_report
from ackclock.evaluation.scoreboard import interval_text
from ackclock.files.labels import slug
from ackclock.files.writing import keeping_runs, write_whole
from ackclock.leagues.scores import AlgorithmScores, League, SuiteScores
from ackclock.metrics.frames import frame_of
from ackclock.page import render
from ackclock.page.scatter import Dots, scatter
from ackclock.running.backend import title as backend_title
from ackclock.running.cells import command as cell_command
from ackclock.statistics.estimates import Estimate

FRONT, DATA, TABLE = "index.html", "league.json", "league.parquet"
_TEMPLATES = Path(__file__).parent / "templates"


def write_site(league: League, folder: Path, *, command: str) -> Path:
    """Write pages and data into the folder of the runs, and return the path of the front page."""
    path = folder / FRONT
    for each in league.suites:
        write_report(each.evaluation, folder / each.suite.name, command=command)
    table = io.BytesIO()
    frame_of(list(league.rows())).write_parquet(table)
    with keeping_runs(path):
        write_whole(folder / DATA, (json.dumps(league.document, indent=1) + "\n").encode())
        write_whole(folder / TABLE, table.getvalue())
        for place in league.algorithms:
            write_whole(folder / page_name(place.label), _algorithm(league, place, folder, command).encode())
        write_whole(path, _front(league, command).encode())
    return path


def page_name(label: str) -> str:
    """Return the file name of an algorithm's page."""
    return f"cc-{slug(label)[:80]}.html"


def _front(league: League, command: str) -> str:
    return render(
        _TEMPLATES / "front.html.jinja",
        league=league,
        page_name=page_name,
        tone=_tones(league),
        text=text,
        charts=[(each.suite.name, _plane(each)) for each in league.suites],
        backend=backend_title(league.backend),
        command=command,
    )


def _algorithm(league: League, place: AlgorithmScores, folder: Path, command: str) -> str:
    return render(
        _TEMPLATES / "algorithm.html.jinja",
        league=league,
        place=place,
        rank=league.algorithms.index(place) + 1,
        text=text,
        rows=list(_rows(league, place, folder)),
        backend=backend_title(league.backend),
        command=command,
    )


def _rows(league: League, place: AlgorithmScores, folder: Path) -> Iterator[dict[str, Any]]:
    """Give a row for each environment, the worst of each suite first."""
    for each in league.suites:
        entry = place.entries[each.suite.name]
        at = labels_of(each.evaluation).index(place.label)
        titles = {environment.id: environment.title for environment in each.suite.environments}
        parts = {} if entry.score is None else entry.score.by_environment
        yield {
            "suite": each.suite,
            "entry": entry,
            "environments": [
                {
                    "title": titles[environment],
                    "score": parts[environment],
                    "metrics": entry.means[environment],
                    "command": cell_command(
                        folder / each.suite.name, cell_names(each.evaluation, environment)[at], league.backend
                    ),
                }
                for environment in sorted(parts, key=lambda environment: -parts[environment])
            ],
        }


def _tones(league: League) -> dict[str, dict[str, float]]:
    """Return the position of each score between the best (0) and the worst (1) of its suite."""
    found: dict[str, dict[str, float]] = {}
    for each in league.suites:
        scores = {entry.candidate.label: entry.score.value.mean for entry in each.entries if entry.score}
        low, high = min(scores.values()), max(scores.values())
        span = high - low or 1.0
        found[each.suite.name] = {label: (score - low) / span for label, score in scores.items()}
    return found


def _plane(scores: SuiteScores) -> str:
    """Draw mean efficiency over mean queueing delay of each algorithm in a suite."""
    spots = [
        (entry.candidate.label, _mean(entry, "queue_delay"), _mean(entry, "efficiency"))
        for entry in scores.entries
        if entry.score is not None
    ]
    titles = [f"{label}: {delay:.1f} ms, {efficiency:.1f} %" for label, delay, efficiency in spots]
    dots = Dots("trial", [delay for _, delay, _ in spots], [up for *_, up in spots], titles)
    return scatter([dots], "mean queueing delay, ms", "mean efficiency, %")


def _mean(entry: Entry, metric: str) -> float:
    values = [metrics[metric] for metrics in entry.means.values()]
    return sum(values) / len(values)


def text(value: Estimate | None) -> str:
    """Return a score with its interval."""
    return "\N{EN DASH}" if value is None else interval_text(value, 2)
