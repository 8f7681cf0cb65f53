"""Fixtures that several files of tests share."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from helpers import TINY
from hypothesis import settings

from ackclock.evaluation import evaluate
from ackclock.running.index import INDEX

# How long an example takes says something of the machine.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

pytest_plugins = ["durations"]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A file with a scenario that runs in no time."""
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


@pytest.fixture(scope="session")
def panel_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the runs of the panel of `core`, three replicates each. All workers copy the same one."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "panel-runs"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / INDEX).exists():
            evaluate("aimd", quick=True, out=folder)
    return folder


@pytest.fixture
def tiny_suite(tmp_path: Path) -> Path:
    """A folder with a suite of two environments, one of which watches a group."""
    folder = tmp_path / "tiny-suite"
    folder.mkdir()
    company = TINY + '\n[[flows]]\nname = "standard"\ncc = "aimd"\nstart = { uniform = ["0 s", "500 ms"] }\n'
    (folder / "alone.toml").write_text(TINY)
    (folder / "company.toml").write_text(company)
    (folder / "suite.toml").write_text(
        """\
name = "tiny"
version = 3
title = "Two small environments"
replicates = 2
test = ["test"]
panel = ["aimd", "aimd-fc+"]

[[environments]]
id = "alone"
scenario = "alone.toml"
title = "Among themselves"
question = "Do two flows share a link?"

[[environments]]
id = "company"
scenario = "company.toml"
set = ["duration=6 s"]
title = "In company"
question = "Does a standard flow get its share?"
watch = { metric = "share", group = "standard", label = "standard's share", better = "near-one" }
"""
    )
    return folder
