"""The commands on the pages of a league, which show a result again."""

from __future__ import annotations

import shlex
from pathlib import Path

from ackclock.evaluation.report import cell_names, labels_of
from ackclock.leagues.roster import PROFILES
from ackclock.leagues.scores import League, SuiteScores
from ackclock.leagues.traces import Trace
from ackclock.running.cells import command as cell_command


def environment_command(
    league: League, scores: SuiteScores, environment: str, label: str, folder: Path
) -> str:
    """Return the command that runs an algorithm in an environment again."""
    place = labels_of(scores.evaluation).index(label)
    cell = cell_names(scores.evaluation, environment)[place]
    return cell_command(folder / scores.suite.name, cell, league.backend)


def trace_command(league: League, trace: Trace, folder: Path) -> str:
    """Return the command that draws a trace."""
    words = cell_command(folder / PROFILES, trace.cell, league.backend)
    return f"{words} --plot {trace.kind.id}.svg"


def response_command(league: League, label: str) -> str:
    """Return the command that prints a response function. Empty for a class without a file."""
    return _of_algorithms(league, "response", label)


def coexist_command(league: League, first: str, second: str) -> str:
    """Return the command that runs two algorithms on a bottleneck. Empty for a class without a file."""
    return _of_algorithms(league, "coexist", first, second)


def _of_algorithms(league: League, name: str, *labels: str) -> str:
    if any(label not in league.given for label in labels):
        return ""
    words = ["ackclock", name, *(league.given[label] for label in labels)]
    words += ["--replicates", str(league.replicates)]
    if league.seed != 1:
        words += ["--seed", str(league.seed)]
    return shlex.join(words)
