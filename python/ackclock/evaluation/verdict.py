"""One sentence in plain words, from the scores alone."""

from __future__ import annotations

from ackclock import _core
from ackclock.evaluation.score import Result, Score, Scoreboard

#: The words of a verdict without a difference that counts.
SILENT = "shows no difference that counts"


def verdict(board: Scoreboard) -> str:
    """Say how the first candidate compares with the reference, and where it does worst."""
    return _core.verdict(board)


def worst_result(board: Scoreboard) -> tuple[Result, Score] | None:
    """Return the environment and metric in which the first candidate is most clearly worse, or nothing.

    Worseness is a share: of the capacity, of a fair share, of Jain's index; loss and delay have no natural
    whole and do not compete here.
    """
    if (found := _core.worst_result(board)) is None:
        return None
    place, metric = found
    return board.results[place], board.results[place].scores[0][metric]
