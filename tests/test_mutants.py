"""The twelve selected changes of the core, and the sample of all."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import ROOT

sys.path.append(str(ROOT / "tools" / "mutants"))

import dozen
import sample


@pytest.mark.parametrize("mutant", dozen.mutants(), ids=lambda mutant: f"{mutant.file}: {mutant.text}")
def test_every_change_can_be_made(mutant: dozen.Mutant) -> None:
    source = (ROOT / dozen.SOURCES / mutant.file).read_text(encoding="utf-8")
    assert mutant.applied(source) != source


def test_a_text_that_is_not_there_is_named() -> None:
    mutant = dozen.Mutant("a.rs", "x < y", "x <= y", "a")
    with pytest.raises(dozen.Unusable, match=r"a\.rs: 'x < y' occurs 2 times; correct dozen\.toml"):
        mutant.applied("x < y && x < y")


def test_survivors_are_found_and_changes_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / dozen.SOURCES / "a.rs"
    source.parent.mkdir(parents=True)
    source.write_text("x < y; z > 1;")
    seen = []

    def passes(folder: Path, filters: list[str]) -> bool:
        seen.append((source.read_text(), filters))
        return filters == ["second"]

    monkeypatch.setattr(dozen, "passes", passes)
    first = dozen.Mutant("a.rs", "x < y", "x <= y", "first")
    second = dozen.Mutant("a.rs", "z > 1", "z > 2", "second")
    assert list(dozen.survivors([first, second], tmp_path)) == [second]
    assert seen == [("x <= y; z > 1;", ["first"]), ("x < y; z > 2;", ["second"])]
    assert source.read_text() == "x < y; z > 1;"


PLACE = sample.Place(
    "crates/ackclock/src/cc/bbr1/model.rs", "a", start=(2, 5), end=(3, 4), replacement="é; 0"
)


def test_a_place_is_replaced_over_lines() -> None:
    assert PLACE.applied("fn f() {\n    é +\n  1\n}\n") == "fn f() {\n    é; 0\n}\n"
    assert PLACE.tests == "cc::bbr1::"
    assert sample.Place("crates/ackclock/src/cc/mod.rs", "a", (1, 1), (1, 1), "").tests == "cc::"


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        (["--no-run"], sample.UNVIABLE),
        (["cc::bbr1::"], sample.KILLED),
        (["--test=integration"], sample.KILLED),
        (["endless"], sample.KILLED),
        ([], sample.SURVIVED),
    ],
)
def test_the_outcome_of_a_change(
    failing: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / PLACE.file
    path.parent.mkdir(parents=True)
    path.write_text("fn f() {\n    x +\n  1\n}\n", encoding="utf-8")

    def cargo(folder: Path, *words: str, limit_s: float | None = None) -> subprocess.CompletedProcess[str]:
        assert "é; 0" in path.read_text(encoding="utf-8")
        if failing == ["endless"] and "--no-run" not in words:
            raise subprocess.TimeoutExpired("cargo", limit_s or 0)
        return subprocess.CompletedProcess([], int(any(each in words for each in failing)))

    monkeypatch.setattr(dozen, "FOLDER", tmp_path)
    monkeypatch.setattr(dozen, "cargo", cargo)
    assert sample.outcome(PLACE) == expected
    assert "x +" in path.read_text(encoding="utf-8")


def test_the_summary_has_the_share_and_its_interval() -> None:
    outcomes = [sample.KILLED] * 9 + [sample.SURVIVED, sample.UNVIABLE]
    assert sample.summary(outcomes) == (
        "10 mutants: 9 killed, 1 survive, 1 more do not compile. "
        "Detected: 90.0 % (95 % interval 59.6 to 98.2 %)"
    )


def test_a_command_that_takes_too_long_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dozen, "CARGO", ("sh", "-c", "sleep 60 & echo $! > child; wait", "sh"))
    with pytest.raises(subprocess.TimeoutExpired):
        dozen.cargo(tmp_path, limit_s=0.5)
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]:
            return
        time.sleep(0.05)
    pytest.fail("the test still runs")
