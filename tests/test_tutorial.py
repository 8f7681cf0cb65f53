"""The tutorial works from top to bottom."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from pathlib import Path

from helpers import ROOT

BLOCK = re.compile(r"^```(console|python file=(\S+))\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_tutorial_ends_in_a_report(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    commands = 0
    for match in BLOCK.finditer(page):
        if match[2]:
            (tmp_path / match[2]).write_text(match[3], encoding="utf-8")
            continue
        for line in match[3].splitlines():
            done = subprocess.run(
                ["sh", "-c", line.removeprefix("$ ")],
                cwd=tmp_path,
                env={**os.environ, "PATH": path},
                capture_output=True,
                encoding="utf-8",
                check=False,
                timeout=300,
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
            commands += 1
    assert commands == 5
    (report,) = tmp_path.glob("ackclock-out/*/report.html")
    assert "Calm" in report.read_text(encoding="utf-8")
