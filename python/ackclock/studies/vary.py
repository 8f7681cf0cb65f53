"""Parses the axes of a study, each in one line: `KEY=VALUE,VALUE` or `KEY=LOW..HIGH`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ackclock.errors import InputError
from ackclock.files.documents import toml_of
from ackclock.files.labels import parts

_NUMBER = r"(\d+\.?\d*|\.\d+)"
#: The form of a range with units and an optional number of values: `0.1..16BDP`, `1Mbit/s..1Gbit/s:4`.
_RANGE = re.compile(rf"\s*{_NUMBER}\s*([A-Za-z/%]*)\s*\.\.\s*{_NUMBER}\s*([A-Za-z/%]*)\s*(?::\s*(\d+))?\s*")
#: The default ratio of successive values.
_FACTOR = 2.0
#: The digits of values in a range with a number of values.
_DIGITS = 3
_MOST = 10_000
_EXAMPLE = "topology.queue.limit=0.1..16BDP or flows.test.cc=cubic,bbr3"


def grid_of(texts: Iterable[str]) -> dict[str, list[Any]]:
    """Return the table `grid` of a study file. Raises `InputError`."""
    grid: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        key = key.strip()
        if not key or not equals or not values.strip():
            raise InputError(f"--vary {text}: must be KEY=VALUES, such as {_EXAMPLE}")
        if key in grid:
            raise InputError(f"--vary {text}: {key} varies twice; give all its values at once")
        grid[key] = _values(text, values)
    return grid


def _values(text: str, values: str) -> list[Any]:
    found = _RANGE.fullmatch(values)
    if found is not None:
        return _range(text, *found.groups())
    if ".." in values and "=" not in values:
        raise InputError(
            f"--vary {text}: a range is LOW..HIGH with one unit, such as 0.1..16BDP, or 1..1000Mbit/s:4 "
            "for four values"
        )
    return [_value(part) for part in parts(values)]


def _range(text: str, low: str, unit: str, high: str, high_unit: str, count: str | None) -> list[Any]:
    """Return the values of a range, with ratios of two or a given number of values."""
    if unit not in ("", high_unit):
        raise InputError(f"--vary {text}: write both ends in one unit, {unit} or {high_unit or 'none'}")
    first, last = float(low), float(high)
    if not 0 < first < last:
        raise InputError(
            f"--vary {text}: a range increases from a number above 0, in equal ratios; "
            "list other values separately"
        )
    if count is not None and not 2 <= int(count) <= _MOST:
        raise InputError(f"--vary {text}: must have 2 to {_MOST} values")
    is_whole = low.isdigit() and high.isdigit() and high_unit in ("", "packets")
    if count is None:
        numbers: list[float] = []
        while first * _FACTOR ** len(numbers) < last:
            numbers.append(first * _FACTOR ** len(numbers))
        numbers.append(last)
    else:
        inner = (first * (last / first) ** (step / (int(count) - 1)) for step in range(1, int(count) - 1))
        numbers = [first, *(float(f"{number:.{_DIGITS}g}") for number in inner), last]
    if is_whole:
        numbers = [*dict.fromkeys(round(number) for number in numbers)]
    return [f"{_plain(number)} {high_unit}" if high_unit else number for number in numbers]


def _plain(number: float) -> str:
    return f"{number:.15g}" if 1e-4 <= abs(number) < 1e15 else repr(number)


def _value(text: str) -> Any:
    """Return numbers, booleans and tables of TOML as such, and anything else as text."""
    try:
        return toml_of(f"value = {text}")["value"]
    except ValueError:
        return _number(text)


def _number(text: str) -> Any:
    """Return `.5`, which is invalid in TOML, as a number."""
    return float(text) if re.fullmatch(_NUMBER, text) else text
