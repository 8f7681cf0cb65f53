"""The list of fast files of tests, which `make check` runs."""

from __future__ import annotations

import re
import subprocess
import sys

from durations import BUDGET_S, FAST_S, as_text, listed, merged
from helpers import ROOT


def test_the_list_names_files_and_keeps_its_budget() -> None:
    found = listed()
    assert list(found) == sorted(found)
    assert [file for file in found if not (ROOT / "tests" / file).is_file()] == []
    assert all(seconds <= FAST_S for seconds in found.values())
    assert sum(found.values()) <= BUDGET_S


def test_fast_files_join_the_list_and_slow_ones_leave_it() -> None:
    fast = merged({"a": 1.0, "b": 2.0}, {"b": FAST_S + 1, "c": 0.5})
    assert fast == {"a": 1.0, "c": 0.5}
    assert as_text(fast) == "1.0 a\n0.5 c\n"


def collected(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )


def test_fast_tests_are_those_of_the_list() -> None:
    done = collected("--fast", "tests")
    assert done.returncode == 0, done.stdout
    assert set(re.findall(r"tests/(test_\w+\.py)::", done.stdout)) == set(listed())


def test_several_processes_cannot_write_the_list() -> None:
    done = collected("--write-durations", "-n2", "tests/test_durations.py")
    assert done.returncode == 4
    assert "--write-durations needs one process; add -p no:xdist" in done.stdout
