"""Stores that were tampered with, files that others place in the way, and each write that fails once."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pty
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars
import pytest
from helpers import ACKCLOCK, TINY, cli
from test_bad_input import check_refused

from ackclock import Scenario
from ackclock.errors import StoreError
from ackclock.files import writing
from ackclock.running import rows as tables
from ackclock.running.index import INDEX
from ackclock.running.job import Job, Outcome, execute
from ackclock.running.store import LOCK, Store
from ackclock.studies.queries import TABLES, answer, left_out
from ackclock.text.cells import cell, csv_text, quoted


@pytest.fixture(scope="module")
def outcomes() -> list[tuple[Job, Outcome]]:
    """Two replicates of a small scenario, with samples."""
    scenario = Scenario.from_dict(json.loads(Scenario._wrap(_tiny()).resolved_json))
    jobs = [
        Job("tiny", scenario.resolved_json, scenario.hash, 1, replicate, samples=True) for replicate in (0, 1)
    ]
    return [(job, execute(job)) for job in jobs]


def _tiny() -> Any:
    from ackclock import _core

    return _core.Scenario.from_toml(TINY, "tiny.toml", ["duration=3 s", "warmup=0 s"])


@pytest.fixture
def folder(tmp_path: Path, outcomes: list[tuple[Job, Outcome]]) -> Path:
    """A store with both."""
    with Store(tmp_path / "out") as store:
        for job, outcome in outcomes:
            store.put(job, outcome)
    return tmp_path / "out"


def _change(folder: Path, *statements: str) -> None:
    index = sqlite3.connect(folder / INDEX)
    with index:
        for statement in statements:
            index.execute(statement)
    index.close()


_DOUBLE = """
UPDATE runs SET (result_json, histograms_json) =
(SELECT result_json, histograms_json FROM runs WHERE replicate = 0) WHERE replicate = 1
"""


@pytest.mark.parametrize(
    ("statement", "damaged"),
    [
        ("UPDATE runs SET seed = seed", 0),
        (_DOUBLE, 1),
        ("UPDATE runs SET result_json = replace(result_json, '1', '2')", 2),
        ("UPDATE runs SET result_json = json_set(result_json, '$.summary', 'text') WHERE replicate = 0", 1),
        ("UPDATE runs SET replicate = 1 - replicate", 2),
        ("UPDATE runs SET checksum = NULL WHERE replicate = 1", 1),
        ("UPDATE runs SET samples_checksum = NULL WHERE replicate = 1", 1),
        ("UPDATE runs SET scenario = 'another' WHERE replicate = 1", 1),
    ],
)
def test_a_row_that_is_not_as_it_was_written_is_damaged(
    folder: Path, outcomes: list[tuple[Job, Outcome]], statement: str, damaged: int
) -> None:
    _change(folder, statement)
    with Store.reading(folder) as store:
        assert sum(store.get(job) is None for job, _ in outcomes) == damaged
        assert TABLES["runs"](store).height == 2 - damaged
        told = "".join(left_out(store))
        assert (f"left out {damaged} of 2 runs, whose rows are damaged" in told) == (damaged > 0)
    with Store(folder) as store:
        for job, outcome in outcomes:
            if not store.has(job):
                store.put(job, outcome)
        assert [store.get(job) for job, _ in outcomes] == [outcome for _, outcome in outcomes]


def test_a_summary_of_texts_is_damaged_whatever_its_checksum(folder: Path) -> None:
    index = sqlite3.connect(folder / INDEX)
    tables.prepare(index)
    values = f"row_checksum({', '.join(tables._RUNS)})"
    with index:
        index.execute("UPDATE runs SET result_json = json_set(result_json, '$.summary.goodput_bps', 'much')")
        index.execute(f"UPDATE runs SET checksum = {values}")
    index.close()
    with Store.reading(folder) as store:
        assert "left out 2 of 2 runs" in left_out(store)[0]
        assert answer(store, "SELECT count(*) AS n FROM runs", tell=lambda _: None)["n"].to_list() == [0]


def test_swapped_samples_are_damaged(folder: Path, outcomes: list[tuple[Job, Outcome]]) -> None:
    first, second = (folder / "samples" / f"{job.key}-flows.parquet" for job, _ in outcomes)
    content = first.read_bytes(), second.read_bytes()
    first.write_bytes(content[1])
    second.write_bytes(content[0])
    with Store.reading(folder) as store:
        assert [store.get(job) for job, _ in outcomes] == [None, None]
    check_refused(cli("plot", folder, "--run", "1"), "samples of", "are damaged")


def test_settings_and_scenarios_that_were_changed_are_told(
    folder: Path, outcomes: list[tuple[Job, Outcome]]
) -> None:
    job = outcomes[0][0]
    with Store(folder) as store:
        store.set_points("study", [(1, job.scenario_hash, 1, 2, '{"topology.rate": "2 Mbit/s"}')])
        assert TABLES["runs"](store)["topology.rate"].to_list() == ["2 Mbit/s"] * 2
        assert store.scenario(job.scenario_hash) == job.scenario_json
    _change(folder, "UPDATE points SET settings_json = replace(settings_json, '2', '9')")
    _change(folder, "UPDATE scenarios SET json = '{}'")
    with Store.reading(folder) as store:
        with pytest.raises(StoreError, match="the settings of point 1 of study study are damaged"):
            TABLES["runs"](store)
        assert store.scenario(job.scenario_hash) is None


def _without_checksums(folder: Path) -> None:
    """Make a store of format 2 of one."""
    drops = [
        ("runs", "checksum"),
        ("runs", "samples_checksum"),
        ("scenarios", "checksum"),
        ("points", "checksum"),
    ]
    _change(folder, *(f"ALTER TABLE {table} DROP COLUMN {column}" for table, column in drops))
    _change(folder, "PRAGMA user_version = 2")


def test_a_store_without_checksums_is_read_and_upgraded(
    folder: Path, outcomes: list[tuple[Job, Outcome]]
) -> None:
    _without_checksums(folder)
    before = (folder / INDEX).read_bytes()
    with Store.reading(folder) as store:
        assert [store.get(job) for job, _ in outcomes] == [outcome for _, outcome in outcomes]
        assert (TABLES["runs"](store).height, left_out(store)) == (2, [])
    assert (folder / INDEX).read_bytes() == before
    assert cli("plot", folder, "--list").code == 0
    with Store(folder) as store:
        assert all(store.has(job) for job, _ in outcomes)
    index = sqlite3.connect(folder / INDEX)
    assert index.execute("PRAGMA user_version").fetchone() == (3,)
    assert index.execute("SELECT count(*) FROM runs WHERE checksum IS NOT NULL").fetchone() == (2,)
    index.close()


def test_rows_do_not_outlive_their_store(folder: Path) -> None:
    store = Store.reading(folder)
    found = store.rows("SELECT key FROM runs")
    next(found)
    store.close()
    with pytest.raises(StoreError, match="is closed, so its rows can no longer be read"):
        next(found)
    with pytest.raises(StoreError, match="is closed"):
        next(store.rows("SELECT key FROM runs"))
    store.close()


def test_a_lock_that_is_a_link_or_a_pipe_is_refused(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    for make in (
        lambda lock: lock.symlink_to(precious),
        os.mkfifo,
        lambda lock: lock.symlink_to("/dev/zero"),
    ):
        out = tmp_path / "out"
        out.mkdir(exist_ok=True)
        (out / LOCK).unlink(missing_ok=True)
        make(out / LOCK)
        with Store(out) as store, pytest.raises(StoreError, match="cannot be claimed"):
            store.claim()
    assert precious.read_text() == "kept"


def test_partial_files_have_random_names_and_are_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    names: list[str] = []
    real = os.open

    def watched(path: Any, flags: int, mode: int = 0o777, **options: Any) -> int:
        if str(path).endswith(".partial"):
            names.append(Path(path).name)
            assert flags & os.O_EXCL and flags & os.O_NOFOLLOW
        return real(path, flags, mode, **options)

    monkeypatch.setattr(os, "open", watched)
    for _ in range(2):
        writing.write_whole(tmp_path / "file", b"new")
    assert len(set(names)) == 2
    # Whoever guesses a name gains nothing.
    monkeypatch.setattr(os, "urandom", bytes)
    (tmp_path / f".ackclock-{os.getpid()}-{'0' * 32}.partial").symlink_to(precious)
    with pytest.raises(FileExistsError):
        writing.write_whole(tmp_path / "file", b"evil")
    assert (precious.read_text(), (tmp_path / "file").read_bytes()) == ("kept", b"new")


def test_a_link_in_the_place_of_a_file_is_replaced(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (tmp_path / "file").symlink_to(precious)
    writing.write_whole(tmp_path / "file", b"new")
    assert (precious.read_text(), (tmp_path / "file").read_bytes()) == ("kept", b"new")


def test_cells_that_begin_a_formula_are_quoted() -> None:
    kept = ["-1.5", "+3e-7", "-.5", "aimd", "", "a=b"]
    assert [cell(text) for text in kept] == kept
    for text in ("=1+1", "+cmd|' /C calc'!A0", "-5 ms", "@SUM(A1)", "\t=1", "\r=1", "--1"):
        assert cell(text) == f"'{text}"
    assert quoted('=a"b') == '"\'=a""b"'
    frame = polars.DataFrame({"=x": ["=1", "-2", None, "b"], "y": [-1, 2, 3, 4]})
    assert csv_text(frame) == "'=x,y\n'=1,-1\n-2,2\n,3\nb,4\n"


def test_escapes_of_a_tampered_store_do_not_reach_the_terminal(folder: Path) -> None:
    index = sqlite3.connect(folder / INDEX)
    tables.prepare(index)
    with index:
        evil = "\x1b]0;evil\x07\x1b[2J"
        index.execute(
            "UPDATE runs SET scenario = ?, version = version || ? WHERE replicate = 1", (evil, evil)
        )
        index.execute("UPDATE runs SET scenario = ?", (evil,))
        index.execute(f"UPDATE runs SET checksum = row_checksum({', '.join(tables._RUNS)})")
    index.close()
    queries = ("SELECT scenario, version FROM runs", "SELECT * FROM runs")
    commands = [
        *(
            ["query", sql, "--store", str(folder), *more]
            for sql in queries
            for more in ([], ["--csv"], ["--json"])
        ),
        ["query", "FROM runs", "--store", str(folder), "--all-versions", "--csv"],
        ["query", "--tables", "--store", str(folder)],
        ["plot", str(folder), "--list"],
        ["plot", str(folder), "--run", "1"],
    ]
    for command in commands:
        shown = _on_a_terminal(command)
        assert b"\x1b]" not in shown and b"\x1b[2J" not in shown and b"\x07" not in shown, (command, shown)


def _on_a_terminal(arguments: list[str]) -> bytes:
    ours, theirs = pty.openpty()
    with subprocess.Popen([ACKCLOCK, *arguments], stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b"".join(_until_closed(ours))
        process.wait(60)
    os.close(ours)
    return shown


def _until_closed(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            yield os.read(terminal, 65536)
        except OSError:
            return


class _Fails:
    """Lets call number `n` of those that are watched fail as a full disk does."""

    #: The watched functions. Methods of files and of the index are watched as well.
    FUNCTIONS: tuple[tuple[Any, str], ...] = (
        (os, "open"),
        (os, "fstat"),
        (os, "fsync"),
        (fcntl, "flock"),
        (sqlite3, "connect"),
        (Path, "mkdir"),
        (Path, "glob"),
        (Path, "replace"),
    )

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
        self.left = number
        #: The name of the call that failed.
        self.failed = ""
        for place, name in self.FUNCTIONS:
            error = _disk_full if place is sqlite3 else _no_space
            monkeypatch.setattr(place, name, self.wrapped(name, getattr(place, name), error))
        connect, fdopen = sqlite3.connect, os.fdopen
        monkeypatch.setattr(sqlite3, "connect", lambda *args: connect(*args, factory=self.index()))
        monkeypatch.setattr(os, "fdopen", lambda *args, **options: _File(self, fdopen(*args, **options)))

    def wrapped(
        self, name: str, call: Callable[..., Any], error: Callable[[], Exception]
    ) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            self.count(name, error)
            return call(*args, **kwargs)

        return watched

    def index(self) -> type[sqlite3.Connection]:
        fails = self

        class Index(sqlite3.Connection):
            def execute(self, *args: Any) -> sqlite3.Cursor:
                fails.count("execute", _disk_full)
                return super().execute(*args)

            def executemany(self, *args: Any) -> sqlite3.Cursor:
                fails.count("executemany", _disk_full)
                return super().executemany(*args)

            def __exit__(self, *args: Any) -> Any:
                if args[0] is None:
                    try:
                        fails.count("commit", _disk_full)
                    except sqlite3.Error:
                        self.rollback()
                        raise
                return super().__exit__(*args)

        return Index

    def count(self, name: str, error: Callable[[], Exception]) -> None:
        self.left -= 1
        if self.left == 0:
            self.failed = name
            raise error()


class _File:
    """A file whose writes, flushes and closes are watched. A write that fails has written a half."""

    def __init__(self, fails: _Fails, file: Any) -> None:
        self._fails, self._file = fails, file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, content: bytes) -> int:
        half = len(content) // 2
        self._file.write(content[:half])
        self._fails.count("write", _no_space)
        return half + int(self._file.write(content[half:]))

    def flush(self) -> None:
        self._fails.count("flush", _no_space)
        self._file.flush()

    def close(self) -> None:
        # The descriptor is closed also where the system reports a failure.
        self._file.close()
        self._fails.count("close", _no_space)


def _no_space() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _disk_full() -> sqlite3.Error:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


def test_each_call_of_store_and_writer_fails_once(
    tmp_path: Path, outcomes: list[tuple[Job, Outcome]]
) -> None:
    """A failing call gives one message, keeps finished runs, leaves nothing half, and the store continues."""
    failed: set[str] = set()
    contents = [None, b"a,b\n", b"a,b\n1,2\n"]
    for number in range(1, 200):
        out = tmp_path / str(number)
        done: list[Job] = []
        with pytest.MonkeyPatch.context() as patch:
            fails = _Fails(patch, number)
            try:
                with Store(out) as store:
                    store.claim()
                    store.set_points("study", [(1, outcomes[0][0].scenario_hash, 1, 2, "{}")])
                    for job, outcome in outcomes:
                        store.put(job, outcome)
                        done.append(job)
                    for content in contents[1:]:
                        assert content is not None
                        store.write_file("summary.csv", content)
            except StoreError as error:
                assert "\n" not in str(error) and str(out) in str(error)
            else:
                assert fails.left > 0 or fails.failed == "close", fails.failed
            failed.add(fails.failed)
        assert not list(out.rglob("*.partial"))
        summary = out / "summary.csv"
        assert (summary.read_bytes() if summary.exists() else None) in contents
        if done:
            with Store.reading(out) as store:
                assert all(store.get(job) is not None for job in done)
        with Store(out) as store:
            store.claim()
            for job, outcome in outcomes:
                assert store.has(job) == (job in done)
                store.put(job, outcome)
            assert [store.get(job) for job, _ in outcomes] == [outcome for _, outcome in outcomes]
        if fails.left > 0:
            break
    names = {name for _, name in _Fails.FUNCTIONS}
    methods = {"write", "flush", "close", "execute", "executemany", "commit"}
    assert failed == names | methods | {""}


@pytest.mark.parametrize(("number", "call"), [(1, "open"), (2, "write"), (3, "close")])
def test_each_call_of_a_write_to_a_device_fails_once(
    number: int, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Path("/dev/null")
    fails = _Fails(monkeypatch, number)
    with pytest.raises(StoreError, match="/dev/null: cannot be written"), writing.keeping_runs(device):
        writing.write_target(device, b"content")
    assert fails.failed == call
