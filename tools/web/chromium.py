"""Starts Chromium and serves pages to it: the live page, or the JavaScript package."""

import contextlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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


class _Files(SimpleHTTPRequestHandler):
    """Files, and no word of them."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def files() -> Iterator[str]:
    """The address of the folder `web`, which is served meanwhile: pages on it can import its modules."""
    handler = partial(_Files, directory=str(ROOT / "web"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/package.json"
        finally:
            server.shutdown()
