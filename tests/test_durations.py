"""The list of fast files of tests, which `make check` runs."""

from __future__ import annotations

import subprocess
import sys

import pytest
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


@pytest.mark.parametrize(
    ("options", "code"), [(["--fast"], 5), (["--write-durations", "-n2"], 4), (["--collect-only"], 0)]
)
def test_the_options(options: list[str], code: int) -> None:
    """No test of a slow file is collected. Several processes cannot write one list."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "tests/test_reproduce.py", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == code, done.stdout
