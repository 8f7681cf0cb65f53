"""The rows of the validation overview: claims, slices, results at full length and their page."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT

import evidence_full
import evidence_page
import evidence_slice
import rows
from evidence_page import Result
from rows import Command, Reading, Row

COUNT = Reading(r"(?P<passed>[1-9]\d*) passed", "{passed} tests pass")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(BIN)", ".venv/bin")
NAMES = [row.name for row in rows.rows()]


def row(command: str = "echo 3 passed", **changes: Any) -> Row:
    made = Row("some", "a claim", "make some", Command(command, COUNT, "a second"))
    return dataclasses.replace(made, **changes)


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (evidence_slice, evidence_full):
        monkeypatch.setattr(module, "LOGS", tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_a_row_names_the_command_that_is_run(name: str) -> None:
    """Either it is part of it, or a target of the Makefile that runs it."""
    (found,) = rows.chosen([name])
    target = re.fullmatch(r"make ([a-z0-9-]+)", found.shown)
    if target is None:
        assert all(word in found.full.command for word in found.shown.split())
        return
    recipe = re.search(rf"^{target[1]}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert recipe is not None
    assert found.full.command == found.shown or f"\t{found.full.command}\n" in recipe[1]


@pytest.mark.parametrize("name", NAMES)
def test_what_a_row_runs_is_there(name: str) -> None:
    (found,) = rows.chosen([name])
    assert set(found.needs) <= rows.NEEDS.keys()
    assert found.page is None or (ROOT / found.page).exists()
    for command in filter(None, (found.full, found.slice)):
        files = re.findall(r"\b(?:tools|tests|fuzz)/[\w/.-]+\w", command.command)
        assert [file for file in files if not (ROOT / file).exists()] == []
        assert set(re.findall(r"{(\w+)}", command.reading.says)) <= set(
            re.compile(command.reading.pattern).groupindex
        )


def test_every_row_is_run_by_the_tests() -> None:
    """In a slice, or in whole as `test_golden.py` does."""
    assert [each.name for each in rows.rows() if each.slice is None] == ["golden"]
    assert re.search(r"^test:.* evidence-slice ", MAKEFILE, re.MULTILINE)


def test_numbers_of_several_matches_are_added_up() -> None:
    assert COUNT.figure("3 passed; 0 failed\n0 passed\n12 passed\n") == "15 tests pass"
    assert Reading(r"(?P<speed>\d\.\d)", "{speed}").figure("7.5 7.6") == "7.5"


def test_no_test_at_all_is_no_figure() -> None:
    assert COUNT.figure("test result: ok. 0 passed; 0 failed") is None


def test_a_command_fails_by_its_exit_code_or_without_a_figure(tmp_path: Path) -> None:
    def outcome(command: str) -> tuple[str | None, str]:
        found = rows.run(Command(command, COUNT), tmp_path / "log")
        return found.figure, found.failure

    assert outcome("echo 3 passed") == ("3 tests pass", "")
    assert outcome("echo 3 passed >&2; exit 2") == ("3 tests pass", "exit code 2")
    assert outcome("echo nothing") == (None, "no figure in its output")
    assert (tmp_path / "log").read_text() == "nothing\n"


def test_a_name_that_no_row_has_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no row is called nosuch; there are compare-ns2, "):
        rows.chosen(["fuzz", "nosuch"])
    assert [each.name for each in rows.chosen(["fuzz", "model"])] == ["model", "fuzz"]


def test_a_queue_that_cannot_be_made_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / "unshare"
    monkeypatch.setenv("PATH", str(tmp_path))
    there = rows.NEEDS["tc as root"][0]
    assert not there()
    for status in (0, 1):
        made.write_text(f"#!/bin/sh\nexit {status}\n")
        made.chmod(0o755)
        assert there() == (status == 0)


def test_what_is_missing_is_named_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = row(needs=("ns2", "valgrind")).missing
    assert found == "ns2 and valgrind are missing (apt-get install ns2; apt-get install valgrind)"
    assert row().missing is None


def test_slices_say_at_the_end_what_was_skipped(
    logs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    some = Command("echo 3 passed", COUNT)
    selected = [row(slice=some), row(name="other", slice=some, needs=("ns2",)), row(name="whole")]
    assert evidence_slice.run_slices(selected) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:3] == ["some: 3 tests pass (0 s)", "other: skipped", "whole: the tests run all of it"]
    assert said[3] == "evidence: 3 rows, 0 failed, 1 skipped, 0 s"
    assert said[4:] == ["  skipped other: ns2 is missing (apt-get install ns2)"]


def test_a_slice_that_fails_shows_its_last_words(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failing = Command("seq 100; echo no more; exit 1", COUNT)
    assert evidence_slice.run_slices([row(slice=failing)]) == 1
    said = capsys.readouterr().out
    assert "some: FAILED, exit code 1" in said and "  no more\n" in said and "\n  50\n" not in said
    assert said.endswith("evidence: 1 rows, 1 failed, 0 skipped, 0 s\n")


BEFORE = Result("echo 3 passed", "2 tests pass", "", "2020-01-01", "abc", 9)


def test_a_row_that_ran_has_its_figure_date_and_commit(logs: Path) -> None:
    found = evidence_full.result(row(), BEFORE, "def")
    assert (found.figure, found.failure, found.commit, found.skipped) == ("3 tests pass", "", "def", "")
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", found.date) and found.date > BEFORE.date


def test_a_row_that_is_skipped_keeps_what_it_had(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = evidence_full.result(row(needs=("ns2",)), BEFORE, "def")
    assert dataclasses.replace(found, skipped="") == BEFORE
    assert re.fullmatch(r"skipped on [\d-]+: ns2 is missing \(apt-get install ns2\)", found.skipped)
    assert evidence_full.result(row(needs=("ns2",)), None, "def").commit == ""


def test_changes_of_the_sources_show_in_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_full, "ROOT", tmp_path)
    for name in ("PAGE", "RESULTS"):
        monkeypatch.setattr(evidence_page, name, tmp_path / name)
    assert evidence_full.commit() == "unknown"
    for path in ("PAGE", "RESULTS", "source"):
        (tmp_path / path).write_text("old")
    who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "all")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (tmp_path / "PAGE").write_text("new")
    clean = evidence_full.commit()
    assert re.fullmatch(r"[0-9a-f]{7,}", clean)
    (tmp_path / "source").write_text("new")
    assert evidence_full.commit() == f"{clean}-dirty"


@pytest.mark.parametrize(
    ("result", "cells"),
    [
        (None, "not run yet |  |  |"),
        (BEFORE, "2 tests pass | 2020-01-01 | `abc` |"),
        (
            dataclasses.replace(BEFORE, failure="exit code 1"),
            "**failed**, exit code 1: 2 tests pass | 2020-01-01 | `abc` |",
        ),
        (
            dataclasses.replace(BEFORE, figure="", failure="exit code 1"),
            "**failed**, exit code 1 | 2020-01-01 | `abc` |",
        ),
        (
            dataclasses.replace(BEFORE, command="echo 2 passed"),
            "2 tests pass; the command was `echo 2 passed` | 2020-01-01 | `abc` |",
        ),
        (dataclasses.replace(BEFORE, skipped="skipped"), "2 tests pass; skipped | 2020-01-01 | `abc` |"),
        (
            Result("echo 3 passed", "", "", "", "", 0, "skipped on a day: why"),
            "skipped on a day: why |  |  |",
        ),
    ],
)
def test_a_line_of_the_page(result: Result | None, cells: str) -> None:
    page = evidence_page.page([row()], {} if result is None else {"some": result})
    assert f"| a claim | `echo 3 passed`, a second | {cells}\n" in page


def test_the_page_is_that_of_the_results() -> None:
    assert evidence_page.PAGE.read_text(encoding="utf-8") == evidence_page.page(
        rows.rows(), evidence_page.stored()
    )


def test_a_row_that_is_run_alone_leaves_the_others_as_they_were(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = [row(), row("echo 4 passed; exit 1", name="other")]
    monkeypatch.setattr(evidence_page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(evidence_page, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(evidence_full, "commit", lambda: "def")
    monkeypatch.setattr(evidence_full, "rows", lambda: both)
    monkeypatch.setattr(evidence_full, "chosen", lambda names: [each for each in both if each.name in names])
    monkeypatch.setattr(sys, "argv", ["evidence_full.py", "--only", "other"])
    evidence_page.store({"some": BEFORE, "gone": BEFORE}, both)
    assert evidence_full.main() == 1
    stored = evidence_page.stored()
    assert stored["some"] == BEFORE and stored.keys() == {"some", "other"}
    assert (stored["other"].figure, stored["other"].failure) == ("4 tests pass", "exit code 1")
    assert "**failed**, exit code 1: 4 tests pass" in (tmp_path / "page.md").read_text()


def test_a_row_that_does_not_exist_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (evidence_slice, evidence_full):
        monkeypatch.setattr(sys, "argv", ["tool", "--only", "nosuch"])
        with pytest.raises(SystemExit, match="2"):
            module.main()
        assert "--only: no row is called nosuch; there are compare-ns2" in capsys.readouterr().err
