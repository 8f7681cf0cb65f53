"""Scores and differences as the pages of a league show them."""

from __future__ import annotations

from ackclock.evaluation.scoreboard import interval_text
from ackclock.leagues.pairs import Difference
from ackclock.statistics.estimates import Estimate

_DASH, _MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
#: The intervals of fewer replicates are too wide to be useful.
LEAST_REPLICATES = 3
#: The digits of a score after the decimal point.
_DIGITS = 2


def text(value: Estimate | None) -> str:
    """Return a score with its interval."""
    return _DASH if value is None else interval_text(value, _DIGITS)


def signed(value: float, digits: int = _DIGITS) -> str:
    """Return a difference with its sign. Zero has none."""
    rounded = round(value, digits) + 0.0
    sign = "" if not rounded else "+" if rounded > 0 else _MINUS
    return f"{sign}{abs(rounded):.{digits}f}"


def difference_text(found: Difference | None) -> str:
    """Return a difference with its sign and interval, and an asterisk if it is significant."""
    if found is None:
        return _DASH
    value = found.value
    ends = "" if value.low is None or value.high is None else f" [{signed(value.low)}, {signed(value.high)}]"
    return f"{signed(value.mean)}{ends}{' *' if found.is_significant else ''}"


def first_line(message: str) -> str:
    """Return a message without the lines of code that follow it."""
    return message.partition("\n")[0]
