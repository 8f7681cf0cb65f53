"""The outputs on pages are the outputs of the present commands."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOL = ROOT / "tools" / "docs" / "outputs.py"
PAGES = (
    "docs/how-to/aqm-choice.md",
    "docs/how-to/buffer-sweep.md",
    "docs/how-to/completion-times.md",
    "docs/how-to/incast.md",
    "docs/how-to/rtt-unfairness.md",
    "docs/how-to/satellites.md",
    "docs/how-to/without-a-file.md",
)


@pytest.mark.parametrize("page", PAGES)
def test_shown_outputs_are_those_of_the_commands(page: str) -> None:
    done = subprocess.run(
        [sys.executable, TOOL, ROOT / page], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stale_output_is_found_and_renewed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ printf 'goodput  9.5\\nloss     0.1\\n'\n```\n\n```text\ngoodput  9.4\n...\n```\n"
    )
    found = subprocess.run([sys.executable, TOOL, page], capture_output=True, encoding="utf-8", check=False)
    assert (found.returncode, "goodput  9.5" in found.stdout) == (1, True)
    subprocess.run([sys.executable, TOOL, "--write", page], check=True, capture_output=True)
    assert "```text\ngoodput  9.5\n...\n```" in page.read_text(encoding="utf-8")
