"""The SQLite file of a store, opened for writing or only for reading, and its errors."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

from ackclock.errors import NO_ROOM, StoreError, writing_error

#: The name of the file in the folder of a store.
INDEX = "runs.sqlite"
#: Files in which SQLite keeps changes that are not yet in the main file.
_WAL = f"{INDEX}-wal"

#: Errors after which the store is as sound as before, as after `NO_ROOM`.
_PASSING = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR}
_NOT_WRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS}
_READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
#: The first byte of an extended code is the code.
_CODE = 0xFF


def open_to_fill(folder: Path) -> sqlite3.Connection:
    """Open the index of a folder, which is made if it is not there. Raises `OSError` or `sqlite3.Error`."""
    (folder / "samples").mkdir(parents=True, exist_ok=True)
    index = sqlite3.connect(folder / INDEX)
    index.execute("PRAGMA journal_mode = WAL")
    # A killed process loses nothing. A power cut may lose the last runs but not the store.
    index.execute("PRAGMA synchronous = NORMAL")
    return index


def open_to_read(folder: Path) -> sqlite3.Connection:
    """Open an existing index only for reading. The folder need not be writable.

    Raises `OSError` or `sqlite3.Error`.
    """
    uri = (folder / INDEX).resolve().as_uri()
    if os.access(folder, os.W_OK):
        # SQLite creates files in the folder of the index while it reads, and removes them.
        return _connected(f"{uri}?mode=rw")
    wal = folder / _WAL
    if not wal.is_file() or wal.stat().st_size == 0:
        return _connected(f"{uri}?immutable=1")
    try:
        return _connected(f"{uri}?mode=ro")
    except sqlite3.OperationalError:
        return _copied(folder)


def store_error(place: str, what: str, error: OSError | sqlite3.Error) -> StoreError:
    """Return the error of a store with advice.

    It says that finished runs are kept only if the store is undamaged.
    """
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    advice = _advice(error)
    return writing_error(f"{place}: {what}: {reason}{'; ' if advice else ''}{advice}", error)


def _advice(error: OSError | sqlite3.Error) -> str:
    number = error.errno if isinstance(error, OSError) else None
    # An error of Python's own module, such as one of threads, has no code.
    code = (getattr(error, "sqlite_errorcode", None) or 0) & _CODE if number is None else None
    if number in NO_ROOM or code in _PASSING:
        return "finished runs are kept, so the same command continues where it stopped"
    if number in _NOT_WRITABLE or code in _READ_ONLY:
        return "a store is filled in a folder that can be written; use another folder"
    if number in (errno.ENOTDIR, errno.EEXIST):
        return "a store is a folder, and this is or leads through a file; use another folder"
    if code in _DAMAGED:
        return f"{INDEX} is damaged, or is not an index of ackclock; move it away, or use another folder"
    return ""


def _connected(uri: str) -> sqlite3.Connection:
    index = sqlite3.connect(uri, uri=True)
    try:
        index.execute("PRAGMA query_only = ON")
        count_tables(index)
    except sqlite3.Error:
        index.close()
        raise
    return index


def count_tables(index: sqlite3.Connection) -> int:
    """Count the tables and indexes in the schema. SQLite opens the file and reads the schema here.

    Raises `sqlite3.Error`.
    """
    try:
        (count,) = index.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except UnicodeDecodeError:
        # The message of SQLite quotes a damaged schema, and Python cannot decode it.
        raise sqlite3.DatabaseError("malformed database schema") from None
    return int(count)


def _copied(folder: Path) -> sqlite3.Connection:
    """Read a copy in memory, because SQLite cannot read its journal in a folder that is not writable."""
    memory = sqlite3.connect(":memory:")
    with tempfile.TemporaryDirectory(prefix="ackclock-") as name:
        for file in (INDEX, _WAL):
            shutil.copyfile(folder / file, Path(name) / file)
        copy = sqlite3.connect(Path(name) / INDEX)
        try:
            copy.backup(memory)
        finally:
            copy.close()
    return memory
