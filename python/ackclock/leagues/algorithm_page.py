"""The page of an algorithm: places in suites, response function, traces, and environments."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ackclock.leagues.commands import environment_command, response_command, trace_command
from ackclock.leagues.names import Names
from ackclock.leagues.pairs import EnvironmentBoard
from ackclock.leagues.profiles import Profile, Profiles
from ackclock.leagues.scores import AlgorithmScores, League
from ackclock.leagues.texts import LEAST_REPLICATES, first_line, text
from ackclock.leagues.traces import BUFFER_BDP, END_S, RATE_MBPS, RTT_MS, Trace
from ackclock.page import render
from ackclock.page.lines import Line, lines
from ackclock.page.multiples import multiples, top_of
from ackclock.running.backend import title as backend_title

_TEMPLATE = Path(__file__).parent / "templates/algorithm.html.jinja"
#: The algorithm whose response function every page shows.
_REFERENCE = "reno"


class Extreme(NamedTuple):
    """The best or the worst environment of an algorithm."""

    board: EnvironmentBoard
    score: float


def algorithm_page(
    league: League,
    profiles: Profiles,
    boards: Sequence[EnvironmentBoard],
    names: Names,
    place: AlgorithmScores,
    folder: Path,
    command: str,
) -> str:
    """Return the text of the page."""
    profile = profiles.by_label[place.label]
    reference = profiles.by_label.get(_REFERENCE)
    return render(
        _TEMPLATE,
        league=league,
        place=place,
        rank=league.algorithms.index(place) + 1,
        text=text,
        first_line=first_line,
        best=_best(boards, place.label),
        worst=_worst(boards, place.label),
        profile=profile,
        response=_response(profile, reference, league),
        response_command=response_command(league, place.label),
        traces=list(_traces(league, profile.traces, folder)),
        link=f"{RATE_MBPS} Mbit/s, a base RTT of {RTT_MS} ms and a drop-tail buffer of {BUFFER_BDP} BDP",
        rows=list(_rows(league, place, folder)),
        others=[other.label for other in league.algorithms if other.label != place.label],
        names=names,
        backend=backend_title(league.backend),
        command=command,
    )


def _worst(boards: Sequence[EnvironmentBoard], label: str) -> Extreme | None:
    found = [Extreme(board, board.score(label)) for board in boards if label in board.entries]
    return max(found, key=lambda each: each.score, default=None)


def _best(boards: Sequence[EnvironmentBoard], label: str) -> Extreme | None:
    """Return the environment with the lowest score. Of equal ones, it is the hardest for the league."""
    found = [Extreme(board, board.score(label)) for board in boards if label in board.entries]

    def median(board: EnvironmentBoard) -> float:
        return statistics.median(map(board.score, board.entries))

    return min(found, key=lambda each: (round(each.score, 2), -median(each.board)), default=None)


def _response(profile: Profile, reference: Profile | None, league: League) -> str:
    """Draw goodput over the loss rate, with the closed form and a reference. Empty without a point."""
    if profile.response is None:
        return ""
    drawn = profile.response.lines()
    if reference is not None and reference is not profile and reference.response is not None:
        drawn += reference.response.lines()[:1]
    if not profile.response.points or not drawn:
        return ""
    return lines(_without_bars(drawn, league.replicates), profile.response.axes, profile.response.title)


def _without_bars(drawn: Sequence[Line], replicates: int) -> list[Line]:
    return [replace(line, bounds=()) if replicates < LEAST_REPLICATES else line for line in drawn]


def _traces(league: League, found: Sequence[Trace], folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the drawing of each trace, or the reason for a missing one. The drawings share their scales."""
    tops: dict[str, float] = {}
    for panel in (panel for trace in found for panel in trace.panels):
        tops[panel.title] = max(tops.get(panel.title, 0.0), top_of(panel))
    for trace in found:
        yield {
            "kind": trace.kind,
            "failure": trace.failure,
            "svg": multiples(trace.panels, END_S, trace.kind.title, tops, trace.kind.events_s),
            "command": trace_command(league, trace, folder),
        }


def _rows(league: League, place: AlgorithmScores, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each suite, with its environments, the worst first."""
    for each in league.suites:
        entry = place.entries[each.suite.name]
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
                    "command": environment_command(league, each, environment, place.label, folder),
                }
                for environment in sorted(parts, key=lambda environment: -parts[environment])
            ],
        }
