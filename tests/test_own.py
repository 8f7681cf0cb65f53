"""The part of a report about one's own algorithm: source, wins and losses, a command that works."""

from __future__ import annotations

import html
import json
import re
import shlex
from pathlib import Path

import polars
import pytest
from helpers import cli, without_cost

from ackclock.evaluation import Evaluation, evaluate
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.own import own_page, source_of
from ackclock.evaluation.report import write_report

RULE = (
    "rule grow = a / w; cut = b * w; a = 8; state x = 1; state y = a; on_ack x = x + 1; on_ack y = min(x, y)"
)


def test_a_rule_is_shown_a_formula_and_an_assignment_a_line() -> None:
    source = source_of(Candidate.parse(f"{RULE}; b = 0.5").resolved)
    assert source.text.splitlines() == [
        "grow = a / w",
        "cut = b * w",
        "state  x = 1",
        "state  y = a",
        "on_ack  x = x + 1",
        "on_ack  y = min(x, y)",
    ]
    assert source.parameters == {"a": "8", "b": "0.5"}


def test_code_is_shown_as_it_is() -> None:
    code = "class MyCc:\n    gain = 2\n"
    source = source_of({"kind": "python", "source": "my_cc.py:MyCc", "code": code, "gain": 2.0})
    assert source.text == code.rstrip()
    assert source.parameters == {"source": "my_cc.py:MyCc", "gain": "2"}


def test_others_show_their_parameters() -> None:
    source = source_of(Candidate.parse("aimd(increase=2)").resolved)
    assert source.text == "" and source.parameters == {"increase": "2", "remaining": "0.5"}


@pytest.fixture
def reported(tiny_suite: Path, tmp_path: Path) -> tuple[Evaluation, Path]:
    found = evaluate(f"{RULE}; b = 0.5", suite=str(tiny_suite), replicates=5, out=tmp_path / "my folder")
    write_report(found, tmp_path / "my folder", command="again")
    return found, tmp_path / "my folder"


def own_section(folder: Path) -> str:
    (section,) = re.findall(
        r'<details class="fold" id="own">.*?</details>', (folder / "report.html").read_text(), re.DOTALL
    )
    return html.unescape(section)


def test_the_command_runs_what_the_report_shows(reported: tuple[Evaluation, Path], tmp_path: Path) -> None:
    found, folder = reported
    command = shlex.split(re.findall(r"<pre[^>]*>(ackclock run.*?)</pre>", own_section(folder), re.DOTALL)[0])
    assert command[:2] == ["ackclock", "run"]
    answer = cli(*command[1:], "--json", cwd=tmp_path)
    assert answer.code == 0, answer.stderr
    assert found.best is not None and found.best.score is not None
    worst = found.best.score.worst
    (stored,) = (
        row[0][1]
        for result, row in zip(found.board.results, found.first, strict=True)
        if result.environment.id == worst
    )
    ran, kept = json.loads(answer.stdout), json.loads(stored.result_json)
    # The command adds the shares of the groups.
    assert [group["group"] for group in ran.pop("groups")]
    for document in (ran, kept):
        document.pop("scenario")
    assert without_cost(ran) == without_cost(kept)
    samples = polars.read_csv(folder / f"run-{worst}" / "flows.csv")
    assert "cwnd_segments" in samples.columns and samples.height > 0


def test_wins_and_losses_are_judgements_of_the_scoreboard(reported: tuple[Evaluation, Path]) -> None:
    found, folder = reported
    reference = found.board.reference - 1
    for result, wins in zip(found.board.results, found.overview["wins"], strict=True):
        judged: dict[str, list[str]] = {"better": [], "worse": []}
        for score in result.scores[0]:
            # The share and the queueing delay stand for these two.
            if score.judgement and score.metric.name not in ("goodput", "delay_score"):
                judged[score.judgement].append(score.metric.label)
        assert wins[reference] == judged
        # Eight segments a round trip lose more than one.
        assert "segments lost" in wins[reference]["worse"]
    own = own_page(found, folder)
    section = own_section(folder)
    # A plot of bounded size, around a cut of the window of its first flow.
    assert own is not None and own.plot is not None
    plot = own.plot
    assert plot.around_cut and len(plot.svg) < 300_000
    assert plot.source in section and plot.flow.startswith("test")
    assert 'class="resent"' in plot.svg and plot.from_s < plot.to_s
    assert "grow = a / w\ncut = b * w\n" in section and own.worst.title in section
