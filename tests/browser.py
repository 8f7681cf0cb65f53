"""A headless Chromium, where there is one: what a page becomes, and what it complains about."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

#: The command, under the names that distributions give it.
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
MISSING = "no Chromium on this machine; on Debian: apt-get install chromium"


@dataclass(frozen=True)
class Page:
    """A page after its scripts ran."""

    dom: str
    complaints: list[str]


def load(page: Path, profile: Path, *args: str) -> Page:
    """Load a page in a browser that finds no network, and return its DOM and the errors on its console."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={profile}",
            "--enable-logging=stderr",
            "--virtual-time-budget=10000",
            "--window-size=1400,2000",
            *args,
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Page(done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line])
