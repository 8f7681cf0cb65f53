"""The outputs on pages are the outputs of the present commands."""

import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT

PAGES = (
    "docs/how-to/aqm-choice.md",
    "docs/how-to/buffer-sweep.md",
    "docs/how-to/completion-times.md",
    "docs/how-to/incast.md",
    "docs/how-to/rtt-unfairness.md",
    "docs/how-to/satellites.md",
    "docs/how-to/without-a-file.md",
)


def compare(*words: str | Path) -> tuple[int, str]:
    """Run the tool, and return its exit code and output."""
    tool = ROOT / "tools" / "docs" / "outputs.py"
    done = subprocess.run([sys.executable, tool, *words], capture_output=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES)
def test_shown_outputs_are_those_of_the_commands(page: str) -> None:
    assert compare(ROOT / page) == (0, "")


def test_a_stale_output_is_found_and_renewed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ printf 'goodput  9.5\\nloss     0.1\\n'\n```\n\n```text\ngoodput  9.4\n...\n```\n"
    )
    code, said = compare(page)
    assert code == 1 and "goodput  9.5" in said
    assert compare("--write", page)[0] == 0
    assert "```text\ngoodput  9.5\n...\n```" in page.read_text(encoding="utf-8")
    assert compare(page) == (0, "")


@pytest.mark.parametrize(
    ("command", "said"), [("false", "false"), ("echo loss", "no printed line begins as: goodput  9.4")]
)
def test_a_command_that_fails_and_a_line_that_is_gone_are_found(
    tmp_path: Path, command: str, said: str
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```console\n$ {command}\n```\n\n```text\ngoodput  9.4\n```\n")
    code, printed = compare(page)
    assert code == 1 and said in printed
