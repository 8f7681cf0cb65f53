"""Ctrl-C: exit code 130, finished runs kept and taken up again."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers import ACKCLOCK, TINY, cli

#: Minutes of work for any machine: no test waits for the end of it.
ENDLESS = TINY.replace('"8 s"', '"2000 h"')

SUITE = """\
name = "mixed"
version = 1
title = "Short runs, then runs without end"
replicates = 2
test = ["test"]
panel = ["aimd"]

[[environments]]
id = "short"
scenario = "short.toml"
title = "Short"
question = "Is it kept?"
"""
ENDLESS_ENVIRONMENT = """
[[environments]]
id = "endless"
scenario = "endless.toml"
title = "Endless"
question = "Does it stop when told to?"
"""


@contextmanager
def started(*args: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Start `ackclock`; whatever happens, nothing is left running."""
    process = subprocess.Popen(
        [ACKCLOCK, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # A test runner in the background may have Ctrl-C switched off, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def rows(out: Path) -> list[tuple[str, str]]:
    index = sqlite3.connect(out / "runs.sqlite")
    try:
        return sorted(index.execute("SELECT key, result_json FROM runs"))
    except sqlite3.OperationalError:
        return []
    finally:
        index.close()


def interrupted(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert stdout == ""
    (line,) = stderr.strip().splitlines()
    assert line.startswith("interrupted; finished runs are kept in ")


def test_evaluate_keeps_finished_runs_and_takes_them_up(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(TINY)
    (tmp_path / "endless.toml").write_text(ENDLESS)
    (tmp_path / "suite.toml").write_text(SUITE + ENDLESS_ENVIRONMENT)
    out = tmp_path / "out"
    command = (
        "evaluate",
        "new-aimd",
        "--suite",
        tmp_path,
        "--out",
        out,
        "--replicates",
        "1",
        "--workers",
        "2",
    )
    with started(*command) as process:
        # One short run for each of two candidates; then both workers run without end.
        while not (out / "runs.sqlite").exists() or len(rows(out)) < 2:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        interrupted(process)
    kept = rows(out)
    assert len(kept) == 2
    (tmp_path / "suite.toml").write_text(SUITE)
    answer = cli(*command)
    assert answer.code == 0, answer.stderr
    # The CPU time in each document gives away whether the engine ran again.
    assert rows(out) == kept


def test_run_stops_at_once(tmp_path: Path) -> None:
    path = tmp_path / "endless.toml"
    path.write_text(ENDLESS)
    out = tmp_path / "out"
    with started("run", path, "--json", "--out", out) as process:
        while not (out / "runs.sqlite").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        # The store is there before the engine starts; let it start.
        time.sleep(0.5)
        interrupted(process)
    assert rows(out) == []
    assert list((out / "samples").iterdir()) == []
