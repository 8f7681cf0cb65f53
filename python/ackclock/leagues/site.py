"""Writes the static site of a league: a front page, pages of algorithms and pairs, reports, and the data."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ackclock.coexistence.report import PAGE as COEXISTENCE_PAGE
from ackclock.coexistence.report import write_report as write_coexistence
from ackclock.evaluation.ranking import Entry
from ackclock.evaluation.report import write_report
from ackclock.files.writing import keeping_runs, write_whole
from ackclock.leagues.algorithm_page import algorithm_page
from ackclock.leagues.names import Names
from ackclock.leagues.pair_page import pair_page
from ackclock.leagues.pairs import Pair, boards, pairs
from ackclock.leagues.profiles import Profiles
from ackclock.leagues.roster import COEXISTENCE, PROFILES
from ackclock.leagues.scores import League, SuiteScores
from ackclock.leagues.texts import first_line, signed, text
from ackclock.metrics.frames import frame_of
from ackclock.page import render
from ackclock.page.scatter import Dots, scatter
from ackclock.running.backend import title as backend_title
from ackclock.running.cells import write_cells
from ackclock.running.warned import Warned, merged

FRONT, DATA, TABLE = "index.html", "league.json", "league.parquet"
_TEMPLATE = Path(__file__).parent / "templates/front.html.jinja"


def write_site(league: League, profiles: Profiles, folder: Path, *, command: str) -> Path:
    """Write pages and data into the folder of the runs, and return the path of the front page.

    Raises `StoreError`.
    """
    path, found = folder / FRONT, pairs(league)
    for each in league.suites:
        write_report(each.evaluation, folder / each.suite.name, command=command)
    if profiles.coexistence is not None:
        write_coexistence(profiles.coexistence, folder / COEXISTENCE, command=command)
    table = io.BytesIO()
    frame_of(list(league.rows())).write_parquet(table)
    with keeping_runs(path):
        write_cells(folder / PROFILES, profiles.cells)
        told = document(league, profiles, found)
        write_whole(folder / DATA, (json.dumps(told, indent=1) + "\n").encode())
        write_whole(folder / TABLE, table.getvalue())
        _write_pages(league, profiles, found, folder, command)
        write_whole(path, _front(league, profiles, found, command).encode())
    return path


def warnings(league: League, profiles: Profiles) -> tuple[Warned, ...]:
    """Return the distinct warnings of all scenarios, each with its environments."""
    return merged([league.warnings, profiles.warnings])


def document(league: League, profiles: Profiles, found: Sequence[Pair]) -> dict[str, Any]:
    """Return all scores, differences of pairs and response functions as JSON."""
    return {
        **league.document,
        "warnings": [each.json("environments") for each in warnings(league, profiles)],
        "pairs": [pair.document for pair in found],
        "profiles": {label: profile.document for label, profile in profiles.by_label.items()},
    }


def _write_pages(
    league: League, profiles: Profiles, found: Sequence[Pair], folder: Path, command: str
) -> None:
    """Write the pages of algorithms and pairs. Raises `OSError`."""
    every, names = boards(league), _names(league)
    for place in league.algorithms:
        page = algorithm_page(league, profiles, every, names, place, folder, command)
        write_whole(folder / names.algorithm(place.label), page.encode())
    for pair in found:
        page = pair_page(league, profiles, every, names, pair, folder, command)
        write_whole(folder / names.pair(*pair.labels), page.encode())


def _names(league: League) -> Names:
    return Names(place.label for place in league.algorithms)


class _Cell(NamedTuple):
    """The difference of two mean scores in the matrix: of the row minus of the column."""

    page: str
    text: str
    #: `better`, `worse`, or empty if there is no difference.
    tone: str
    #: The size relative to the largest difference.
    part: float
    title: str


def _front(league: League, profiles: Profiles, found: Sequence[Pair], command: str) -> str:
    names = _names(league)
    return render(
        _TEMPLATE,
        league=league,
        names=names,
        tone=_tones(league),
        text=text,
        first_line=first_line,
        matrix=_matrix(league, found, names),
        coexistence=None if profiles.coexistence is None else f"{COEXISTENCE}/{COEXISTENCE_PAGE}",
        charts=[(each.suite.name, _plane(each)) for each in league.suites],
        backend=backend_title(league.backend),
        command=command,
    )


def _matrix(league: League, found: Sequence[Pair], names: Names) -> list[tuple[str, list[_Cell | None]]]:
    """Return a row for each algorithm, in the order of the ranking. Its own cell is None."""
    by_labels = {pair.labels: pair for pair in found}
    differences = (pair.difference for pair in found)
    largest = max((abs(each.value.mean) for each in differences if each is not None), default=0.0)
    labels = [place.label for place in league.algorithms]

    def cell(row: str, column: str) -> _Cell:
        is_turned = (row, column) not in by_labels
        pair = by_labels[(column, row) if is_turned else (row, column)]
        page, title = names.pair(row, column), f"{row} against {column}"
        if pair.difference is None:
            return _Cell(page, "\N{EN DASH}", "", 0.0, f"{title}: a run failed")
        mean = pair.difference.value.mean * (-1 if is_turned else 1)
        mark = "*" if pair.difference.is_significant else ""
        tone = "better" if mean < 0 else "worse" if mean > 0 else ""
        return _Cell(page, f"{signed(mean, 1)}{mark}", tone, abs(mean) / (largest or 1.0), title)

    return [(row, [None if row == column else cell(row, column) for column in labels]) for row in labels]


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
