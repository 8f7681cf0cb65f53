"""Files of measurements: which tool wrote one, and one of its transfers."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ackclock.captures import flent, iperf3, qlog, ss
from ackclock.captures.measured import Measured
from ackclock.errors import ArgumentError, ArgumentValueError, InputError

#: Limits in bytes: a decompressed file that is read as a whole, a record of JSON-SEQ, and all records.
MOST_BYTES, _MOST_RECORD, _MOST_LINES = 64 << 20, 4 << 20, 4 << 30
_GZIP = b"\x1f\x8b"
#: Transfers that a message lists.
_LISTED = 8
_PACKETS = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
)


class Found(NamedTuple):
    """The transfer that was chosen, and the names of all."""

    measured: Measured
    names: list[str]


def is_measurement(path: Path) -> bool:
    """Whether a file is text, as measurements are, and no capture of packets. Raises `InputError`."""
    if not path.is_file():
        return False
    start = _start(path)
    return bool(start) and not start.startswith(_PACKETS) and start.lstrip()[:1] in (b"{", b"\x1e", *_TEXT)


#: How a text of ss begins: with a time, a state or the head of its table.
_TEXT = tuple(bytes([byte]) for byte in b"0123456789SENFLC")


def read(path: Path, wanted: str | None = None) -> Found:
    """Return a transfer of a file, by its number or name. By default return the largest one.

    Raises `InputError` if the file contains no transfer, `ArgumentError` if none has this name.
    """
    try:
        return _read(path, wanted)
    except ArgumentError:
        raise
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(str(path)) else f"{path}: {message}") from None


def _read(path: Path, wanted: str | None) -> Found:
    start = _start(path)
    if _is_records(start):
        return _of_qlog(qlog.of_records(_lines(path), str(path)), wanted)
    text = _text(path)
    if ss.is_ss(text):
        every = ss.connections(text)
        names = [each.name for each in every]
        return Found(ss.read(every[_choose(names, wanted)]), names)
    document = _document(text)
    if qlog.is_qlog(document):
        return _of_qlog(qlog.of_document(document), wanted)
    if iperf3.is_iperf3(document):
        names = iperf3.streams(document)
        index = _choose(names, wanted)
        return Found(iperf3.read(document, index, names[index]), names)
    if flent.is_flent(document):
        names = flent.streams(document)
        return Found(flent.read(document, names[_choose(names, wanted)]), names)
    raise InputError("is JSON, but not from iperf3 --json, Flent or qlog")


def _of_qlog(every: list[qlog.Connection], wanted: str | None) -> Found:
    names = [each.name for each in every]
    return Found(qlog.read(every[_choose(names, wanted)]), names)


def _choose(names: list[str], wanted: str | None) -> int:
    if wanted is None:
        return 0
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    found = [index for index, name in enumerate(names) if wanted in (name, *name.split(" > "))]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{number} ({name})" for number, name in enumerate(names[:_LISTED], 1))
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    raise ArgumentValueError(
        "flow", f"names {len(found) or 'no'} transfer: {wanted!r}; there are {listed}{more}"
    )


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError("is JSON that is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"is neither a capture nor a measurement: not JSON: {str(error)[:100]}") from None


def _is_records(start: bytes) -> bool:
    """Return whether each line of a file is a record of JSON, and its first line is not the last."""
    if start.startswith(b"\x1e"):
        return True
    line, newline, after = start.partition(b"\n")
    if not newline or not after.strip():
        return False
    try:
        return qlog.is_qlog(json.loads(line))
    except (ValueError, RecursionError):
        return False


def _open(path: Path) -> Any:
    with path.open("rb") as file:
        is_packed = file.read(2) == _GZIP
    return gzip.open(path, "rb") if is_packed else path.open("rb")


def _start(path: Path) -> bytes:
    try:
        with _open(path) as file:
            start: bytes = file.read(1 << 16)
            return start
    except (OSError, EOFError, zlib.error):
        return b""


def _text(path: Path) -> str:
    try:
        with _open(path) as file:
            content: bytes = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise InputError("is cut or damaged: it cannot be decompressed") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"has more than {MOST_BYTES >> 20} MiB; give a shorter measurement")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InputError("is neither a capture nor UTF-8 text") from None


def _lines(path: Path) -> Iterator[str]:
    left = _MOST_LINES
    try:
        with _open(path) as file:
            while line := file.readline(_MOST_RECORD + 1):
                left -= len(line)
                if len(line) > _MOST_RECORD or left < 0:
                    raise InputError(f"has a record of more than {_MOST_RECORD >> 20} MiB, or is too long")
                yield line.decode(errors="replace")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise InputError("is cut or damaged: it cannot be decompressed") from None
