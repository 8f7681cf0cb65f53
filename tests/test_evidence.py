"""The rows of the validation overview: claims, slices, results at full length and their page."""

from __future__ import annotations

import dataclasses
import json
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
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
NAMES = [row.name for row in rows.rows()]


def row(command: str = "echo 3 passed", **changes: Any) -> Row:
    made = Row("some", "Tests", "a claim", "itself", Command(command, COUNT, "a second"))
    return dataclasses.replace(made, **changes)


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (evidence_slice, evidence_full):
        monkeypatch.setattr(module, "LOGS", tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_what_a_row_runs_is_there(name: str) -> None:
    (found,) = rows.chosen([name])
    assert set(found.needs) <= rows.NEEDS.keys()
    assert found.page is None or (ROOT / found.page).exists()
    assert all((ROOT / file).exists() for file in found.kept)
    for command in filter(None, (found.full, found.slice)):
        assert not command.tested or re.match(r"\.venv/bin/pytest tests/", command.command)
        target = re.match(r"make ([a-z0-9-]+)", command.command)
        assert target is None or re.search(rf"^{target[1]}:", MAKEFILE, re.MULTILINE)
        files = re.findall(r"\b(?:tools|tests|fuzz)/[\w/.-]+\w", command.command)
        assert [file for file in files if not (ROOT / file).exists()] == []
        assert set(re.findall(r"{(\w+)}", command.reading.says)) <= set(
            re.compile(command.reading.pattern).groupindex
        )


def test_every_row_is_run_by_the_tests() -> None:
    """In a slice, or in whole: `test_golden.py`, and `crates/ackclock/tests/theory`."""
    assert [each.name for each in rows.rows() if each.slice is None] == ["theory", "golden"]
    assert re.search(r"^test:.* test-rust .*test-python ", MAKEFILE, re.MULTILINE)
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


def test_exceptions_that_the_page_explains_are_no_failure(tmp_path: Path) -> None:
    reading = Reading(r"(?P<all>\d+) comparisons, (?P<unmet>\d+) not met", "{unmet} of {all} not met")

    def failure(unmet: int, code: int, exceptions: int = 4) -> str:
        command = f"echo 88 comparisons, {unmet} not met; exit {code}"
        return rows.run(Command(command, reading, exceptions=exceptions), tmp_path / "log").failure

    assert (failure(0, 0), failure(4, 1), failure(3, 1)) == ("", "", "")
    assert failure(5, 1) == failure(4, 1, exceptions=0) == failure(0, 1) == "exit code 1"
    assert failure(4, 2) == "exit code 2"


def test_a_name_that_no_row_has_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no row is called nosuch; there are kernel-agreement, "):
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
    tested = dataclasses.replace(some, tested=True)
    selected = [
        row(slice=some),
        row(name="other", slice=some, needs=("ns2",)),
        row(name="whole"),
        row(name="repeated", slice=tested),
    ]
    assert evidence_slice.run_slices(selected) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:4] == [
        "some: 3 tests pass (0 s)",
        "other: skipped",
        "whole: the tests run the whole row",
        "repeated: the tests run the slice",
    ]
    assert said[4] == "evidence: 4 rows, 0 failed, 1 skipped, 0 s"
    assert said[5:] == ["  skipped other: ns2 is missing (apt-get install ns2)"]


def test_a_slice_that_fails_shows_its_last_words(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failing = Command("seq 100; echo no more; exit 1", COUNT)
    assert evidence_slice.run_slices([row(slice=failing)]) == 1
    said = capsys.readouterr().out
    assert "some: FAILED, exit code 1" in said and "  no more\n" in said and "\n  50\n" not in said
    assert said.endswith("evidence: 1 rows, 1 failed, 0 skipped, 0 s\n")


BEFORE = Result("echo 3 passed", "2 tests pass", "", "2020-01-01", "abc", 9, version="1.2.3")


def test_a_row_that_ran_has_its_figure_date_and_commit(logs: Path) -> None:
    found = evidence_full.result(row(), BEFORE, "def")
    assert (found.figure, found.failure, found.commit, found.skipped) == ("3 tests pass", "", "def", "")
    assert found.version == evidence_page.current_version()
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", found.date) and found.date > BEFORE.date


def test_a_row_that_is_skipped_keeps_what_it_had(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = evidence_full.result(row(needs=("ns2",)), BEFORE, "def")
    assert dataclasses.replace(found, skipped="") == BEFORE
    assert re.fullmatch(r"Skipped on [\d-]+: ns2 is missing \(apt-get install ns2\)", found.skipped)
    assert evidence_full.result(row(needs=("ns2",)), None, "def").commit == ""


def test_changes_of_the_sources_show_in_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_full, "ROOT", tmp_path)
    for name in ("PAGE", "SLICES_PAGE", "RESULTS"):
        monkeypatch.setattr(evidence_page, name, tmp_path / name)
    assert evidence_full.commit() == "unknown"
    for path in ("PAGE", "SLICES_PAGE", "RESULTS", "source"):
        (tmp_path / path).write_text("old")
    who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "all")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (tmp_path / "PAGE").write_text("new")
    clean = evidence_full.commit()
    assert re.fullmatch(r"[0-9a-f]{7,}", clean)
    (tmp_path / "source").write_text("new")
    assert evidence_full.commit() == f"{clean}-dirty"


WHEN = "2020-01-01, 1.2.3, `abc`"


@pytest.mark.parametrize(
    ("result", "cells"),
    [
        (None, "not measured in 1.2.3 | "),
        (BEFORE, f"2 tests pass | {WHEN}"),
        (
            dataclasses.replace(BEFORE, failure="exit code 1"),
            f"**failed**, exit code 1: 2 tests pass | {WHEN}",
        ),
        (
            dataclasses.replace(BEFORE, figure="", failure="exit code 1"),
            f"**failed**, exit code 1 | {WHEN}",
        ),
        (
            dataclasses.replace(BEFORE, command="echo 2 passed"),
            f"2 tests pass. The command was `echo 2 passed` | {WHEN}",
        ),
        (dataclasses.replace(BEFORE, skipped="Skipped"), f"2 tests pass. Skipped | {WHEN}"),
        (
            Result("echo 3 passed", "", "", "", "", 0, "Skipped on a day: why"),
            "not measured in 1.2.3. Skipped on a day: why | ",
        ),
        (dataclasses.replace(BEFORE, version="1.2.2"), "not measured in 1.2.3 | "),
        (dataclasses.replace(BEFORE, commit=""), "2 tests pass | 2020-01-01, 1.2.3"),
    ],
)
def test_a_line_of_the_overview(result: Result | None, cells: str) -> None:
    page = evidence_page.overview([row()], {} if result is None else {"some": result}, "1.2.3")
    assert page.endswith(f"| a claim | itself | {cells} | `echo 3 passed`, a second |")


def test_the_pages_show_the_stored_results() -> None:
    every = rows.rows()
    shown = evidence_page.overview(every, evidence_page.known(every, evidence_page.stored()))
    assert f"\n\n{shown}\n\n" in evidence_page.PAGE.read_text(encoding="utf-8")
    assert f"\n\n{evidence_page.slices(every)}\n\n" in evidence_page.SLICES_PAGE.read_text(encoding="utf-8")


def test_no_figure_is_older_than_the_version() -> None:
    """Run the rows again, or withdraw their figures: docs/project/evidence.md."""
    results = evidence_page.known(rows.rows(), evidence_page.stored())
    assert evidence_page.outdated(results, evidence_page.current_version()) == []


@pytest.mark.parametrize(
    ("measured", "version", "is_older"),
    [
        ("0.1.0", "0.1.0", False),
        ("0.1.0", "0.1.1", True),
        ("0.1.9", "0.1.10", True),
        ("0.10.0", "0.9.0", False),
        ("0.2.0", "0.1.0", False),
        ("0.1.0", "0.1.0+e6df481d", False),
        ("0.1.0", "0.2.0-rc.1", True),
        ("", "0.1.0", True),
    ],
)
def test_a_figure_of_an_earlier_version_is_outdated(measured: str, version: str, is_older: bool) -> None:
    found = evidence_page.outdated({"some": dataclasses.replace(BEFORE, version=measured)}, version)
    assert found == ([f"some: measured with {measured or 'an unknown version'}, before {version}"] * is_older)


def test_a_row_without_a_figure_is_not_outdated() -> None:
    skipped = Result("echo 3 passed", "", "", "", "", 0, "Skipped on a day: why")
    assert evidence_page.outdated({"some": skipped}, "9.9.9") == []


def test_the_check_fails_for_an_old_figure_until_it_is_withdrawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages(tmp_path, monkeypatch)
    monkeypatch.setattr(evidence_full, "rows", lambda: [row()])
    monkeypatch.setattr(evidence_full, "chosen", lambda names: [row()])
    monkeypatch.setattr(evidence_full, "commit", lambda: "def")
    monkeypatch.setattr(evidence_page, "current_version", lambda: "1.3.0")
    evidence_page.store({"some": BEFORE}, [row()])
    monkeypatch.setattr(sys, "argv", ["evidence_full.py", "--check"])
    assert evidence_full.main() == 1
    assert capsys.readouterr().out == "some: measured with 1.2.3, before 1.3.0\n"
    monkeypatch.setattr(sys, "argv", ["evidence_full.py", "--withdraw", "some"])
    assert evidence_full.main() == 0
    assert evidence_page.stored() == {}
    assert "not measured in 1.3.0" in (tmp_path / "page.md").read_text()
    monkeypatch.setattr(sys, "argv", ["evidence_full.py", "--check"])
    assert (evidence_full.main(), capsys.readouterr().out) == (0, "")


def test_a_command_with_a_file_of_its_own_gives_its_oldest_version_and_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence_page, "ROOT", tmp_path)
    measured = [
        {"made": "Linux 6.18, 2026-02-03", "version": "0.2.0"},
        {"made": "Linux 6.18, 2026-01-02", "version": "0.1.0"},
    ]
    (tmp_path / "own.json").write_text(json.dumps({"made": "3 passed, 1 failed", "rows": measured}))
    own = row(kept=("own.json", "missing.json"))
    found = evidence_page.known([own], {})["some"]
    assert (found.figure, found.version, found.date) == ("3 tests pass", "0.1.0", "2026-01-02")
    later = dataclasses.replace(BEFORE, date="2026-01-03")
    assert evidence_page.known([own], {"some": BEFORE})["some"] == found
    assert evidence_page.known([own], {"some": later})["some"] == later
    del measured[1]["version"]
    (tmp_path / "own.json").write_text(json.dumps({"made": "3 passed", "rows": measured}))
    assert evidence_page.known([own], {})["some"].version == ""


def pages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages with empty tables, and no results."""
    for name, part in (("PAGE", "validation"), ("SLICES_PAGE", "slices")):
        page = folder / f"{name.lower()}.md"
        page.write_text(f"<!-- generated: {part} -->\n\nold\n\n<!-- end -->\n")
        monkeypatch.setattr(evidence_page, name, page)
    monkeypatch.setattr(evidence_page, "RESULTS", folder / "results.json")


def test_a_row_that_is_run_alone_leaves_the_others_as_they_were(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = [row(), row("echo 4 passed; exit 1", name="other")]
    pages(tmp_path, monkeypatch)
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
        assert "--only: no row is called nosuch; there are kernel-agreement" in capsys.readouterr().err
