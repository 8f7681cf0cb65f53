"""The tutorial works from top to bottom, and so does the page about kernel modules."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import ROOT

import fences


def follow(page: str, folder: Path) -> int:
    """Do what a page says in a folder; return how many commands that were."""
    commands = 0
    for block in fences.blocks((ROOT / "docs" / page).read_text(encoding="utf-8")):
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for command in fences.commands(block.text):
                done = fences.run(folder, "sh", "-c", command)
                assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
                commands += 1
    return commands


@pytest.mark.parametrize(
    ("page", "commands"), [("get-started/your-algorithm.md", 5), ("how-to/port-kernel-module.md", 3)]
)
def test_a_page_ends_in_a_report(page: str, commands: int, tmp_path: Path) -> None:
    assert follow(page, tmp_path) == commands
    assert len(list(tmp_path.glob("ackclock-out/*/report.html"))) == 1
