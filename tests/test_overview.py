"""An evaluation at a glance: judgements, ellipses, curves, and cells that are run again."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path

import pytest
from helpers import cli
from markupsafe import escape

from ackclock.errors import InputError, StoreError
from ackclock.evaluation import Evaluation, evaluate
from ackclock.evaluation.block import verdict_lines
from ackclock.evaluation.distributions import arrivals_curve, curve
from ackclock.evaluation.overview import (
    BETTER,
    CORRECTED,
    FAILURE,
    OPEN,
    REFERENCE,
    WORSE,
    Cell,
    HeatMap,
    cell_text,
    overview,
    sentences,
)
from ackclock.evaluation.report import part_of, write_report
from ackclock.evaluation.score import Metric
from ackclock.evaluation.series import points_per_line, runs_drawn
from ackclock.page.lines import Axes, Line, csv_of, lines
from ackclock.page.plane import Spot, ellipse, plane
from ackclock.running.cells import find
from ackclock.scenario import Scenario
from ackclock.statistics.estimates import Estimate, compared, estimate

#: Windows that grow without bound take too much memory, in the middle of an evaluation.
FAILS = "rule grow = 1e300; cut = w"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Evaluation, Path]:
    folder = tmp_path_factory.mktemp("overview")
    evaluation = evaluate(["aimd(increase=8)", "cubic"], against=["aimd"], quick=True, out=folder)
    write_report(evaluation, folder, command="again")
    return evaluation, folder


def test_cells_say_what_the_scoreboard_says(made: tuple[Evaluation, Path]) -> None:
    """Two ways to the same judgement: the map from values of replicates, the scoreboard from its scores."""
    evaluation, _ = made
    found = overview(evaluation)
    seen = set()
    for each in found.maps[1:]:
        for result, row in zip(evaluation.board.results, each.cells, strict=True):
            for candidate, scores in zip(evaluation.board.candidates, result.scores, strict=True):
                cell = row[found.labels.index(candidate.label)]
                score = next((score for score in scores if score.metric.name == each.name), None)
                if score is None:
                    assert cell.value is None
                elif candidate.label == "aimd":
                    assert cell.judgement == REFERENCE
                else:
                    assert cell.judgement == (score.judgement or OPEN), (each.name, result.environment.id)
                    assert cell.difference == score.cost_difference
                    assert cell.value is not None and math.isclose(cell.value.mean, score.value.mean)
                    seen.add(cell.judgement)
    assert seen == {BETTER, WORSE, OPEN}


def test_parts_of_the_score_add_up_to_it(made: tuple[Evaluation, Path]) -> None:
    for entry in made[0].ranking.entries:
        assert entry.score is not None
        total = math.fsum(math.fsum(part) / len(part) for part in entry.parts.values())
        assert math.isclose(total, entry.score.value.mean)


def test_counts_need_significance_after_holms_correction() -> None:
    """By their own intervals 4 of 22 environments are worse. Holm keeps the smallest p-values."""
    costs = [(1.0, 1.01, 0.99)] * 2 + [(1.0, 1.4, 0.9)] * 2 + [(-1.0, -1.01, -0.99)] + [(0.1, -0.1, 0.0)] * 17
    found = [compared(row, (0.0, 0.0, 0.0), exact=False) for row in costs]
    judged = [each.judgement or OPEN for each in found if each is not None]
    cells = tuple((Cell(judgement, None, each),) for judgement, each in zip(judged, found, strict=True))
    score = HeatMap("score", "score", 2, cells)
    assert (score.count(0, BETTER), score.count(0, WORSE)) == (1, 4)
    assert score.counts(0) == (1, 2)


def test_the_sentence_and_the_block_count_alike(made: tuple[Evaluation, Path]) -> None:
    evaluation, _ = made
    found = overview(evaluation)
    best = evaluation.best
    assert best is not None
    better, worse = found.maps[0].counts(found.labels.index(best.candidate.label))
    sentence, line = sentences(evaluation, found)[0], verdict_lines(evaluation)[0]
    assert CORRECTED in sentence and CORRECTED in line
    assert f"in {better} of 26 environments and worse in {worse}" in sentence
    assert {f" in {better}", f" in {worse}"} == set(re.findall(r" in \d+(?= |$)", line.split(" (")[0]))


def test_three_short_sentences(made: tuple[Evaluation, Path]) -> None:
    evaluation, folder = made
    said = sentences(evaluation, overview(evaluation))
    assert len(said) == 3 and all(len(sentence) < 200 for sentence in said)
    page = (folder / "report.html").read_text()
    assert all(f"<span>{escape(sentence)}</span>" in page for sentence in said)
    words = " ".join(said)
    assert not any(word in words for word in ("regret", "Jain", "cwnd", "interval", "efficiency"))


@pytest.mark.parametrize(
    ("metric", "value", "difference", "judgement", "text"),
    [
        (
            Metric("efficiency", "efficiency", "%", "higher", 2), 96.28, (0.25, 0.14, 0.37), WORSE,
            "efficiency 96.28 % (0.25 points below aimd, 95 % CI 0.14 to 0.37)",
        ),
        (
            Metric("queue_delay", "queueing delay", "ms", "lower", 1), 20.0, (-5.0, -7.0, -3.0), BETTER,
            "queueing delay 20.0 ms (5.0 ms below aimd, 95 % CI 3.0 to 7.0)",
        ),
        (
            Metric("watch", "CUBIC's share", "", "reach-one", 3), 0.9, (0.05, -0.1, 0.2), OPEN,
            "CUBIC's share 0.900 (0.050 farther below 1 than aimd, 95 % CI -0.100 to 0.200, not significant)",
        ),
        (None, 8.705, (8.1, None, None), WORSE, "score 8.705 (8.100 above aimd)"),
        (None, 0.5, None, REFERENCE, "score 0.500"),
    ],
)  # fmt: skip
def test_a_cell_says_on_which_side_of_the_reference_it_is(
    metric: Metric | None,
    value: float,
    difference: tuple[float, float | None, float | None] | None,
    judgement: str,
    text: str,
) -> None:
    found = None if difference is None else Estimate(*difference, 3)
    cell = Cell(judgement, Estimate(value, None, None, 3), found)
    assert cell_text(cell, metric, 3 if metric is None else metric.digits, "aimd") == text


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.5, 1.0])
def test_the_shadows_of_an_ellipse_are_the_intervals(correlation: float) -> None:
    a, b, angle = ellipse(7.0, 3.0, correlation)
    turn = math.radians(angle)
    assert math.isclose(math.hypot(a * math.cos(turn), b * math.sin(turn)), 7.0)
    assert math.isclose(math.hypot(a * math.sin(turn), b * math.cos(turn)), 3.0)
    if correlation:
        assert math.copysign(1, angle) == math.copysign(1, correlation)


def test_a_spot_has_the_intervals_of_its_means() -> None:
    delays, rates = [1.0, 2.0, 4.0], [9.0, 8.0, 6.0]
    spot = Spot.of("x", delays, rates)
    assert (spot.delay_half, spot.throughput_half) == (
        estimate(delays).half_width,
        estimate(rates).half_width,
    )
    assert math.isclose(spot.correlation, -1.0)


def test_less_delay_is_to_the_right() -> None:
    drawing = plane([Spot("slow", 40, 5, 0, 0, 0), Spot("quick", 10, 5, 0, 0, 0)], "y", "t")
    slow, quick = (drawing.index(f"<title>{name}") for name in ("slow", "quick"))
    circle = float(drawing[slow:].split('cx="')[1].split('"')[0])
    square = float(drawing[quick:].split('points="')[1].split(",")[0])
    assert square > circle


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


@pytest.mark.parametrize(
    ("share", "name"), [(0.1, "starves"), (0.2, "less"), (0.9, "fair"), (1.25, "fair"), (1.3, "more")]
)
def test_parts_of_a_fair_share(share: float, name: str) -> None:
    assert part_of(Estimate(share, None, None, 1)).name == name


def test_a_large_page_draws_fewer_runs() -> None:
    assert [runs_drawn(count) for count in (1, 26, 40, 500)] == [5, 5, 3, 2]
    assert points_per_line(runs_drawn(40) * 40 * 25) < 100


def test_every_cell_can_be_run_again(made: tuple[Evaluation, Path]) -> None:
    _, folder = made
    cells = json.loads((folder / "cells.json").read_text())["cells"]
    # A label that a shell would change has its number.
    assert "slow-1/cubic" in cells
    assert not any("(" in name for name in cells)
    number = overview(made[0]).labels.index("aimd(increase=8)")
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
    with pytest.raises(InputError, match="is not a report with cells"):
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
    found = overview(evaluation)
    (failed,) = [at for at, entry in enumerate(found.entries) if entry.failure is not None]
    assert found.maps[0].count(failed, FAILURE) > 0
    page = write_report(evaluation, tmp_path / "out", command="again").read_text()
    assert "✕ " in page and "Its earlier runs are in the table" in page
