"""The list of slow tests, which `make check` leaves out."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from durations import FAST_S, as_text, listed, merged
from helpers import ROOT


def test_the_list_names_tests() -> None:
    gone = []
    for test in listed():
        file, _, name = test.partition("::")
        function = name.partition("[")[0].rpartition("::")[2]
        path = ROOT / file
        if not path.is_file() or not re.search(rf"def {function}\b", path.read_text(encoding="utf-8")):
            gone.append(test)
    assert gone == [], "`make durations` writes the list"


def test_the_list_is_sorted_and_names_no_fast_test() -> None:
    found = listed()
    assert list(found) == sorted(found)
    assert all(seconds >= FAST_S for seconds in found.values())


def test_slow_tests_join_the_list_and_fast_ones_do_not() -> None:
    slow = merged({"c": 2.0, "a": 9.0}, {"a": 1.0, "b": FAST_S / 2})
    assert slow == {"a": 1.0, "c": 2.0}
    assert as_text(slow) == "1.0  a\n2.0  c\n"


@pytest.mark.parametrize(("options", "code"), [(["--fast"], 5), (["--write-durations", "-n2"], 4)])
def test_the_options(options: list[str], code: int) -> None:
    """Without its slow tests a file is empty. Several processes cannot write one list."""
    slow = next(iter(listed()))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", slow, "--collect-only", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == code, done.stdout
