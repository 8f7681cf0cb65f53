"""What a new rule, queue, transport key or metric takes: the templates, added to a copy of the sources."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT

TEMPLATES = ROOT / "tools" / "templates"
PARTS: list[dict[str, Any]] = tomllib.loads((TEMPLATES / "parts.toml").read_text(encoding="utf-8"))["parts"]


def touched(part: dict[str, Any]) -> set[str]:
    return {*part.get("new", {}), *(lines["file"] for lines in part["lines"])}


def add(part: dict[str, Any], root: Path) -> None:
    for file, template in part.get("new", {}).items():
        target = root / file
        assert not target.exists()
        target.parent.mkdir(exist_ok=True)
        shutil.copy(TEMPLATES / template, target)
    for lines in part["lines"]:
        target = root / lines["file"]
        text = target.read_text(encoding="utf-8")
        before = lines["before"] + "\n"
        assert text.count(before) == 1, f"{lines['file']} has no line {lines['before']!r}, or several"
        target.write_text(text.replace(before, f"{lines['text']}\n{before}"), encoding="utf-8")


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part["heading"])
def test_the_map_says_how_many_files_it_takes(part: dict[str, Any]) -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paragraph = text.split(f"\n**{part['heading']}", 1)[1].split("\n\n", 1)[0]
    number = re.search(r"(\d+) files", paragraph)
    assert number and int(number[1]) == len(touched(part)), f"{part['heading']}: {sorted(touched(part))}"


def test_all_parts_together_compile(tmp_path: Path) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    for name in ("crates", "examples", "bench", "fuzz/corpus", "tools/evidence"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for part in PARTS:
        add(part, tmp_path)
    # The dependencies are those of the workspace, and compiled there.
    command = ["cargo", "check", "--package", "ackclock", "--tests", "--locked", "--quiet"]
    done = subprocess.run(
        [*command, "--target-dir", str(ROOT / "target")],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout
