"""`examples/search_rules.py`: its rules and suites can be read, and both scores of the winner are printed."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy
import pytest
from helpers import ROOT

from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.suite import Suite

EXAMPLE = ROOT / "examples" / "search_rules.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("search_rules", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_rule_that_it_makes_can_be_read(example: ModuleType) -> None:
    draw, rule, names = numpy.random.default_rng(3), example.START, set()
    for number in range(300):
        rule = example.START if number % 10 == 0 else example.child(draw, rule)
        names.add(name := example.rule_text(rule))
        Candidate.parse(name)
    assert len(names) > 200


def test_its_environments_are_those_of_core(example: ModuleType, tmp_path: Path) -> None:
    core = Suite.load("core")
    seen = Suite.load(example.write_suite(tmp_path / "seen", set(example.SEARCHED), example.CHANGES))
    assert [each.id for each in seen.environments] == [
        each.id for each in core.environments if each.id in example.SEARCHED
    ]
    whole = Suite.load(example.write_suite(tmp_path / "all", {each.id for each in core.environments}, []))
    for ours, theirs in zip(whole.environments, core.environments, strict=True):
        assert ours.base.hash == theirs.base.hash
        assert (ours.watch, ours.fairness, ours.sets) == (theirs.watch, theirs.fairness, theirs.sets)


def test_the_winner_is_scored_again() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLE, "--rules", "4", "--replicates", "2", "--check", "2", "--unseen", "fast-1"],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (winner,) = re.findall(r"^winner: (.*)$", done.stdout, re.MULTILINE)
    Candidate.parse(winner)
    rows = re.findall(r"^(search|check): (.*?)  +(-?\d+\.\d{3})(.*)$", done.stdout, re.MULTILINE)
    assert [title for title, *_ in rows] == ["search", "check", "check"]
    assert all("[" in rest for *_, rest in rows[1:])
    (best,) = re.findall(r"4 rules, \d failed; best (-?\d+\.\d{3})  ", done.stdout)
    assert rows[0][2] == best
