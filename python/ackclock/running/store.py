"""Stored results: SQLite as index and journal of summaries and histograms, Parquet for samples."""

from __future__ import annotations

import fcntl
import io
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from ackclock.errors import StoreError
from ackclock.files.writing import remove_partial, write_whole
from ackclock.running.index import INDEX, open_to_fill, open_to_read, store_error
from ackclock.running.job import Job, Outcome

#: Of the tables below; SQLite keeps it in the file.
_FORMAT = 2
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY,
    scenario TEXT NOT NULL,
    scenario_hash TEXT NOT NULL,
    seed INTEGER NOT NULL,
    replicate INTEGER NOT NULL,
    version TEXT NOT NULL,
    result_json TEXT NOT NULL,
    histograms_json TEXT NOT NULL,
    samples INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS scenarios (
    hash TEXT PRIMARY KEY,
    json TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS points (
    study TEXT NOT NULL,
    point INTEGER NOT NULL,
    scenario_hash TEXT NOT NULL,
    seed INTEGER NOT NULL,
    replicates INTEGER NOT NULL,
    settings_json TEXT NOT NULL,
    PRIMARY KEY (study, point)
) STRICT;
"""
#: Whether a row holds the documents of a run; SQLite checks them faster than they can be read.
SOUND = """
CASE WHEN json_valid(result_json) AND json_valid(histograms_json)
THEN json_type(result_json, '$.summary') IS 'object' AND json_type(result_json, '$.flows') IS 'array'
    AND json_type(result_json, '$.links') IS 'array' AND json_type(histograms_json) IS 'array'
ELSE 0 END
"""
_SAMPLES = ("flows", "links")
#: A whole Parquet file begins and ends with this.
_PARQUET = b"PAR1"


class Store:
    """Results by key, in a folder, or in memory without one.

    A result is written in one transaction as soon as its run ends, so a process that dies loses nothing that
    was finished. Raises `StoreError` where the folder cannot be used.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self._begin(folder)
        try:
            self._db = sqlite3.connect(":memory:") if self.folder is None else open_to_fill(self.folder)
            self._require_format()
            # One transaction: a process that dies here leaves no tables without their format.
            self._db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_FORMAT}; COMMIT;")
        except (OSError, sqlite3.Error) as error:
            raise self._error("cannot be used as a store", error) from None

    @classmethod
    def reading(cls, folder: str | Path) -> Store:
        """Open a store that is there to read it only; its folder need not be writable.

        Raises `StoreError` if it is not there or cannot be read.
        """
        if not (Path(folder) / INDEX).is_file():
            raise StoreError(f"{folder}: is not a store: it has no {INDEX}")
        store = cls.__new__(cls)
        store._begin(folder)
        try:
            store._db = open_to_read(Path(folder))
            if store._require_format() == 0:
                raise StoreError(f"{folder}: is not a store: its {INDEX} is empty")
        except (OSError, sqlite3.Error) as error:
            raise store._error("cannot be read", error) from None
        return store

    def _begin(self, folder: str | Path | None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._memory: dict[str, Outcome] = {}
        self._scenarios: set[str] = set()
        self._lock: TextIO | None = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index, and let others claim the store."""
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    def claim(self) -> None:
        """Keep other processes that claim the store out, until this one closes it or dies.

        Raises `StoreError` where another process has claimed it.
        """
        if self.folder is None:
            return
        try:
            self._lock = (self.folder / "lock").open("a")
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

        Of samples it looks at the ends of their files; what is damaged between them only `get` notices.
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
        row = self._row("SELECT result_json, histograms_json FROM runs WHERE key = ?", (job.key,))
        if row is None:
            return None
        if not job.samples:
            return Outcome(job.key, row[0], row[1])
        if self.folder is None:
            return self._memory[job.key]
        try:
            flows, links = (self.samples_path(job.key, kind).read_bytes() for kind in _SAMPLES)
        except OSError as error:
            raise self._error("samples cannot be read", error) from None
        if not (_is_table(flows) and _is_table(links)):
            return None
        return Outcome(job.key, row[0], row[1], flows, links)

    def put(self, job: Job, outcome: Outcome) -> None:
        """Store an outcome; the index is written last, so that it names only what is there."""
        try:
            if job.samples:
                self._put_samples(outcome)
            with self._db:
                if job.scenario_hash not in self._scenarios:
                    self._scenarios.add(job.scenario_hash)
                    scenario = (job.scenario_hash, job.scenario_json)
                    self._db.execute("INSERT OR IGNORE INTO scenarios VALUES (?, ?)", scenario)
                self._db.execute(
                    "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        job.key,
                        job.name,
                        job.scenario_hash,
                        job.seed,
                        job.replicate,
                        job.build,
                        outcome.result_json,
                        outcome.histograms_json,
                        job.samples,
                    ),
                )
        except (OSError, sqlite3.Error) as error:
            raise self._error("a result cannot be written", error) from None

    def set_points(self, study: str, points: Iterable[tuple[int, str, int, int, str]]) -> None:
        """Store what a study consists of.

        Of each point: number, scenario hash, seed, replicates, settings as JSON.
        """
        try:
            with self._db:
                self._db.execute("DELETE FROM points WHERE study = ?", (study,))
                rows = ((study, *point) for point in points)
                self._db.executemany("INSERT INTO points VALUES (?, ?, ?, ?, ?, ?)", rows)
        except sqlite3.Error as error:
            raise self._error("points cannot be written", error) from None

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Return the rows of an SQL query on the index, one by one."""
        try:
            yield from self._db.execute(query, values)
        except sqlite3.Error as error:
            raise self._error("cannot be read", error) from None

    def samples_path(self, key: str, kind: str) -> Path:
        """Return the Parquet file of the samples of `flows` or `links`; only of a store with a folder."""
        if self.folder is None:
            raise StoreError("samples of a store in memory have no path")
        return self.folder / "samples" / f"{key}-{kind}.parquet"

    def broken_samples(self, key: str) -> list[Path]:
        """Return the files of samples of a run that are lost or cut off."""
        paths = (self.samples_path(key, kind) for kind in _SAMPLES)
        return [path for path in paths if not _is_whole(path)]

    def write_file(self, name: str, content: str | bytes) -> Path:
        """Write a file beside the index, whole or not at all."""
        if self.folder is None:
            raise StoreError("a store in memory holds no files")
        path = self.folder / name
        try:
            write_whole(path, content.encode() if isinstance(content, str) else content)
        except OSError as error:
            raise self._error(f"{name} cannot be written", error) from None
        return path

    def _put_samples(self, outcome: Outcome) -> None:
        if self.folder is None:
            self._memory[outcome.key] = outcome
            return
        for kind, content in zip(_SAMPLES, (outcome.flow_samples, outcome.link_samples), strict=True):
            if content is not None:
                write_whole(self.samples_path(outcome.key, kind), content)

    def _row(self, query: str, values: Sequence[Any]) -> tuple[Any, ...] | None:
        return next(self.rows(query, values), None)

    def _require_format(self) -> int:
        """Return the number of tables and indices. Raises `StoreError` for those of another format."""
        # Tables first: where another process makes them in between, their format is there, too.
        (count,) = self._db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found != _FORMAT and count:
            raise StoreError(
                f"{self.folder}: was filled by another version of ackclock (format {found}, this is "
                f"{_FORMAT}); use another folder"
            )
        return int(count)

    def _error(self, what: str, error: OSError | sqlite3.Error) -> StoreError:
        return store_error("<memory>" if self.folder is None else str(self.folder), what, error)


def _is_whole(path: Path) -> bool:
    """Return whether a Parquet file is there, and not cut off."""
    try:
        with path.open("rb") as file:
            first = file.read(len(_PARQUET))
            # The end: how long the footer is, and the mark once more.
            size = file.seek(0, os.SEEK_END)
            file.seek(size - 2 * len(_PARQUET))
            footer = int.from_bytes(file.read(len(_PARQUET)), "little")
            return first == file.read() == _PARQUET and footer + 3 * len(_PARQUET) <= size
    # A file of fewer bytes has no such end.
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
