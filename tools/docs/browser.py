"""Loads pages in a headless Chromium: returns their DOM, console and picture."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

#: The command, under the names that distributions give it.
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
MISSING = "no Chromium on this machine; on Debian: apt-get install chromium"
_ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
    # Scripts and what they wait for get as much time, of a clock that does not wait.
    "--virtual-time-budget=10000",
    "--run-all-compositor-stages-before-draw",
)


@dataclass(frozen=True)
class Page:
    """A page after its scripts ran."""

    dom: str
    #: The lines of the console, including errors.
    console: list[str]


def load(page: Path, width: int, height: int) -> Page:
    """Load a page where there is no network."""
    done = _run(page, width, height, "--dump-dom")
    return Page(done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line])


def photograph(page: Path, width: int, height: int, picture: Path) -> None:
    """Write a picture of the upper part of a page, PNG."""
    _run(page, width, height, f"--screenshot={picture}")


def _run(page: Path, width: int, height: int, what: str) -> subprocess.CompletedProcess[str]:
    if CHROMIUM is None:
        raise FileNotFoundError(MISSING)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        return subprocess.run(
            [
                CHROMIUM,
                *_ARGUMENTS,
                f"--user-data-dir={profile}",
                f"--window-size={width},{height}",
                what,
                page.as_uri(),
            ],
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=True,
        )
