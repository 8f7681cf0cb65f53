"""`ackclock evaluate` with several candidates: their order, what is dropped, what fails, the JSON."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from helpers import cli

import ackclock
from ackclock.evaluation import SHOWN, Evaluation, evaluate
from ackclock.evaluation.present import json_schema
from ackclock.files.labels import split_list

DIVIDES = "rule grow = 1 / (w - w); cut = w / 2"
FOUR = ["aimd(increase=8)", "cubic", "aimd", "new-aimd"]


@pytest.fixture(scope="module")
def validator() -> Any:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    return jsonschema.Draft202012Validator(json_schema())


def order(evaluation: Evaluation) -> list[int]:
    return [entry.index for entry in evaluation.ranking.entries]


def decisions(evaluation: Evaluation) -> Any:
    document = evaluation.document
    return [document[key] for key in ("score", "ranking", "panel", "rounds", "regrets")]


def test_candidates_are_ranked(tiny_suite: Path) -> None:
    found = evaluate(FOUR, suite=str(tiny_suite), replicates=6)
    entries = found.ranking.entries
    assert [entry.rank for entry in entries] == [1, 2, 3, 4]
    means = [entry.score.value.mean for entry in entries if entry.score is not None]
    assert means == sorted(means)
    assert entries[0].standing == "best" and found.best is entries[0]
    (bad,) = (entry for entry in entries if entry.candidate.label == "aimd(increase=8)")
    assert bad.standing == "worse" and bad.difference is not None and bad.difference.low is not None
    assert bad.difference.low > 0
    # The best is on the board first; the panel follows, and what is among the candidates is there once.
    labels = [candidate.label for candidate in found.board.candidates]
    assert labels[0] == entries[0].candidate.label
    assert len(labels) == len(set(labels)) and {"aimd", "aimd-fc+"} <= set(labels)
    assert found.board.candidates[found.board.reference].label == "aimd"


def test_a_score_does_not_depend_on_the_others(tiny_suite: Path) -> None:
    together = evaluate(FOUR, suite=str(tiny_suite), replicates=3)
    alone = evaluate("cubic", suite=str(tiny_suite), replicates=3)
    (cubic,) = (entry for entry in together.ranking.entries if entry.candidate.label == "cubic")
    assert alone.best is not None and alone.best.score == cubic.score


def test_the_mean_regret_is_that_of_the_scoreboard(tiny_suite: Path) -> None:
    assert cli("panel", "--suite", tiny_suite).code == 0
    found = evaluate(["new-aimd", "cubic"], suite=str(tiny_suite), replicates=3, metric="efficiency")
    best = found.best
    assert best is not None and best.score is not None
    assert best.score.value.mean == pytest.approx(found.regrets[0][0].mean)
    for name, regret in found.regrets[0][0].by_environment.items():
        assert best.regrets[name]["efficiency"] == pytest.approx(regret)


def test_a_candidate_that_fails_does_not_stop_the_others(tiny_suite: Path, validator: Any) -> None:
    found = evaluate([DIVIDES, "aimd", "cubic"], suite=str(tiny_suite), replicates=2)
    last = found.ranking.entries[-1]
    assert (last.standing, last.rank, last.score, last.index) == ("failed", None, None, 0)
    assert last.failure is not None and "divides by zero" in last.failure.message
    assert (last.failure.environment, last.failure.replicate) == ("alone", 0)
    document = found.document
    validator.validate(document)
    assert document["ranking"][-1]["score"] is None
    assert document["ranking"][-1]["failure"]["message"] == last.failure.message
    with pytest.raises(ackclock.RunError, match="divides by zero"):
        evaluate(DIVIDES, suite=str(tiny_suite), replicates=2)


def test_all_may_fail(tiny_suite: Path, tmp_path: Path, validator: Any) -> None:
    args = ("--suite", tiny_suite, "--replicates", "1", "--out", tmp_path / "out", "--json")
    answer = cli("evaluate", DIVIDES, "rule grow = -w; cut = w / 0", *args)
    assert answer.code == 2 and "Traceback" not in answer.stderr
    document = json.loads(answer.stdout)
    validator.validate(document)
    assert [entry["score"] for entry in document["ranking"]] == [None, None]
    assert document["verdict"] == "Every candidate failed."


def test_a_budget_drops_what_is_clearly_worse(tiny_suite: Path) -> None:
    found = evaluate(FOUR, suite=str(tiny_suite), budget="20s", replicates=16)
    ranking = found.ranking
    assert [each.replicates for each in ranking.rounds[:2]] == [4, 8]
    (bad,) = (entry for entry in ranking.entries if entry.candidate.label == "aimd(increase=8)")
    assert bad.standing == "dropped" and bad.round is not None
    assert bad.index in ranking.rounds[bad.round - 1].dropped
    assert bad.replicates == ranking.rounds[bad.round - 1].replicates < 16
    assert ranking.entries[0].replicates == ranking.rounds[-1].replicates
    levels = [each.alpha * 4 * 3 for each in ranking.rounds]
    assert levels == pytest.approx(
        [ranking.alpha / (look * (look + 1)) for look in range(1, len(levels) + 1)]
    )
    assert sum(each.work for each in ranking.rounds) <= 20


def test_a_race_is_the_same_on_any_number_of_workers(tiny_suite: Path, tmp_path: Path) -> None:
    args: dict[str, Any] = {"suite": str(tiny_suite), "budget": "6 s"}
    one = evaluate(FOUR, workers=1, out=tmp_path / "one", **args)
    four = evaluate(FOUR, workers=4, **args)
    again = evaluate(FOUR, out=tmp_path / "one", **args)
    assert decisions(one) == decisions(four) == decisions(again)


def test_a_budget_of_runs_is_kept(tiny_suite: Path, tmp_path: Path) -> None:
    """Two environments, two candidates and the panel's two: eight runs a replicate."""
    found = evaluate(["new-aimd", "cubic"], suite=str(tiny_suite), budget="100 runs", out=tmp_path / "out")
    assert sum(each.work for each in found.ranking.rounds) <= 100
    first, *_ = found.ranking.rounds
    assert first.work == 4 * 8
    with pytest.raises(ackclock.ArgumentError, match=r"budget: '31'.*takes 32 runs"):
        evaluate(["new-aimd", "cubic"], suite=str(tiny_suite), budget=31)


def test_a_budget_that_is_too_small_is_refused(tiny_suite: Path) -> None:
    answer = cli("evaluate", "new-aimd", "cubic", "--suite", tiny_suite, "--budget", "0.01s")
    assert answer.code == 2 and answer.stdout == ""
    assert "--budget '0.01s': is too small" in answer.stderr and "takes 1 s" in answer.stderr


def test_equals_cannot_be_told_apart(tiny_suite: Path) -> None:
    same = "rule grow = 1 / w; cut = w / 2"
    found = evaluate(["aimd", same, "aimd"], suite=str(tiny_suite), budget="200 runs")
    assert order(found) == [0, 1, 2]
    assert [entry.standing for entry in found.ranking.entries] == ["best", "tied", "tied"]
    assert found.ranking.ended == "the budget is used up"


def test_where_nothing_is_random_one_replicate_decides(tiny_suite: Path) -> None:
    for name in ("alone.toml", "company.toml"):
        path = tiny_suite / name
        path.write_text(path.read_text().replace('{ uniform = ["0 s", "500 ms"] }', '"0 s"'))
    found = evaluate(["aimd(increase=8)", "aimd"], suite=str(tiny_suite), budget="100 runs")
    assert [each.replicates for each in found.ranking.rounds] == [4]
    assert [entry.standing for entry in found.ranking.entries] == ["best", "worse"]


def test_the_json_has_its_schema(tiny_suite: Path, tmp_path: Path, validator: Any) -> None:
    folder = tmp_path / "out"
    args = ("--suite", tiny_suite, "--out", folder, "--json")
    answer = cli("evaluate", "new-aimd", "--rule", "grow = 1/w; cut = w/2", "--budget", "100", *args)
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    validator.validate(document)
    assert document == json.loads((folder / "scoreboard.json").read_text())
    for path in (("score", "budget"), ("ranking", 0, "score"), ("rounds", 0, "alpha")):
        broken = json.loads(answer.stdout)
        place = broken
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(broken)
    alone = cli("evaluate", "new-aimd", "--suite", tiny_suite, "--replicates", "1", "--json", cwd=tmp_path)
    validator.validate(json.loads(alone.stdout))
    assert json.loads(cli("schema", "evaluation").stdout) == json_schema()


def test_an_evaluation_pickles(tiny_suite: Path) -> None:
    found = evaluate(FOUR, suite=str(tiny_suite), replicates=2)
    again = pickle.loads(pickle.dumps(found))
    assert again.document == found.document
    assert repr(again) == repr(found)


def test_the_command_prints_the_ranking_and_the_verdict(tiny_suite: Path, tmp_path: Path) -> None:
    args = ("--suite", tiny_suite, "--budget", "20s", "--out", tmp_path / "out")
    answer = cli("evaluate", *FOUR, DIVIDES, *args, columns=80)
    assert answer.code == 0, answer.stderr
    assert max(map(len, answer.stdout.splitlines())) <= 80
    text = " ".join(answer.stdout.split())
    assert "worse, dropped after round 1" in text and "round 1: 4 replicates, 5 candidates" in text
    assert "failed in alone, replicate 0" in text and "budget 20s: used" in text
    document = json.loads((tmp_path / "out" / "scoreboard.json").read_text())
    assert "VERDICT aimd is the reference of this comparison (" in text
    assert document["verdict"].startswith("aimd is the reference itself")
    page = (tmp_path / "out" / "report.html").read_text()
    for entry in document["ranking"]:
        assert entry["candidate"].replace('"', "&#34;") in page


def test_folders_of_several_have_a_name(tiny_suite: Path, tmp_path: Path) -> None:
    args = ("--suite", tiny_suite, "--replicates", "1")
    assert cli("evaluate", "aimd-fc+", "cubic", *args, cwd=tmp_path).code == 0
    assert (tmp_path / "ackclock-out" / "evaluate-aimd-fc+-and-1-more" / "report.html").is_file()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("cubic,aimd", ["cubic", "aimd"]),
        ("aimd(increase=2, remaining=0.4), cubic", ["aimd(increase=2, remaining=0.4)", "cubic"]),
        ('{ kind = "aimd", increase = 2 },mimd', ['{ kind = "aimd", increase = 2 }', "mimd"]),
        ("rule grow = max(1, 2) / w; cut = w / 2", ["rule grow = max(1, 2) / w; cut = w / 2"]),
        ("rule grow = max((1 + w), 2) / w; cut = w / 2, aimd", 2),
    ],
)
def test_a_list_is_split_at_its_commas(text: str, parts: list[str] | int) -> None:
    assert split_list(text) == parts if isinstance(parts, list) else len(split_list(text)) == parts


def test_the_list_of_against_is_the_panel(tiny_suite: Path, tmp_path: Path) -> None:
    args = ("--suite", tiny_suite, "--replicates", "1", "--out", tmp_path / "out", "--json")
    answer = cli("evaluate", "new-aimd", "--against", "cubic,aimd(increase=2, remaining=0.4)", *args)
    document = json.loads(answer.stdout)
    assert [each["label"] for each in document["candidates"]] == [
        "new-aimd",
        "cubic",
        "aimd(increase=2, remaining=0.4)",
    ]
    assert document["reference"] == "cubic"


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(ackclock.ArgumentError, match="cc: is empty"):
        evaluate([])


def test_only_a_few_are_shown_in_full(tiny_suite: Path) -> None:
    many = [f"aimd(increase={1 + number / 10})" for number in range(6)]
    found = evaluate(many, suite=str(tiny_suite), replicates=2, against=["cubic"])
    assert len(found.ranking.entries) == 6
    assert len(found.board.candidates) == SHOWN + 1
    assert [candidate.label for candidate in found.board.candidates[:SHOWN]] == [
        entry.candidate.label for entry in found.ranking.entries[:SHOWN]
    ]
    # Charts need samples, which the race did without.
    assert all(outcome.flow_samples for row in found.first for _, outcome in row)
