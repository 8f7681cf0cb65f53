"""Chromium, and the live page for it."""

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


def chromium() -> str | None:
    """The browser, where it is installed."""
    return shutil.which("chromium")


@contextlib.contextmanager
def served(file: Path | None = None) -> Iterator[str]:
    """The address of the live page, with a scenario in it, which is served meanwhile."""
    command = [sys.executable, "-m", "ackclock", "play", "--no-open", *([] if file is None else [str(file)])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
