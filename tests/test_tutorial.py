"""The tutorial works from top to bottom, and so does the page about kernel modules."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
from helpers import ROOT

BLOCK = re.compile(r"^```(?:console(?: no-test)?|\w+ file=(\S+))\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(page: str, folder: Path) -> int:
    """Do what a page says in a folder; return how many commands that were."""
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    commands = 0
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for name, content in BLOCK.findall(text):
        if name:
            (folder / name).write_text(content, encoding="utf-8")
            continue
        for line in content.splitlines():
            done = subprocess.run(
                ["sh", "-c", line.removeprefix("$ ")],
                cwd=folder,
                env={**os.environ, "PATH": path},
                capture_output=True,
                encoding="utf-8",
                check=False,
                timeout=300,
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
            commands += 1
    return commands


@pytest.mark.parametrize(
    ("page", "commands"), [("get-started/your-algorithm.md", 5), ("how-to/port-kernel-module.md", 3)]
)
def test_a_page_ends_in_a_report(page: str, commands: int, tmp_path: Path) -> None:
    assert follow(page, tmp_path) == commands
    assert len(list(tmp_path.glob("ackclock-out/*/report.html"))) == 1
