"""The files at the front door: README, CITATION.cff, CHANGES, templates of the forge."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from helpers import ROOT

VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
#: Sites of others that the README names.
OTHERS = {"https://rustup.rs", "https://sh.rustup.rs"}


def test_the_readme_has_at_most_900_words() -> None:
    assert len(README.split()) <= 900


def test_the_readme_names_no_address_of_the_project() -> None:
    """None exists yet. Once there is one, pyproject.toml lists it."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert set(re.findall(r"https?://[^\s)|]+", README)) <= OTHERS | set(urls.values())


def test_the_readme_installs_nothing_from_an_index() -> None:
    assert "pip install" not in README


def test_citation_and_changes_name_the_version() -> None:
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGES.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest and newest[1] == VERSION


def test_the_workflow_runs_the_tests_of_contributors() -> None:
    workflow = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    assert "run: ./dev test" in workflow
    assert all(re.search(r"@v\d+$", use) for use in re.findall(r"uses: (\S+)", workflow))


def test_the_paper_cites_what_its_bibliography_has() -> None:
    text = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper/paper.bib").read_text(), re.MULTILINE)
    assert set(re.findall(r"@(\w+)", text.split("---")[2])) == set(entries)


@pytest.mark.parametrize(("status", "lines"), [(0, 0), (3, 1)])
def test_a_quiet_command_shows_its_output_only_if_it_fails(status: int, lines: int, tmp_path: Path) -> None:
    if shutil.which("sh") is None:
        pytest.skip("sh is not installed")
    command = ["sh", "-c", f"echo built; exit {status}"]
    done = subprocess.run(
        ["sh", ROOT / "tools/quietly.sh", tmp_path / "log", "Building", *command],
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith("Building\n") and done.stderr.count("built\n") == lines
    assert (tmp_path / "log").read_text() == "built\n"
