"""What the documents show works: commands, scenarios, Python, links.

Blocks marked ```console no-test or ```python no-test are not run; such Python has to compile.
"""

from __future__ import annotations

import doctest
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers import ROOT, TWO_FLOWS, cli

import ackclock
import fences

#: `test_tutorial.py` runs these from top to bottom, with the files that they show.
IN_ORDER = {
    ROOT / "docs" / name for name in ("get-started/your-algorithm.md", "how-to/port-kernel-module.md")
}
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])
COMMAND = re.compile(r"(?:_ACKCLOCK_COMPLETE=\w+ )?ackclock ")
LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    place: str
    text: str


def blocks(*languages: str, tested: bool = True) -> list[Block]:
    found = []
    for path in DOCUMENTS:
        if path in IN_ORDER:
            continue
        text = path.read_text(encoding="utf-8")
        for block in fences.blocks(text):
            line = text.count("\n", 0, block.start) + 1
            if block.language in languages and tested == ("no-test" not in block.words):
                found.append(Block(f"{path.relative_to(ROOT)}:{line}", block.text))
    return found


def commands() -> list[tuple[str, str]]:
    """Return place and text of every command, each text once, in the order of the documents."""
    first: dict[str, str] = {}
    for block in blocks("console"):
        for command in filter(COMMAND.match, fences.commands(block.text)):
            first.setdefault(command, block.place)
    return [(place, command) for command, place in first.items()]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory, panel_runs: Path) -> Path:
    """A folder of a reader. Each command finds the files of earlier ones, and the runs of the panel."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "examples").symlink_to(ROOT / "examples")
    for name in ("before", "after", "ackclock-out/evaluate-new-aimd"):
        shutil.copytree(panel_runs, folder / name)
    return folder


def check_run(scratch: Path, place: str, *command: str) -> None:
    done = fences.run(scratch, *command)
    assert done.returncode == 0, f"{place}: {command[-1]}\n{done.stderr}"


@pytest.mark.parametrize(("place", "command"), commands())
def test_commands_run(scratch: Path, place: str, command: str) -> None:
    check_run(scratch, place, "sh", "-c", command)


@pytest.mark.parametrize("block", blocks("toml"), ids=lambda block: block.place)
def test_scenarios_and_studies_are_valid(tmp_path: Path, block: Block) -> None:
    if not re.search(r"^schema = \d", block.text, re.MULTILINE):
        pytest.skip("a part of a scenario")
    path = tmp_path / "shown.toml"
    path.write_text(block.text)
    is_study = "\nscenario = " in block.text
    if is_study:
        (tmp_path / "two-flows.toml").symlink_to(TWO_FLOWS)
    answer = cli("study", path, "--plan") if is_study else cli("check", path)
    assert answer.code == 0, f"{block.place}: {answer.stderr}"


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.place)
def test_python_runs(scratch: Path, block: Block) -> None:
    check_run(scratch, block.place, sys.executable, "-c", block.text)


@pytest.mark.parametrize("block", blocks("python", tested=False), ids=lambda block: block.place)
def test_python_that_is_not_run_compiles(block: Block) -> None:
    compile(block.text, block.place, "exec")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    text = fences.FENCE.sub("", path.read_text(encoding="utf-8"))
    targets = [target.split("#")[0] for target in LINK.findall(text) if not re.match(r"[a-z]+:", target)]
    missing = [target for target in targets if target and not (path.parent / target).exists()]
    assert missing == []


def test_the_example_of_the_package_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = doctest.testmod(ackclock)
    assert result.attempted > 0 and result.failed == 0


def test_there_is_something_to_read() -> None:
    assert len(DOCUMENTS) > 5
