"""An evaluation says nothing of algorithms that are equal, whatever they are called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ackclock
from null_pairs import CLASSES, NAMED, Judged, named, write_suite

#: One and the same run.
EQUAL = (
    "reno",
    "{ kind = 'aimd', increase = 1 }",
    "{ kind = 'rule', grow = '1/w', cut = 'w/2' }",
    "CLASSES:Empty",
    "CLASSES:Formulas",
)
SCENARIO = """
schema = 2
name = "equal"
duration = "12 s"
warmup = "2 s"
[topology]
kind = "dumbbell"
rate = "10 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "0.5 BDP" }
loss = { kind = "bernoulli", probability = 2e-3 }
[transport]
send_jitter = "1 packet"
PROFILE
[[flows]]
name = "test"
count = 2
cc = "aimd"
start = { uniform = ["0 s", "1 s"] }
[[flows]]
name = "other"
cc = "cubic"
"""


@pytest.mark.parametrize("profile", ["", 'profile = "rfc"', "whole_window = false", 'ecn = "classic"'])
def test_the_same_algorithm_gives_the_same_run_under_every_name(tmp_path: Path, profile: str) -> None:
    path = tmp_path / "equal.toml"
    path.write_text(SCENARIO.replace("PROFILE", profile))
    (tmp_path / "classes.py").write_text(CLASSES)

    def run(cc: str) -> list[object]:
        found = ackclock.run(
            path, sets=[f"flows.test.cc={cc.replace('CLASSES', str(tmp_path / 'classes.py'))}"]
        )
        kept = {"cc"}
        return [found.summary, [{key: row[key] for key in row if key not in kept} for row in found.flows]]

    expected = run("aimd")
    for cc in EQUAL:
        assert run(cc) == expected, cc
    assert run("{ kind = 'aimd', increase = 1.3 }") != expected


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    folder = tmp_path_factory.mktemp("pairs")
    suite = write_suite(folder)
    return [named(suite, folder / "runs", pair, 1) for pair in NAMED]


def test_null_pairs_are_hardly_marked_and_rarely_called(judged: list[Judged]) -> None:
    assert len(judged) == 20
    marked, cells = sum(each.marked for each in judged), sum(each.cells for each in judged)
    assert cells > 600 and marked <= 0.065 * cells, [each for each in judged if each.marked]
    assert sum(each.is_called for each in judged) <= 3, [each for each in judged if each.is_called]


def test_equal_runs_are_silent(judged: list[Judged]) -> None:
    rules = [each for each in judged if re.search("reno|Empty|Formulas", each.candidate)]
    assert len(rules) == 3
    for each in (*judged[:2], *rules):
        assert each.marked == 0 and not each.is_called, each
