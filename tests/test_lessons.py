"""The lessons of the live page: what each says of its runs is so."""

from __future__ import annotations

import json
import re
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT

import ackclock

LESSONS = ROOT / "web" / "play" / "lessons"
NAMES: list[str] = json.loads((LESSONS / "index.json").read_text())
UNITS = {"": 1.0, "%": 0.01, "ms": 1e-3, "s": 1.0, "Mbit/s": 1e6}
ROW = re.compile(r"^\| (.*?) ?\| (.*?) ?\| .*?`([^`]+)` \| ([\d.]+) to ([\d.]+) ?(\S*) \|$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")


def steps(text: str) -> dict[tuple[str, ...], list[tuple[str, float, float]]]:
    """Settings of each change of a lesson, with the figures and what bounds them."""
    found: dict[tuple[str, ...], list[tuple[str, float, float]]] = {}
    sets: tuple[str, ...] = ()
    for change, settings, figure, least, most, unit in ROW.findall(text):
        if change:
            sets = tuple(CODE.findall(settings))
            assert sets not in found
        bounds = (float(least) * UNITS[unit], float(most) * UNITS[unit])
        found.setdefault(sets, []).append((figure, *bounds))
    return found


def at(document: Any, path: str) -> float:
    """A place in a result; what has a name is found by it."""

    def step(part: Any, key: str) -> Any:
        return next(one for one in part if one["name"] == key) if isinstance(part, list) else part[key]

    return float(reduce(step, path.split("."), document))


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_says_what_its_runs_give(name: str, tmp_path: Path) -> None:
    text = (LESSONS / f"{name}.md").read_text()
    source = re.search(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert source is not None and text.startswith("# ") and "## Sources" in text
    file = tmp_path / "scenario.toml"
    file.write_text(source[1])
    found = steps(text)
    # Every row of the table is one that is read, and the first one is the lesson as it is.
    assert sum(map(len, found.values())) == len(re.findall(r"^\| .*\|$", text, re.MULTILINE)) - 1
    assert next(iter(found)) == () and len(found) > 1
    for sets, figures in found.items():
        document = ackclock.run(ackclock.Scenario.from_file(file, sets)).document
        for figure, least, most in figures:
            value = reduce(lambda a, b: a / b, (at(document, path) for path in figure.split(" / ")))
            assert least <= value <= most, f"{name}, {sets}: {figure} is {value:.6g}"


def test_each_lesson_is_in_the_index() -> None:
    assert sorted(NAMES) == sorted(path.stem for path in LESSONS.glob("*.md")) and len(NAMES) == 10
