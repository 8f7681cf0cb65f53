"""The slice of `make mutants`, and the table of all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from helpers import ROOT

sys.path.append(str(ROOT / "tools" / "mutants"))

import dozen
import table


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


@pytest.mark.parametrize(("least", "code"), [("60", 0), ("70", 1)])
def test_fewer_than_asked_for_is_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    least: str,
    code: int,
) -> None:
    out = tmp_path / "mutants.first" / "mutants.out"
    out.mkdir(parents=True)
    (out / "caught.txt").write_text("crates/ackclock/src/a.rs:1:1: x\ncrates/ackclock/src/a.rs:2:1: y\n")
    (out / "missed.txt").write_text("crates/ackclock/src/b.rs:1:1: z\n")
    monkeypatch.setattr(sys, "argv", ["table.py", "--least", least, str(tmp_path)])
    assert table.main() == code
    assert "| all | 3 | 2 | 66.7% |" in capsys.readouterr().out
