"""Preloaded by the workers of `test_cluster`: what they run is written down, and some runs go wrong."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.running import cluster, executor
from ackclock.running.executor import Chunk
from ackclock.running.job import Job, Outcome, execute


def run_slowly(job: Job, cancel: _core.Cancel) -> Outcome:
    """Run a job; its name may ask for trouble."""
    if job.name == "fails":
        raise ValueError("this went wrong\nin two lines")
    if job.name == "dies":
        os._exit(1)
    note("run", [job.key])
    time.sleep(0.02)
    outcome = execute(job, cancel)
    note("done", [job.key])
    return outcome


def run_chunk(jobs: Sequence[Job], cancel: _core.Cancel, most_s: float) -> Chunk:
    """Run a chunk, and note what it is and what of it was finished."""
    note("begun", [job.key for job in jobs])
    chunk = executor.execute_chunk(jobs, cancel, most_s)
    note("ended", [outcome.key for outcome in chunk.outcomes])
    return chunk


def note(what: str, keys: Sequence[str]) -> None:
    """Append a line to the file of this process."""
    with (Path(os.environ["ACKCLOCK_NOTES"]) / str(os.getpid())).open("a") as file:
        file.write(f"{what} {' '.join(keys)}\n")


def dask_setup(worker: Any) -> None:
    """Called by Dask when the worker starts."""
    setattr(executor, "execute", run_slowly)  # noqa: B010
    setattr(cluster, "execute_chunk", run_chunk)  # noqa: B010
    match os.environ.get("ACKCLOCK_PRETEND"):
        case "other":
            _core.BUILD = "0.0.1+0123456789abcdef"
        case "none":
            sys.modules["ackclock"] = None  # type: ignore[assignment]
