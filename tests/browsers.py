"""Programs of `web/tests`, which use pages in a browser as people do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT, require_web

PROGRAMS = ROOT / "web" / "tests"
#: The browser of all tests that ask for none.
USUAL = os.environ.get("ACKCLOCK_BROWSER", "chromium")


def used(program: str, *arguments: str, browser: str = USUAL) -> Any:
    """What a program prints; skips the test where the browser or Node is missing."""
    command = shutil.which(browser)
    if command is None or shutil.which("node") is None:
        pytest.skip(f"{browser} or node is not installed")
    done = subprocess.run(
        ["node", str(PROGRAMS / program), command, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def run_again(page: Path, *presses: str, mode: str = "once") -> Any:
    """What `rerun.mjs` finds that runs a cell of a page again.

    `presses`: selectors of what is clicked to come to the cell. Skips the test where that is not possible.
    """
    require_web()
    found = used("rerun.mjs", page.as_uri(), json.dumps(presses), mode)
    assert found["problems"] == [] and found["elsewhere"] == []
    return found
