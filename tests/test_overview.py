"""An evaluation at a glance: judgements, ellipses, curves, and cells that are run again."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import pytest
from helpers import cli

from ackclock.errors import InputError, StoreError
from ackclock.evaluation import Evaluation, evaluate
from ackclock.evaluation.distributions import arrivals_curve, curve
from ackclock.evaluation.report import write_report
from ackclock.evaluation.series import points_per_line, runs_drawn
from ackclock.page.lines import Axes, Line, csv_of, lines
from ackclock.page.plane import ellipse
from ackclock.running.cells import find
from ackclock.scenario import Scenario

#: Windows that grow without bound take too much memory, in the middle of an evaluation.
FAILS = "rule grow = 1e300; cut = w"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, panel_runs: Path) -> tuple[Evaluation, Path]:
    folder = shutil.copytree(panel_runs, tmp_path_factory.mktemp("overview"), dirs_exist_ok=True)
    evaluation = evaluate(["aimd(increase=8)", "cubic"], against=["aimd"], quick=True, out=folder)
    write_report(evaluation, folder, command="again")
    return evaluation, folder


def labels(evaluation: Evaluation) -> list[str]:
    return [each["label"] for each in evaluation.overview["algorithms"]]


def test_cells_say_what_the_scoreboard_says(made: tuple[Evaluation, Path]) -> None:
    """Two ways to the same judgement: the map from values of replicates, the scoreboard from its scores."""
    evaluation, _ = made
    seen = set()
    for each in evaluation.overview["maps"][1:]:
        for result, row in zip(evaluation.board.results, each["cells"], strict=True):
            for candidate, scores in zip(evaluation.board.candidates, result.scores, strict=True):
                cell = row[labels(evaluation).index(candidate.label)]
                score = next((score for score in scores if score.metric.name == each["name"]), None)
                if score is None:
                    assert cell["value"] is None
                elif candidate.label == "aimd":
                    assert cell["judgement"] == "reference"
                else:
                    assert cell["judgement"] == (score.judgement or "open")
                    assert score.cost_difference is not None
                    assert cell["difference"]["mean"] == score.cost_difference.mean
                    assert cell["value"]["mean"] == score.value.mean
                    seen.add(cell["judgement"])
    assert seen == {"better", "worse", "open"}


def test_parts_of_the_score_add_up_to_it(made: tuple[Evaluation, Path]) -> None:
    for entry in made[0].ranking.entries:
        assert entry.score is not None
        assert math.isclose(math.fsum(entry.score.by_environment.values()), entry.score.value.mean)


def test_the_sentence_and_the_lines_count_alike(made: tuple[Evaluation, Path]) -> None:
    evaluation, _ = made
    best = evaluation.best
    assert best is not None
    at = labels(evaluation).index(best.candidate.label)
    better, worse = evaluation.overview["maps"][0]["counts"][at]
    sentence, line = evaluation.overview["summary"]["sentences"][0], evaluation.lines[0]
    assert "after Holm's correction" in sentence and "after Holm's correction" in line
    assert f"in {better} of 26 environments and worse in {worse}" in sentence
    assert {f" in {better}", f" in {worse}"} == set(re.findall(r" in \d+(?= |$)", line.split(" (")[0]))


def test_three_short_sentences(made: tuple[Evaluation, Path]) -> None:
    evaluation, _ = made
    said = evaluation.overview["summary"]["sentences"]
    assert len(said) == 3 and all(len(sentence) < 200 for sentence in said)
    words = " ".join(said)
    assert not any(word in words for word in ("regret", "Jain", "cwnd", "interval", "efficiency"))


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.5, 1.0])
def test_the_shadows_of_an_ellipse_are_the_intervals(correlation: float) -> None:
    a, b, angle = ellipse(7.0, 3.0, correlation)
    turn = math.radians(angle)
    assert math.isclose(math.hypot(a * math.cos(turn), b * math.sin(turn)), 7.0)
    assert math.isclose(math.hypot(a * math.sin(turn), b * math.cos(turn)), 3.0)
    if correlation:
        assert math.copysign(1, angle) == math.copysign(1, correlation)


def test_a_distribution_by_hand() -> None:
    line = curve("x", [(1.0, 1), (2.0, 2), (5.0, 1)])
    assert (line.x, line.y) == ([1.0, 1.0, 2.0, 5.0], [0.0, 0.25, 0.75, 1.0])
    group = {"fct_p50_s": 1.0, "fct_p95_s": 2.0, "fct_p99_s": None, "fct_max_s": 4.0}
    arrivals = arrivals_curve("x", [group, {**group, "fct_p50_s": 3.0}])
    assert (arrivals.x, arrivals.y) == ([2.0, 2.0, 4.0], [0.5, 0.95, 1.0])


def test_lines_have_their_data_beside_them() -> None:
    line = Line('a "b"', [1, 2], [3, 4], [(2.5, 3.5), None])
    assert csv_of([line], "ms") == 'line,x_ms,y,low,high\n"a ""b""",1,3,2.5,3.5\n"a ""b""",2,4,,\n'
    drawing = lines([line, Line("c", [1], [2])], Axes("x < y", "y"), "t")
    assert drawing.count('class="bar"') == 1 and "x &lt; y" in drawing


def test_a_large_page_draws_fewer_runs() -> None:
    assert [runs_drawn(count) for count in (1, 26, 40, 500)] == [5, 5, 3, 2]
    assert points_per_line(runs_drawn(40) * 40 * 25) < 100


def test_every_cell_can_be_run_again(made: tuple[Evaluation, Path]) -> None:
    _, folder = made
    cells = json.loads((folder / "cells.json").read_text())["cells"]
    # A label that a shell would change has its number.
    assert "slow-1/cubic" in cells
    assert not any("(" in name for name in cells)
    number = labels(made[0]).index("aimd(increase=8)")
    answer = cli("run", "--from", folder / "report.html", f"slow-2/{number}#2", "--json")
    assert answer.code == 0, answer.stderr
    assert "aimd(increase=8) in 5 Mbit/s, 2 flows, replicate 2, seed 1" in answer.stderr
    assert (folder / "scenarios" / f"slow-2-{number}.json").is_file()
    scores = {
        row["candidate"]: row["metrics"]["goodput"]["values"][2]
        for environment in json.loads((folder / "scoreboard.json").read_text())["environments"]
        if environment["id"] == "slow-2"
        for row in environment["scores"]
    }
    again = json.loads(answer.stdout)["summary"]["goodput_bps"]
    assert math.isclose(1e-6 * again, scores["aimd(increase=8)"])


def test_a_cell_has_no_options_for_a_scenario(made: tuple[Evaluation, Path], tmp_path: Path) -> None:
    _, folder = made
    answer = cli("run", "--from", folder, "slow-1/cubic", "--rate", "1Mbit/s")
    assert answer.code == 2 and "use --set topology.rate=VALUE" in answer.stderr
    saved = tmp_path / "saved.toml"
    answer = cli("run", "--from", folder, "slow-1/cubic", "--save", saved)
    assert answer.code == 0, answer.stderr
    assert Scenario.from_file(saved).hash == find(folder, "slow-1/cubic").scenario.hash


def test_cells_that_are_not_there(made: tuple[Evaluation, Path], tmp_path: Path) -> None:
    _, folder = made
    with pytest.raises(InputError, match=r"no cell is called 'slow-1/cubi'; this report has slow-1/cubic"):
        find(folder, "slow-1/cubi")
    with pytest.raises(InputError, match=r"replicate '3' does not exist; this cell has replicates 0 to 2"):
        find(folder, "slow-2/cubic#3")
    with pytest.raises(InputError, match=r"is not a report: .*does not exist"):
        find(tmp_path, "slow-1/cubic")


def test_a_report_without_its_store(made: tuple[Evaluation, Path], tmp_path: Path) -> None:
    """The page needs nothing beside it; a rerun says what is missing."""
    _, folder = made
    for name in ("report.html", "cells.json"):
        shutil.copy(folder / name, tmp_path)
    with pytest.raises(StoreError, match="copy the whole folder to repeat runs"):
        find(tmp_path, "slow-1/cubic")
    answer = cli("run", "--from", tmp_path, "slow-1/cubic")
    assert answer.code != 0 and "Traceback" not in answer.stderr
    (tmp_path / "cells.json").write_text('{"schema": 1, "cells": {"a": {"title": "x"}}}')
    with pytest.raises(InputError, match="is not the list of cells"):
        find(tmp_path, "a")


def test_a_candidate_that_fails_loses_nothing(tiny_suite: Path, tmp_path: Path) -> None:
    evaluation = evaluate([FAILS, "cubic"], suite=str(tiny_suite), replicates=2, out=tmp_path / "out")
    failed = [entry["failure"] is not None for entry in evaluation.document["ranking"]].index(True)
    assert any(row[failed]["judgement"] == "failed" for row in evaluation.overview["maps"][0]["cells"])
    write_report(evaluation, tmp_path / "out", command="again")
