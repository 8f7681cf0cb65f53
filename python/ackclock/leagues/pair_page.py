"""The page of two algorithms: differences by suite and environment, and both on a common bottleneck."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ackclock.coexistence.matrix import Coexistence
from ackclock.coexistence.matrix import Pair as Shared
from ackclock.evaluation.score import COMMON, DELAY_SCORE, Metric
from ackclock.leagues.commands import coexist_command, environment_command
from ackclock.leagues.names import Names
from ackclock.leagues.pairs import (
    Difference,
    EnvironmentBoard,
    EnvironmentDifference,
    Pair,
    Part,
    environments,
)
from ackclock.leagues.profiles import Profiles
from ackclock.leagues.scores import League
from ackclock.leagues.texts import LEAST_REPLICATES, difference_text, first_line, signed, text
from ackclock.page import render
from ackclock.running.backend import title as backend_title
from ackclock.statistics.estimates import Estimate

_TEMPLATE = Path(__file__).parent / "templates/pair.html.jinja"
#: The environments of each algorithm.
_SHOWN = 5
#: The delay itself says more than the score that follows from it.
_DELAY = next(metric for metric in COMMON if metric.name == "queue_delay")
#: Half of the width of a drawn difference in pixels, and the part of it that the largest mean takes. The
#: scale is logarithmic above 1, because suites differ by orders of magnitude.
_HALF, _REACH = 90, 0.85


def pair_page(
    league: League,
    profiles: Profiles,
    boards: Sequence[EnvironmentBoard],
    names: Names,
    pair: Pair,
    folder: Path,
    command: str,
) -> str:
    """Return the text of the page."""
    first, second = pair.labels
    found = environments(boards, first, second, counts=not league.is_quick)
    better = [row for row in found if row.difference.value.mean < 0][:_SHOWN]
    worse = [row for row in reversed(found) if row.difference.value.mean > 0][:_SHOWN]
    return render(
        _TEMPLATE,
        league=league,
        pair=pair,
        first=first,
        second=second,
        names=names,
        text=text,
        first_line=first_line,
        signed=signed,
        difference_text=difference_text,
        verdict=verdict(pair, league),
        suites=list(zip(pair.suites, _bars([each.difference for each in pair.suites]), strict=True)),
        sides=[
            (name, [_shown(league, pair, row, folder) for row in rows])
            for name, rows in ((first, better), (second, worse))
        ],
        has_environments=bool(found),
        networks=list(_networks(profiles.coexistence, first, second)),
        failure=_failure(profiles.coexistence, first, second),
        share_text=_share_text if league.replicates >= LEAST_REPLICATES else _mean_text,
        coexist_command=coexist_command(league, first, second),
        backend=backend_title(league.backend),
        command=command,
    )


def verdict(pair: Pair, league: League) -> list[str]:
    """Return the result of a pair in sentences."""
    first, second = pair.labels
    told = []
    if pair.difference is None:
        told.append("There is no difference of mean scores, because a run failed.")
    elif league.is_quick:
        told.append(f"A quick league does not test the difference between {first} and {second}.")
    elif pair.difference.is_significant:
        better, other = (first, second) if pair.difference.value.mean < 0 else (second, first)
        size = abs(pair.difference.value.mean)
        told.append(f"{better} achieves a lower mean score than {other}, by {size:.2f}.")
    else:
        told.append(f"The mean scores of {first} and {second} are not significantly different.")
    found = [each.difference for each in pair.suites if each.difference is not None]
    if not found:
        return told
    for name, sign in ((first, -1), (second, 1)):
        won = [each for each in found if sign * each.value.mean > 0]
        told.append(
            f"{name} is better in {len(won)} of {_suites(len(found))}{'' if league.is_quick else _sure(won)}."
        )
    if league.replicates == 1:
        told.append("One random replicate shows no significant difference.")
    return told


def _suites(count: int) -> str:
    return f"{count} suite{'s' if count != 1 else ''}"


def _sure(won: Sequence[Difference]) -> str:
    sure = sum(each.is_significant for each in won)
    return f", significantly in {sure or 'none'}" if won else ""


def _bars(differences: Sequence[Difference | None]) -> Iterator[str]:
    """Yield a drawing of each difference with its interval, on a common scale."""
    largest = max((abs(each.value.mean) for each in differences if each is not None), default=0.0)
    scale = _HALF * _REACH / math.asinh(largest) if largest else 0.0
    for each in differences:
        yield "" if each is None else _bar(each.value, scale)


def _bar(value: Estimate, scale: float) -> str:
    def across(number: float) -> float:
        return _HALF + max(-_HALF, min(_HALF, scale * math.asinh(number)))

    kind = "better" if value.mean < 0 else "worse"
    line = ""
    if value.low is not None and value.high is not None:
        line = f'<path d="M{across(value.low):.1f} 9H{across(value.high):.1f}"/>'
    dot = f'<circle cx="{across(value.mean):.1f}" cy="9" r="4"/>'
    return (
        f'<svg class="gap {kind}" viewBox="-5 0 {2 * _HALF + 10} 18" aria-hidden="true">'
        f'<path class="zero" d="M{_HALF} 0V18"/>{line}{dot}</svg>'
    )


def _shown(league: League, pair: Pair, row: EnvironmentDifference, folder: Path) -> dict[str, Any]:
    """Return the data of an environment for the template."""
    board = row.board
    return {
        "board": board,
        "first": row.first,
        "second": row.second,
        "difference": row.difference,
        "parts": [_part_text(board, pair, part) for part in row.parts],
        "commands": [
            environment_command(league, board.suite, board.environment.id, label, folder)
            for label in pair.labels
        ],
    }


def _part_text(board: EnvironmentBoard, pair: Pair, part: Part) -> str:
    """Return the means of a metric, such as `efficiency 95.10 % against 80.20 %`."""
    metric = _DELAY if part.metric.name == DELAY_SCORE.name else part.metric
    rows = (board.entries[label].means[board.environment.id] for label in pair.labels)
    first, second = (_value(metric, row[metric.name]) for row in rows)
    return f"{metric.label} {first} against {second}"


def _value(metric: Metric, value: float) -> str:
    # Zero has no sign.
    return metric.text(round(value, metric.digits) + 0.0)


def _networks(
    found: Coexistence | None, first: str, second: str
) -> Iterator[tuple[str, Shared | None, Shared | None]]:
    """Yield the title of each network, and both directions of the pair in it."""
    if found is None:
        return
    for network in found.networks:
        yield network.title, found.find(network, first, second), found.find(network, second, first)


def _failure(found: Coexistence | None, first: str, second: str) -> str:
    """Return the first reason for missing figures of a pair. Empty if there is none."""
    failed = () if found is None else found.failed
    reasons = (each.message for each in failed if {each.first, each.second} == {first, second})
    return first_line(next(reasons, ""))


def _share_text(value: Estimate | None) -> str:
    """Return a share or harm with half of its interval."""
    half = None if value is None else value.half_width
    return _mean_text(value) if half is None else f"{_mean_text(value)} ± {half:.2f}"


def _mean_text(value: Estimate | None) -> str:
    """Return a share or harm without its interval."""
    # Zero has no sign.
    return "\N{EN DASH}" if value is None else f"{round(value.mean, 2) + 0.0:.2f}"
