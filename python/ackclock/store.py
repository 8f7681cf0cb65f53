"""Stored results: SQLite as index and journal of summaries, Parquet for samples."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from ackclock import _core
from ackclock.errors import StoreError
from ackclock.job import Job, Outcome

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY,
    scenario TEXT NOT NULL,
    scenario_hash TEXT NOT NULL,
    seed INTEGER NOT NULL,
    replicate INTEGER NOT NULL,
    version TEXT NOT NULL,
    scenario_json TEXT NOT NULL,
    result_json TEXT NOT NULL,
    samples INTEGER NOT NULL
) STRICT
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
        self.folder = None if folder is None else Path(folder)
        self._memory: dict[str, Outcome] = {}
        try:
            if self.folder is not None:
                (self.folder / "samples").mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(":memory:" if self.folder is None else self.folder / "runs.sqlite")
            if self.folder is not None:
                self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute(_SCHEMA)
            self._db.commit()
        except (OSError, sqlite3.Error) as error:
            raise self._error("cannot be used as a store", error) from None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        self._db.close()

    def get(self, job: Job) -> Outcome | None:
        """Return the stored outcome of a job, with samples if the job wants them, or nothing.

        A result whose samples are lost or cut off counts as not there.
        """
        try:
            row = self._db.execute(
                "SELECT result_json, samples FROM runs WHERE key = ?", (job.key,)
            ).fetchone()
        except sqlite3.Error as error:
            raise self._error("cannot be read", error) from None
        if row is None or (job.samples and not row[1]):
            return None
        if not job.samples:
            return Outcome(job.key, row[0])
        if self.folder is None:
            return self._memory[job.key]
        try:
            flows, links = (self.samples_path(job.key, kind).read_bytes() for kind in _SAMPLES)
        except OSError:
            return None
        if not all(content[:4] == content[-4:] == _PARQUET for content in (flows, links)):
            return None
        return Outcome(job.key, row[0], flows, links)

    def put(self, job: Job, outcome: Outcome) -> None:
        """Store an outcome; the index is written last, so that it names only what is there."""
        try:
            if job.samples:
                self._put_samples(outcome)
            with self._db:
                self._db.execute(
                    "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        job.key,
                        job.name,
                        job.scenario_hash,
                        job.seed,
                        job.replicate,
                        _core.BUILD,
                        job.scenario_json,
                        outcome.result_json,
                        job.samples,
                    ),
                )
        except (OSError, sqlite3.Error) as error:
            raise self._error("a result cannot be written", error) from None

    def samples_path(self, key: str, kind: str) -> Path:
        """Return the Parquet file of the samples of `flows` or `links`; only of a store with a folder."""
        if self.folder is None:
            raise StoreError("samples of a store in memory have no path")
        return self.folder / "samples" / f"{key}-{kind}.parquet"

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

    def _error(self, what: str, error: Exception) -> StoreError:
        place = "<memory>" if self.folder is None else str(self.folder)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return StoreError(
            f"{place}: {what}: {reason}; finished runs are kept, so the same command goes on where it stopped"
        )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all. Raises `OSError`."""
    # Another process may be writing the same result.
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
