"""Runs a cell with `result.explore()` in JupyterLab, and clicks its panel in Chromium.

    python tools/web/jupyterlab.py PYTHON [--picture FILE]

PYTHON is an interpreter with jupyterlab, anywidget and ackclock, for example of a virtual environment.
The server listens on 127.0.0.1 and uses a folder of its own. It needs `make web`, node and Chromium.
"""

import argparse
import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chromium import chromium
from golden_on_web import missing

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "web" / "tests" / "jupyterlab.mjs"
CELL = """import ackclock
result = ackclock.run({example!r}, sets=["duration=20 s"])
result.explore()"""


def write_notebook(file: Path) -> None:
    """Write a notebook with one cell."""
    source = CELL.format(example=str(ROOT / "examples" / "two-flows.toml"))
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "explore",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    file.write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": [cell]})
    )


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextlib.contextmanager
def server(python: str, folder: Path) -> Iterator[tuple[str, str]]:
    """JupyterLab in a folder: its address and its token."""
    port, token = free_port(), secrets.token_hex(16)
    address = f"http://127.0.0.1:{port}"
    options = (
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--allow-root",
        f"--IdentityProvider.token={token}",
        "--LabApp.news_url=",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    )
    own = {
        name: str(folder / name)
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    with subprocess.Popen(
        [python, "-m", "jupyterlab", *options],
        cwd=folder,
        env={**os.environ, **own},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as running:
        try:
            while running.poll() is None:
                try:
                    urllib.request.urlopen(f"{address}/api/status?token={token}", timeout=5).close()
                    break
                except urllib.error.URLError:
                    time.sleep(0.2)
            yield address, token
        finally:
            running.terminate()


def versions(python: str) -> str:
    names = ("jupyterlab", "anywidget")
    program = f"from importlib.metadata import version as v; print(*map(v, {names}))"
    found = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    return ", ".join(map(" ".join, zip(names, found, strict=True)))


def clicked(address: str, picture: Path | None) -> Any:
    """Return the text of the panel that the cell created."""
    command = ["node", str(PROGRAM), str(chromium()), address, *([str(picture)] if picture else [])]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=300).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    problem = missing("chromium")
    if problem is not None:
        print(f"jupyterlab: skipped, {problem}")
        return 77
    print(versions(options.python))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        write_notebook(Path(name, "explore.ipynb"))
        with server(options.python, Path(name)) as (address, token):
            found = clicked(f"{address}/lab/tree/explore.ipynb?token={token}", options.picture)
    print(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
