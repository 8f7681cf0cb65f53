"""What several tests use: the command, a scenario that runs in no time, documents without CPU time."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from ackclock import _core, kernel
from ackclock.errors import InputError
from ackclock.kernels import store as kernels
from ackclock.page.embedded import web

ROOT = Path(__file__).parents[1]
TWO_FLOWS = ROOT / "examples" / "two-flows.toml"

#: The command of the interpreter that runs the tests.
ACKCLOCK = str(Path(sysconfig.get_path("scripts")) / "ackclock")

#: A link of 6 packets each way and a queue of 10: full, with losses, within seconds.
TINY = """\
schema = 1
name = "tiny"
duration = "8 s"
warmup = "1 s"

[topology]
kind = "dumbbell"
rate = "2 Mbit/s"
delay = "18 ms"
queue = { kind = "drop-tail", limit = "10 packets" }
access = { rate = "20 Mbit/s", delay = "1 ms" }

[[flows]]
name = "test"
count = 2
cc = { kind = "aimd", increase = 1, remaining = 0.5 }
start = { uniform = ["0 s", "500 ms"] }
"""


@dataclass(frozen=True)
class Answer:
    """What a command left."""

    code: int
    stdout: str
    stderr: str


def cli(
    *args: str | Path,
    cwd: Path | None = None,
    stdout: int = subprocess.PIPE,
    before: Callable[[], None] | None = None,
    columns: int | None = None,
) -> Answer:
    """Run `ackclock`; `before` runs in the new process, ahead of the command. `columns`: of the terminal."""
    done = subprocess.run(
        [ACKCLOCK, *map(str, args)],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "" if columns is None else str(columns)},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=before,
        timeout=300,
        check=False,
    )
    return Answer(done.returncode, done.stdout or "", done.stderr)


def without_cpu_time(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a run without the one thing that luck does not decide."""
    assert document["engine_cpu_s"] >= 0
    return {key: value for key, value in document.items() if key != "engine_cpu_s"}


def without_cost(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a run without its events, too: some are for samples, if it takes any."""
    assert document["events"] > 0
    return {key: value for key, value in without_cpu_time(document).items() if key != "events"}


def rows(folder: Path) -> dict[str, str]:
    """What is stored; the CPU time in each document gives away whether the engine ran again."""
    index = sqlite3.connect(folder / "runs.sqlite")
    try:
        return dict(index.execute("SELECT key, result_json FROM runs"))
    except sqlite3.OperationalError:
        return {}
    finally:
        index.close()


@lru_cache(maxsize=1)
def no_emulation() -> str:
    """Return why this machine cannot emulate; nothing if it can."""
    try:
        brief = ["duration=1 ms", "warmup=0 s", "flows.test.start=0 s"]
        _core.Scenario.from_toml(TINY, "tiny.toml", brief).emulate()
    except _core.BackendError as error:
        return str(error)
    return ""


@lru_cache(maxsize=1)
def no_programs() -> str:
    """Return why the kernel takes no programs from here; nothing if it does."""
    try:
        kernel.attach("aimd", {}, f"probe{os.getpid()}")[1].close()
    except kernel.KernelError as error:
        return str(error)
    return ""


#: Tests that need the running kernel, and are skipped with the reason where it is of no use.
emulates = pytest.mark.skipif(bool(no_emulation()), reason=f"no emulation here: {no_emulation()}")
loads = pytest.mark.skipif(
    bool(no_emulation() or no_programs()),
    reason=f"no programs in the kernel here: {no_emulation() or no_programs()}",
)


def require_kernel() -> None:
    """Skip the test where no kernel in virtual time can run."""
    try:
        kernels.find()
        kernels.check_host()
    except InputError as error:
        pytest.skip(str(error))


def require_web() -> None:
    """Skip the test where the module for browsers is not built."""
    try:
        web()
    except InputError as error:
        pytest.skip(str(error))
