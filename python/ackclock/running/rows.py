"""Tables of a store: their columns, the checksum of each row, and stores of an earlier format."""

from __future__ import annotations

import hashlib
import sqlite3

from ackclock.files.reading import VALUE

#: Version of the tables below, which SQLite keeps in the file. Rows of format 2 have no checksums.
FORMAT, WITHOUT_CHECKSUMS = 3, 2
SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY,
    scenario TEXT NOT NULL,
    scenario_hash TEXT NOT NULL,
    seed INTEGER NOT NULL,
    replicate INTEGER NOT NULL,
    version TEXT NOT NULL,
    result_json TEXT NOT NULL,
    histograms_json TEXT NOT NULL,
    samples INTEGER NOT NULL,
    samples_checksum TEXT,
    checksum TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS scenarios (
    hash TEXT PRIMARY KEY,
    json TEXT NOT NULL,
    checksum TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS points (
    study TEXT NOT NULL,
    point INTEGER NOT NULL,
    scenario_hash TEXT NOT NULL,
    seed INTEGER NOT NULL,
    replicates INTEGER NOT NULL,
    settings_json TEXT NOT NULL,
    checksum TEXT,
    PRIMARY KEY (study, point)
) STRICT;
"""
_RUNS = [
    "key",
    "scenario",
    "scenario_hash",
    "seed",
    "replicate",
    "version",
    "result_json",
    "histograms_json",
    "samples",
    "samples_checksum",
]
_SCENARIOS = ["hash", "json"]
_POINTS = ["study", "point", "scenario_hash", "seed", "replicates", "settings_json"]
#: Whether a row contains the documents of a run. SQLite checks them faster than they can be read.
_IS_RUN = """
CASE WHEN json_valid(result_json) AND json_valid(histograms_json)
THEN json_type(result_json, '$.summary') IS 'object' AND json_type(result_json, '$.flows') IS 'array'
    AND json_type(result_json, '$.links') IS 'array' AND json_type(histograms_json) IS 'array'
    AND NOT EXISTS (SELECT 1 FROM json_each(result_json, '$.summary') WHERE type IN ('text', 'object', 'array'))
    AND NOT EXISTS (SELECT 1 FROM json_each(result_json, '$.flows') WHERE type != 'object')
    AND NOT EXISTS (SELECT 1 FROM json_each(result_json, '$.links') WHERE type != 'object')
ELSE 0 END
"""  # noqa: E501


def _of(table: str, columns: list[str]) -> str:
    return f"row_checksum({', '.join(f'{table}.{column}' for column in columns)})"


def _put(table: str, columns: list[str]) -> str:
    values = ", ".join(f"?{number}" for number in range(1, len(columns) + 1))
    names = ", ".join(columns)
    return f"INSERT OR REPLACE INTO {table} ({names}, checksum) VALUES ({values}, row_checksum({values}))"


#: Whether the row of a run, a scenario or a point is as it was written.
SOUND = f"(runs.checksum IS {_of('runs', _RUNS)} AND {_IS_RUN})"
SOUND_SCENARIO = f"scenarios.checksum IS {_of('scenarios', _SCENARIOS)}"
SOUND_POINT = f"points.checksum IS {_of('points', _POINTS)}"

#: Each takes the values of a row in the order of its columns.
PUT_RUN = _put("runs", _RUNS)
PUT_SCENARIO = _put("scenarios", _SCENARIOS)
PUT_POINT = _put("points", _POINTS)

_UPGRADE = f"""
ALTER TABLE runs ADD COLUMN samples_checksum TEXT;
ALTER TABLE runs ADD COLUMN checksum TEXT;
ALTER TABLE scenarios ADD COLUMN checksum TEXT;
ALTER TABLE points ADD COLUMN checksum TEXT;
UPDATE runs SET checksum = {_of("runs", _RUNS)};
UPDATE scenarios SET checksum = {_of("scenarios", _SCENARIOS)};
UPDATE points SET checksum = {_of("points", _POINTS)};
"""
#: Tables without checksums, seen with those that their rows would have.
_VIEWS = f"""
CREATE TEMP VIEW runs AS SELECT rowid, *, {_of("old", _RUNS)} AS checksum
FROM (SELECT rowid, *, NULL AS samples_checksum FROM main.runs) AS old;
CREATE TEMP VIEW scenarios AS SELECT *, {_of("old", _SCENARIOS)} AS checksum FROM main.scenarios AS old;
CREATE TEMP VIEW points AS SELECT *, {_of("old", _POINTS)} AS checksum FROM main.points AS old;
"""


def checksum(*values: str | int | float | bytes | None) -> str:
    """Return the checksum of the values of a row, or of the contents of files."""
    digest = hashlib.blake2b(digest_size=16)
    for value in values:
        content = value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def prepare(index: sqlite3.Connection) -> None:
    """Give a connection the function that computes checksums, and the limit of a value."""
    index.create_function("row_checksum", -1, checksum, deterministic=True)
    index.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE)


def make_or_upgrade(index: sqlite3.Connection, found: int) -> None:
    """Make the tables of an empty store, and give the rows of format 2 their checksums."""
    upgrade = _UPGRADE if found == WITHOUT_CHECKSUMS else ""
    # One transaction: a process that dies here leaves no tables without their format.
    index.executescript(f"BEGIN IMMEDIATE; {upgrade} {SCHEMA} PRAGMA user_version = {FORMAT}; COMMIT;")


def read_old(index: sqlite3.Connection) -> None:
    """Let a store of format 2 be read in this format. Its folder is not changed."""
    index.execute("PRAGMA temp_store = MEMORY")
    index.execute("PRAGMA query_only = OFF")
    index.executescript(_VIEWS)
    index.execute("PRAGMA query_only = ON")
