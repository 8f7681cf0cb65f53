"""Recorded arrivals: CSV files with a line per packet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from ackclock.errors import InputError
from ackclock.files.documents import read_text
from ackclock.text.suggest import hint

_REQUIRED, _OPTIONAL = ("time_s", "bytes"), ("flow", "ecn")
#: The two bits of the ECN field by name.
_ECN = {"not-ect": 0, "ect1": 1, "ect0": 2, "ce": 3, "": 0}
_MOST_BYTES = 65_535
#: The largest file.
_MOST = 256 * 2**20
_NS = 1_000_000_000


def read_trace(path: Path) -> list[tuple[int, int, int, int]]:
    """Return time (ns), bytes, number of the flow and ECN bits of each packet.

    The first line has the names of the columns `time_s`, `bytes`, and optionally `flow` and `ecn`. Raises
    `InputError` with file and line.
    """
    lines = csv.DictReader(read_text(path, _MOST).splitlines(), strict=True)
    columns = [name.strip() for name in lines.fieldnames or ()]
    if missing := [name for name in _REQUIRED if name not in columns]:
        raise InputError(
            f"{path}: line 1: has no column {missing[0]}; the columns are {', '.join(_REQUIRED)}, and "
            f"optionally {', '.join(_OPTIONAL)}"
        )
    known = (*_REQUIRED, *_OPTIONAL)
    if unknown := [name for name in columns if name not in known]:
        raise InputError(f"{path}: line 1: unknown column {unknown[0]!r}; {hint(unknown[0], known)}")
    lines.fieldnames = columns
    found = list(_rows(path, lines))
    if not found:
        raise InputError(f"{path}: has no packets; each line after the first describes one")
    return found


def _rows(path: Path, lines: csv.DictReader[str]) -> Iterator[tuple[int, int, int, int]]:
    flows: dict[str, int] = {}
    last = 0
    try:
        for row in lines:
            if None in row or None in row.values():
                raise InputError(f"{path}: line {lines.line_num}: has another number of columns than line 1")
            at = _time(path, lines.line_num, row["time_s"])
            if at < last:
                raise InputError(
                    f"{path}: line {lines.line_num}: time_s is before the line above; sort the file by time_s"
                )
            last = at
            size = row["bytes"].strip()
            if not size.isdecimal() or not 1 <= int(size) <= _MOST_BYTES:
                raise InputError(
                    f"{path}: line {lines.line_num}: bytes is {size!r}, but must be a whole number from 1 to "
                    f"{_MOST_BYTES}"
                )
            ecn = row.get("ecn", "").strip().lower()
            if ecn not in _ECN:
                names = [name for name in _ECN if name]
                raise InputError(f"{path}: line {lines.line_num}: ecn is {ecn!r}; {hint(ecn, names)}")
            flow = flows.setdefault(row.get("flow", "").strip(), len(flows))
            yield at, int(size), flow, _ECN[ecn]
    except csv.Error as error:
        raise InputError(f"{path}: line {lines.line_num}: {error}") from None


def _time(path: Path, line: int, text: str) -> int:
    try:
        nanoseconds = float(text) * _NS
    except ValueError:
        nanoseconds = -1.0
    if not 0 <= nanoseconds < 2**63:
        raise InputError(f"{path}: line {line}: time_s is {text.strip()!r}, but must be a number from 0 on")
    return round(nanoseconds)
