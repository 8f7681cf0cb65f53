"""What the repository holds: documented modules, and nothing of the machine it was written on."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import ROOT

#: Folders that exist on some machines only.
MACHINE = re.compile(r"(?<![\w.~-])/(?:work|root|home)/")


def tracked(suffix: str = "") -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a clone of the repository")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    names = [name for name in listed.stdout.split("\0") if name.endswith(suffix) and name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_no_file_mentions_a_machine() -> None:
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
            for number, line in enumerate(text.splitlines(), 1)
            if MACHINE.search(line) and path != Path(__file__)
        ]
    assert found == []


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in tracked(".py")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_only_the_console_prints() -> None:
    """It alone keeps from the terminal what files must not tell it."""
    printing = re.compile(r"\b(?:click\.s?echo|print|sys\.std(?:out|err)\.write)\(")
    found = [
        str(path.relative_to(ROOT))
        for path in tracked(".py")
        if path.is_relative_to(ROOT / "python") and printing.search(path.read_text(encoding="utf-8"))
    ]
    assert found == ["python/ackclock/cli/console.py"]


def test_the_pattern_finds_what_it_should() -> None:
    assert MACHINE.search('path = "/work/x"') and MACHINE.search("see /root/notes")
    assert not MACHINE.search("a network/work/x") and not MACHINE.search("https://example.org/work/x")
