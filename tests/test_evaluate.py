"""`ackclock evaluate`: scoreboard, and what is known of New-AIMD."""

from __future__ import annotations

import html
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT, Answer, cli

from ackclock.errors import ScenarioError
from ackclock.evaluation import Evaluation, evaluate
from ackclock.evaluation.candidate import Candidate

#: The candidate, then the panel.
PANEL = ["new-aimd", "aimd", "cubic", "aimd-fc+", "bbr3"]
SCORE_KEYS = {"heading", "mean", "low", "high", "cost_difference", "values", "judgement"}
CORE = ROOT / "python" / "ackclock" / "suites" / "core"


@dataclass(frozen=True)
class Evaluated:
    """What `ackclock evaluate` left."""

    answer: Answer
    folder: Path

    @property
    def scoreboard(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads((self.folder / "scoreboard.json").read_text())
        return made


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory, panel_runs: Path) -> Evaluated:
    """The core suite, a replicate of each environment."""
    folder = shutil.copytree(panel_runs, tmp_path_factory.mktemp("core"), dirs_exist_ok=True)
    answer = cli("evaluate", "new-aimd", "--replicates", "1", "--out", folder)
    assert answer.code == 0, answer.stderr
    return Evaluated(answer, folder)


def test_the_scoreboard_fits_80_columns(core: Evaluated) -> None:
    table, block = core.answer.stdout.split("VERDICT  ")
    assert max(map(len, table.splitlines())) <= 80
    assert block.startswith("new-aimd is ") and ("  - loss " in block or "  · loss " in block)
    titles = [environment["title"] for environment in core.scoreboard["environments"]]
    assert sum(f"\n{title}\n" in table for title in titles) == 5
    assert f"report: {core.folder / 'report.html'}   details: ackclock " in core.answer.stderr


def test_full_prints_all_environments_and_the_sentences_of_the_report(core: Evaluated) -> None:
    answer = cli("evaluate", "new-aimd", "--replicates", "1", "--out", core.folder, "--full")
    table, _ = answer.stdout.split("VERDICT  ")
    assert table.rstrip().splitlines()[-1] == core.scoreboard["verdict"]
    assert max(map(len, table.splitlines()[:-1])) <= 80
    for environment in core.scoreboard["environments"]:
        assert environment["title"] in table
    assert answer.stderr.endswith(f"report: {core.folder / 'report.html'}\n")


@pytest.mark.parametrize(
    ("replicates", "words"),
    [
        ("3", "shows no large and significant difference from cubic"),
        ("1", "one replicate cannot show significance"),
    ],
)
def test_the_block_is_silent_without_a_difference_that_counts(
    tiny_suite: Path, tmp_path: Path, replicates: str, words: str
) -> None:
    answer = cli(
        "evaluate", "cubic(c=0.40001)", "--against", "cubic", "--suite", tiny_suite,
        "--replicates", replicates, "--out", tmp_path / "out",
    )  # fmt: skip
    assert answer.code == 0, answer.stderr
    first = answer.stdout.split("VERDICT  ")[1].splitlines()[0]
    assert first.startswith("cubic(c=0.40001) ") and words in first


@pytest.mark.parametrize(
    "ccs",
    [
        ["cubic(c=0.40001)"],
        ["cubic"],
        ["mimd"],
        ["rule grow = 1e300; cut = w"],
        ["rule grow = 1e300; cut = w", "rule grow = 2e300; cut = w", "rule grow = 3e300; cut = w"],
        ["mimd", "cubic"],
    ],
)
def test_the_block_has_four_to_six_lines(ccs: list[str], tiny_suite: Path) -> None:
    evaluation = evaluate(ccs, against=["cubic"], suite=str(tiny_suite), replicates=2)
    lines = evaluation.lines
    assert 4 <= len(lines) <= 6 and all("\n" not in line for line in lines), lines
    assert [line.startswith("VERDICT  ") for line in lines] == [True] + [False] * (len(lines) - 1)


def test_full_prints_all_of_a_ranking(tiny_suite: Path, tmp_path: Path) -> None:
    command = (
        "evaluate",
        "mimd",
        "cubic",
        "--suite",
        tiny_suite,
        "--replicates",
        "2",
        "--out",
        tmp_path / "out",
    )
    short, whole = cli(*command), cli(*command, "--full")
    assert short.code == whole.code == 0
    assert "\nregret" not in short.stdout and "--full" in short.stderr
    for part in ("ranking", "\nIn company\n", "\nregret\n", "\ncompetitors\n", "Only differences that"):
        assert part in whole.stdout, part


def test_intervals_fit_80_columns(tiny_suite: Path, tmp_path: Path) -> None:
    cc = '{ kind = "linear", increase_add = 0.25, decrease_mul = 0.875 }'
    answer = cli("evaluate", cc, "--suite", tiny_suite, "--replicates", "3", "--out", tmp_path / "out")
    assert answer.code == 0, answer.stderr
    assert "±" in answer.stdout
    table, _ = answer.stdout.split("VERDICT  ")
    assert max(map(len, table.splitlines())) <= 80


def test_the_core_suite_asks_what_it_should(core: Evaluated) -> None:
    board = core.scoreboard
    ids = {environment["id"] for environment in board["environments"]}
    assert {"slow-1", "slow-5", "fast-1", "fast-5", "newcomer", "departures"} <= ids
    assert {"unequal-rtt", "with-standard", "random-loss", "app-limited", "short-flows"} <= ids
    assert [candidate["label"] for candidate in board["candidates"]] == PANEL
    assert board["reference"] == "aimd"
    assert board["suite"]["name"] == "core"


def test_scores_have_their_shape(core: Evaluated) -> None:
    for environment in core.scoreboard["environments"]:
        assert [row["candidate"] for row in environment["scores"]] == PANEL
        for row in environment["scores"]:
            assert {"efficiency", "loss_rate", "queue_delay"} <= set(row["metrics"])
            for metric in row["metrics"].values():
                assert set(metric) == SCORE_KEYS
                assert metric["values"] == [metric["mean"]]
                assert metric["low"] is metric["high"] is None
                assert metric["judgement"] == ""
            assert 0 < row["metrics"]["efficiency"]["mean"] < 100


def test_json_is_the_scoreboard_that_is_kept(tiny_suite: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    answer = cli("evaluate", "new-aimd", "--suite", tiny_suite, "--out", folder, "--json")
    assert json.loads(answer.stdout) == Evaluated(answer, folder).scoreboard
    first = (folder / "scoreboard.json").read_bytes()
    assert cli("evaluate", "new-aimd", "--suite", tiny_suite, "--out", folder).code == 0
    assert (folder / "scoreboard.json").read_bytes() == first


def test_quick_and_replicates_say_how_many(tiny_suite: Path, tmp_path: Path) -> None:
    for args, count in (([], 2), (["--quick"], 3), (["--replicates", "4"], 4)):
        answer = cli(
            "evaluate", "aimd-fc", "--suite", tiny_suite, "--out", tmp_path / str(count), "--json", *args
        )
        board = json.loads(answer.stdout)
        assert len(board["environments"][0]["scores"][0]["metrics"]["efficiency"]["values"]) == count


def test_an_inline_table_is_a_candidate(tiny_suite: Path, tmp_path: Path) -> None:
    cc = '{ kind = "aimd", increase = 2 }'
    answer = cli("evaluate", cc, "--suite", tiny_suite, "--out", tmp_path / "out", "--json")
    assert answer.code == 0, answer.stderr
    board = json.loads(answer.stdout)
    assert [candidate["label"] for candidate in board["candidates"]] == [
        "aimd(increase=2)",
        "aimd",
        "aimd-fc+",
    ]
    assert board["candidates"][0]["cc"] == {"kind": "aimd", "increase": 2.0, "remaining": 0.5}
    silent = "aimd(increase=2) shows no large and significant difference from aimd in "
    assert board["verdict"].startswith(silent)


def test_the_panel_can_be_chosen(tiny_suite: Path) -> None:
    board = evaluate("aimd", against=["mimd", "aimd"], suite=str(tiny_suite), replicates=1).board
    assert [candidate.label for candidate in board.candidates] == ["aimd", "mimd"]
    assert board.candidates[board.reference].label == "mimd"
    itself = evaluate("aimd", suite=str(tiny_suite), replicates=1).board
    assert [candidate.label for candidate in itself.candidates] == ["aimd", "aimd-fc+"]
    assert itself.reference == 0


def test_without_a_folder_it_works_in_its_own(tiny_suite: Path, tmp_path: Path) -> None:
    assert cli("evaluate", "aimd-fc+", "--suite", tiny_suite, "--replicates", "1", cwd=tmp_path).code == 0
    assert (tmp_path / "ackclock-out" / "evaluate-aimd-fc+" / "report.html").is_file()


def test_an_evaluation_shows_itself(tiny_suite: Path) -> None:
    evaluation = evaluate("new-aimd", suite=str(tiny_suite), replicates=2)
    assert repr(evaluation) == f"Evaluation({evaluation.verdict!r})"
    page = evaluation._repr_html_()
    assert html.escape(evaluation.verdict) in page and "In company" in page and "aimd-fc+" in page


def test_candidates_get_the_same_random_draws(tiny_suite: Path) -> None:
    """Flows under test that run what the standard flow runs are the reference itself, number by number."""
    board = evaluate('{ kind = "aimd", increase = 1.0000001 }', suite=str(tiny_suite), replicates=3).board
    for result in board.results:
        for ours, theirs in zip(result.scores[0], result.scores[board.reference], strict=True):
            assert ours.values == pytest.approx(theirs.values, rel=1e-3)


def test_an_environment_with_nothing_random_gets_no_interval(tiny_suite: Path) -> None:
    path = tiny_suite / "alone.toml"
    path.write_text(path.read_text().replace('{ uniform = ["0 s", "500 ms"] }', '"0 s"'))
    board = evaluate("new-aimd", suite=str(tiny_suite), replicates=3).board
    settled, random = ([score.value for row in result.scores for score in row] for result in board.results)
    assert all(value.count == 1 and value.half_width is None for value in settled)
    assert all(value.count == 3 and value.half_width is not None for value in random)


@pytest.fixture(scope="module")
def trouble(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """The environments in which New-AIMD is known to fail."""
    folder = tmp_path_factory.mktemp("trouble")
    suite = (CORE / "suite.toml").read_text()
    head, *environments = suite.split("[[environments]]\n")
    chosen = [
        text
        for text in environments
        if re.search(r'^id = "(with-standard|newcomer-far|with-cubic-shallow)"$', text, re.M)
    ]
    assert len(chosen) == 3
    head = re.sub(r"^test = .*$", 'test = ["test", "test-late"]', head, flags=re.M)
    (folder / "suite.toml").write_text("[[environments]]\n".join([head, *chosen]))
    for path in CORE.glob("*.toml"):
        if path.name != "suite.toml":
            shutil.copy(path, folder)
    return evaluate("new-aimd", against=["aimd"], suite=str(folder))


@pytest.mark.parametrize(
    ("environment", "at_most"),
    # Competing with AIMD, each flow receives about its fair share. Competing with New-AIMD, it receives half.
    [("with-standard", 0.7), ("with-cubic-shallow", 0.5), ("newcomer-far", 0.75)],
)
def test_new_aimd_does_not_make_room(trouble: Evaluation, environment: str, at_most: float) -> None:
    (result,) = (result for result in trouble.board.results if result.environment.id == environment)
    ours, theirs = (row[-1] for row in result.scores)
    assert ours.metric.better == "reach-one"
    assert ours.value.mean < at_most * theirs.value.mean
    assert ours.judgement == "worse"


def test_new_aimd_loses_more(trouble: Evaluation) -> None:
    for result in trouble.board.results:
        ours, theirs = (
            next(score for score in row if score.metric.name == "loss_rate") for row in result.scores
        )
        assert ours.value.mean > theirs.value.mean


def test_a_rule_is_a_candidate() -> None:
    rule = Candidate.from_rule("grow = a / w; cut = w / 2; a = 2")
    assert rule.label == 'rule(grow="a / w", a=2)'
    assert Candidate.parse(rule.label).resolved == rule.resolved


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("grow = 1/ww", 'grow: character 3 of `1/ww`: unknown variable `ww`; did you mean "w"?'),
        ("grow = 1/w; cut", "character 13 of `grow = 1/w; cut`: expected NAME = FORMULA"),
    ],
)
def test_a_mistake_in_a_rule_has_its_place(line: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        Candidate.from_rule(line)
    assert message in str(error.value)
