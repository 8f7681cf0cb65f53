"""The verdict in sentences, from the scores alone."""

from __future__ import annotations

from ackclock import _core
from ackclock.evaluation.score import Result, Score, Scoreboard

#: These words mark a verdict without a large and significant difference.
SILENT = "shows no large and significant difference"


def verdict(board: Scoreboard) -> str:
    """Compare the first candidate with the reference, and name its worst environment."""
    return _core.verdict(board)


def worst_result(board: Scoreboard) -> tuple[Result, Score] | None:
    """Return the environment and metric in which the first candidate is worst, or None.

    Only metrics with a natural maximum compete: efficiency, shares and Jain's index.
    """
    if (found := _core.worst_result(board)) is None:
        return None
    place, metric = found
    return board.results[place], board.results[place].scores[0][metric]
