"""Stored results: SQLite as index and journal of summaries and histograms, Parquet for samples."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from ackclock.errors import StoreError
from ackclock.files.reading import SAMPLES, open_regular, read_bytes
from ackclock.files.writing import open_lock, remove_partial, write_whole
from ackclock.running.index import INDEX, count_tables, open_to_fill, open_to_read, store_error
from ackclock.running.job import Job, Outcome
from ackclock.running.rows import (
    FORMAT,
    PUT_POINT,
    PUT_RUN,
    PUT_SCENARIO,
    SOUND,
    SOUND_SCENARIO,
    WITHOUT_CHECKSUMS,
    checksum,
    make_or_upgrade,
    prepare,
    read_old,
)

#: The file that a process locks while it fills a store.
LOCK = "lock"
_SAMPLES = ("flows", "links")
#: A whole Parquet file begins and ends with this.
_PARQUET = b"PAR1"


class Store:
    """Results by key, in a folder, or in memory without one.

    A result is written in one transaction as soon as its run ends. A process that dies therefore loses no
    finished run. Raises `StoreError` where the folder cannot be used.
    """

    #: None once the store is closed.
    _db: sqlite3.Connection | None

    def __init__(self, folder: str | Path | None = None) -> None:
        self._begin(folder)
        try:
            index = sqlite3.connect(":memory:") if self.folder is None else open_to_fill(self.folder)
            self._db = index
            prepare(index)
            make_or_upgrade(index, self._require_format()[1])
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise self._error("cannot be used as a store", error) from None
        except StoreError:
            self.close()
            raise

    @classmethod
    def reading(cls, folder: str | Path) -> Store:
        """Open an existing store only for reading. Its folder need not be writable.

        Raises `StoreError` if it does not exist or cannot be read.
        """
        if not (Path(folder) / INDEX).is_file():
            if not Path(folder).exists():
                raise StoreError(f"{folder}: no such folder")
            raise StoreError(f"{folder}: is not a store: it contains no {INDEX}")
        store = cls.__new__(cls)
        store._begin(folder)
        try:
            index = open_to_read(Path(folder))
            store._db = index
            prepare(index)
            count, found = store._require_format()
            if count == 0:
                raise StoreError(f"{folder}: is not a store: its {INDEX} is empty")
            if found == WITHOUT_CHECKSUMS:
                read_old(index)
        except (OSError, sqlite3.Error) as error:
            store.close()
            raise store._error("cannot be read", error) from None
        except StoreError:
            store.close()
            raise
        return store

    def _begin(self, folder: str | Path | None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._memory: dict[str, Outcome] = {}
        self._scenarios: set[str] = set()
        self._lock: BinaryIO | None = None
        self._db = None
        self._cursors: weakref.WeakSet[sqlite3.Cursor] = weakref.WeakSet()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index, and let others claim the store."""
        for cursor in list(self._cursors):
            cursor.close()
        if self._db is not None:
            self._db.close()
            self._db = None
        if self._lock is not None:
            # The lock ends even if the system reports an error, and its file contains no data.
            with contextlib.suppress(OSError):
                self._lock.close()

    def claim(self) -> None:
        """Keep other processes that claim the store out, until this one closes it or dies.

        Raises `StoreError` where another process has claimed it.
        """
        if self.folder is None:
            return
        try:
            self._lock = open_lock(self.folder / LOCK)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_partial(self.folder)
        except BlockingIOError:
            raise StoreError(
                f"{self.folder}: another process is filling this store; wait for it, or use another folder"
            ) from None
        except OSError as error:
            raise self._error("cannot be claimed", error) from None

    def has(self, job: Job) -> bool:
        """Return whether `get` would find the job's outcome.

        It checks only the ends of the files of samples. `get` also notices damage between them.
        """
        if job.capture is not None or job.programs is not None:
            return False
        row = self._row(f"SELECT samples FROM runs WHERE key = ? AND {SOUND}", (job.key,))
        if row is None or (job.samples and not row[0]):
            return False
        if not job.samples or self.folder is None:
            return True
        return not self.broken_samples(job.key)

    def get(self, job: Job) -> Outcome | None:
        """Return the stored outcome of a job, with samples if the job wants them, or nothing.

        A result counts as not there if its row is damaged, or its samples are lost, cut off or damaged.
        """
        if not self.has(job):
            return None
        columns = "result_json, histograms_json, samples_checksum"
        row = self._row(f"SELECT {columns} FROM runs WHERE key = ?", (job.key,))
        if row is None:
            return None
        if not job.samples:
            return Outcome(job.key, row[0], row[1])
        if self.folder is None:
            return self._memory[job.key]
        found = self.samples(job.key, row[2])
        return None if found is None else Outcome(job.key, row[0], row[1], *found)

    def samples(self, key: str, expected: str | None) -> tuple[bytes, bytes] | None:
        """Return the files of samples of a run with this checksum of both, or nothing if they are damaged.

        Files without a checksum, of a store of format 2, are read to their end. Raises `StoreError`.
        """
        try:
            flows, links = (read_bytes(self.samples_path(key, kind), SAMPLES) for kind in _SAMPLES)
        except OSError as error:
            raise self._error("samples cannot be read", error) from None
        if expected is None:
            is_sound = _is_table(flows) and _is_table(links)
        else:
            is_sound = expected == checksum(flows, links)
        return (flows, links) if is_sound else None

    def put(self, job: Job, outcome: Outcome) -> None:
        """Store an outcome. The index is written last, so that it names only existing files."""
        try:
            samples_checksum = self._put_samples(outcome) if job.samples else None
            with self._index as index:
                if job.scenario_hash not in self._scenarios:
                    index.execute(PUT_SCENARIO, (job.scenario_hash, job.scenario_json))
                index.execute(
                    PUT_RUN,
                    (
                        job.key,
                        job.name,
                        job.scenario_hash,
                        job.seed,
                        job.replicate,
                        job.build,
                        outcome.result_json,
                        outcome.histograms_json,
                        int(job.samples),
                        samples_checksum,
                    ),
                )
            self._scenarios.add(job.scenario_hash)
        except (OSError, sqlite3.Error) as error:
            raise self._error("a result cannot be written", error) from None

    def set_points(self, study: str, points: Iterable[tuple[int, str, int, int, str]]) -> None:
        """Store the points of a study: number, scenario hash, seed, replicates, and settings as JSON."""
        try:
            with self._index as index:
                index.execute("DELETE FROM points WHERE study = ?", (study,))
                index.executemany(PUT_POINT, ((study, *point) for point in points))
        except sqlite3.Error as error:
            raise self._error("points cannot be written", error) from None

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Return the rows of an SQL query on the index, one by one, until the store is closed.

        Raises `StoreError` where they cannot be read, and where the store is closed.
        """
        try:
            cursor = self._index.execute(query, values)
            self._cursors.add(cursor)
            yield from cursor
        except sqlite3.Error as error:
            if self._db is None:
                raise self._closed() from None
            raise self._error("cannot be read", error) from None

    @property
    def _index(self) -> sqlite3.Connection:
        if self._db is None:
            raise self._closed()
        return self._db

    def _closed(self) -> StoreError:
        return StoreError(f"{self.folder or '<memory>'}: is closed, so its rows can no longer be read")

    def scenario(self, scenario_hash: str) -> str | None:
        """Return the JSON of a scenario, or nothing if it is not there or its row is damaged."""
        query = f"SELECT json FROM scenarios WHERE hash = ? AND {SOUND_SCENARIO}"
        row = self._row(query, (scenario_hash,))
        return None if row is None else str(row[0])

    def samples_path(self, key: str, kind: str) -> Path:
        """Return the Parquet file of the samples of `flows` or `links`. It needs a store with a folder."""
        if self.folder is None:
            raise StoreError("samples of a store in memory have no path")
        return self.folder / "samples" / f"{key}-{kind}.parquet"

    def broken_samples(self, key: str) -> list[Path]:
        """Return the files of samples of a run that are lost or cut off."""
        paths = (self.samples_path(key, kind) for kind in _SAMPLES)
        return [path for path in paths if not _is_whole(path)]

    def write_file(self, name: str, content: str | bytes) -> Path:
        """Write a file into the folder of the index, whole or not at all."""
        if self.folder is None:
            raise StoreError("a store in memory holds no files")
        path = self.folder / name
        try:
            write_whole(path, content.encode() if isinstance(content, str) else content)
        except OSError as error:
            raise self._error(f"{name} cannot be written", error) from None
        return path

    def _put_samples(self, outcome: Outcome) -> str:
        """Write the files of samples, and return the checksum of both."""
        files = (outcome.flow_samples or b"", outcome.link_samples or b"")
        if self.folder is None:
            self._memory[outcome.key] = outcome
            return checksum(*files)
        for kind, content in zip(_SAMPLES, files, strict=True):
            if content:
                write_whole(self.samples_path(outcome.key, kind), content)
        return checksum(*files)

    def _row(self, query: str, values: Sequence[Any]) -> tuple[Any, ...] | None:
        return next(self.rows(query, values), None)

    def _require_format(self) -> tuple[int, int]:
        """Return the number of tables and indices, and their format. Raises `StoreError` for others."""
        # Count tables first: if another process creates them in between, their format exists as well.
        count = count_tables(self._index)
        (found,) = self._index.execute("PRAGMA user_version").fetchone()
        if found not in (FORMAT, WITHOUT_CHECKSUMS) and count:
            raise StoreError(
                f"{self.folder}: was filled by another version of ackclock (format {found}, this reads "
                f"{WITHOUT_CHECKSUMS} and {FORMAT}); use another folder"
            )
        return count, int(found) if count else FORMAT

    def _error(self, what: str, error: OSError | sqlite3.Error) -> StoreError:
        return store_error("<memory>" if self.folder is None else str(self.folder), what, error)


def _is_whole(path: Path) -> bool:
    """Return whether a Parquet file is there, and not cut off."""
    try:
        with open_regular(path, SAMPLES) as file:
            first = file.read(len(_PARQUET))
            # The file ends with the length of the footer and the mark.
            size = file.seek(0, os.SEEK_END)
            file.seek(size - 2 * len(_PARQUET))
            footer = int.from_bytes(file.read(len(_PARQUET)), "little")
            return first == file.read() == _PARQUET and footer + 3 * len(_PARQUET) <= size
    # A shorter file has no such end.
    except (OSError, ValueError):
        return False


def _is_table(content: bytes) -> bool:
    """Return whether Parquet can be read to its end."""
    import polars

    try:
        polars.read_parquet(io.BytesIO(content))
    except (polars.exceptions.PolarsError, OSError):
        return False
    return True
