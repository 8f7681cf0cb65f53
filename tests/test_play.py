"""`ackclock play`: what it serves, and the page in a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import cli

from ackclock.cli import play_command
from ackclock.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "web" / "tests" / "browser.mjs"
SCENARIO = """
schema = 2
duration = "300 s"
topology = { kind = "dumbbell", rate = "10 Mbit/s", delay = "20 ms" }
flows = [{ name = "one", cc = "cubic" }]
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a page that is served, with a scenario in it."""
    try:
        play_command.folder()
    except Exception as error:
        pytest.skip(str(error))
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    command = [sys.executable, "-m", "ackclock", "play", "--no-open", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def test_files_are_served_under_a_strict_policy(address: str) -> None:
    page, _, fragment = address.partition("#")
    root = page.removesuffix("/play/")
    types = {
        "/play/": "text/html",
        "/ackclock.js": "text/javascript",
        "/module/ackclock_bg.wasm": "application/wasm",
    }
    for name, kind in types.items():
        with urllib.request.urlopen(root + name) as answer:
            assert answer.headers.get_content_type() == kind
            assert answer.headers["Content-Security-Policy"].startswith(
                "default-src 'none'; script-src 'self'"
            )
    with urllib.request.urlopen(root + "/") as answer:
        assert answer.url == page
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(root + "/../pyproject.toml")
    assert root.startswith("http://127.0.0.1:") and fragment.startswith("1j.")


def test_a_link_gives_the_same_run(address: str) -> None:
    chromium = shutil.which("chromium")
    if chromium is None or shutil.which("node") is None:
        pytest.skip("chromium or node is not installed")
    done = subprocess.run(
        ["node", str(PROGRAM), chromium, address], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["problems"] == []
    assert found["first"] == found["second"] != ""
    assert found["changes"][0].endswith("bottleneck: rate 5 Mbit/s") and len(found["changes"]) == 2
    assert found["link"].split("#")[1].startswith("1z.")
    assert "link" in found["refused"]


def test_what_cannot_be_played_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = cli("play", "--no-open", str(tmp_path / "missing.toml"))
    assert missing.code == 2 and len(missing.stderr.splitlines()) == 1
    monkeypatch.setattr(play_command, "_NEEDED", ("nowhere.html",))
    with pytest.raises(InputError, match="not built here; in a checkout of ackclock: make web"):
        play_command.folder()
    file = tmp_path / "long.toml"
    file.write_text(SCENARIO + "# " + 100_000 * "x")
    with pytest.raises(InputError, match="too long for the address of a page"):
        play_command.opening(file)
