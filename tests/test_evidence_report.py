"""`ackclock evidence`: criteria as data, and the report that has them one by one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from helpers import ROOT, cli

from ackclock.errors import InputError
from ackclock.evaluation.score import metrics_of
from ackclock.evidence import gather
from ackclock.evidence.criteria import HUMAN, MEASURED, Criteria
from ackclock.evidence.present import json_schema, sentences

#: Sections of the document that ask something of an author, in its order.
SECTIONS = (
    "3.1 3.2 4 5.1.1 5.1.2 5.1.3 5.1.4 5.1.5 5.2 5.2.1 5.2.2 5.2.3 5.3.1 5.3.2 6 6.1 6.2 6.3 6.4 "
    "7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 7.9 7.10 7.11 8"
)
#: One short environment, beside the tiny suite's `suite.toml`.
CRITERIA = """\
name = "tiny"
title = "A document"
document = "RFC 1"
quoted = "RFC 1"
differences = []

[[criteria]]
section = "1.1"
title = "Sharing"
level = "MUST"
quote = "flows MUST share"
verdict = "measured in part"
interpretation = "1 is fair."
human = "The rest."
measures = [
    { environment = "alone", metrics = ["jain_index", "queue_delay"] },
    { environment = "company", metrics = ["watch"] },
]

[[criteria]]
section = "1.10"
title = "Deployment"
quote = "say where"
verdict = "needs a human"
human = "It is text."
"""


@pytest.fixture
def tiny_criteria(tiny_suite: Path) -> Path:
    (tiny_suite / "criteria.toml").write_text(CRITERIA)
    return tiny_suite


def test_every_section_that_asks_something_is_there() -> None:
    criteria = Criteria.load("rfc9743")
    assert " ".join(each.section for each in criteria.criteria) == SECTIONS
    used = {measure.environment.id for each in criteria.criteria for measure in each.measures}
    assert used == {environment.id for environment in criteria.suite.environments}
    for each in criteria.criteria:
        assert each.interpretation if each.verdict != HUMAN else not each.measures
        assert (each.human == "") == (each.verdict == MEASURED)


def test_nothing_is_called_compliant() -> None:
    paths = [
        *(ROOT / "python/ackclock/evidence").rglob("*.*"),
        *(ROOT / "python/ackclock/suites/rfc9743").glob("*.toml"),
    ]
    texts = [path.read_text() for path in paths if path.suffix in (".py", ".toml", ".jinja", ".json")]
    assert len(texts) > 10
    quoted = "non-compliant senders"
    assert not [
        text for text in texts if re.search("complian|conform", text.replace(quoted, ""), re.IGNORECASE)
    ]


def test_a_watch_of_each_environment_is_shown() -> None:
    criteria = Criteria.load("rfc9743")
    shown = {
        (measure.environment.id, name)
        for each in criteria.criteria
        for measure in each.measures
        for name in measure.metrics
    }
    watching = {each.id for each in criteria.suite.environments if metrics_of(each)[-1].name == "watch"}
    assert {id for id, name in shown if name == "watch"} == watching


def test_the_report_has_every_criterion(tiny_criteria: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = cli("evidence", "cubic", "--criteria", tiny_criteria, "--out", out, "--json")
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    jsonschema.validate(document, json_schema())
    assert document == json.loads((out / "evidence.json").read_text())
    assert json.loads(cli("schema", "evidence").stdout) == json_schema()
    first, second = document["criteria"]
    assert [each["metric"] for each in first["figures"]] == ["jain_index", "queue_delay", "watch"]
    assert second["figures"] == [] and second["verdict"] == HUMAN
    text, page = (out / "evidence.md").read_text(), (out / "evidence.html").read_text()
    for each in ("flows MUST share", "measured in part", "The rest.", "1.10 Deployment", "It is text."):
        assert each in page and each.lower() in text.lower()
    for figure in first["figures"]:
        for algorithm in figure["algorithms"]:
            assert algorithm["command"] in text and algorithm["command"] in page
    assert "default-src 'none'" in page and not re.findall(r"<script[^>]*\ssrc|https://", page)


def test_figures_are_means_of_paired_runs(tiny_criteria: Path, tmp_path: Path) -> None:
    evidence = gather("cubic", criteria=str(tiny_criteria), out=tmp_path, replicates=3)
    ours, aimd, _ = evidence.answers[0].rows[1].figures
    values = [mine - other for mine, other in zip(ours.score.values, aimd.score.values, strict=True)]
    assert len(values) == 3 and aimd.difference is not None and ours.difference is None
    assert aimd.difference.mean == pytest.approx(sum(values) / 3)
    # Less queueing delay is better: whose interval is above zero, the candidate is worse.
    expected = "" if not aimd.difference.excludes_zero else "worse" if sum(values) > 0 else "better"
    assert aimd.judgement == expected
    # A command needs the page's list of cells.
    cli("evidence", "cubic", "--criteria", tiny_criteria, "--replicates", "3", "--out", tmp_path)
    run = json.loads(cli("run", "--from", tmp_path, f"{ours.cell}#2", "--json").stdout)
    assert 1e3 * run["summary"]["queue_delay_mean_s"] == pytest.approx(ours.score.values[2])


def test_a_second_call_runs_what_is_missing(tiny_criteria: Path, tmp_path: Path) -> None:
    counts: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        counts.append((done, total))

    gather("cubic", criteria=str(tiny_criteria), out=tmp_path, quick=True, only=["1.1"], progress=tell)
    first = counts[:]
    counts.clear()
    gather("cubic", criteria=str(tiny_criteria), out=tmp_path, quick=True, progress=tell)
    assert first[0][0] == 0 and counts[0] == first[-1] and counts[0][0] == counts[0][1]


def test_a_section_is_not_one_that_begins_alike(tiny_criteria: Path) -> None:
    criteria = Criteria.load(str(tiny_criteria))
    assert [each.section for each in criteria.chosen(["1.1"])] == ["1.1"]
    assert [each.section for each in criteria.chosen(["1"])] == ["1.1", "1.10"]
    with pytest.raises(InputError, match=r"--only 2: no criterion has this section"):
        criteria.chosen(["2"])


def test_the_candidate_may_be_one_of_the_others(tiny_criteria: Path) -> None:
    evidence = gather("aimd", criteria=str(tiny_criteria), quick=True)
    assert [each.label for each in evidence.algorithms] == ["aimd", "aimd-fc+"]
    assert sentences(evidence)[0] == "2 criteria: 0 measured, 1 measured in part, 1 for a human to judge."


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('environment = "company"', 'environment = "compny"', "no environment is called 'compny'"),
        ('["watch"]', '["wach"]', "no metric of 'company' is called 'wach'"),
        ('verdict = "measured in part"', 'verdict = "met"', "is 'met', but must be"),
        ('verdict = "measured in part"', 'verdict = "measured"', "human: is required unless the verdict is"),
        ('verdict = "measured in part"', 'verdict = "needs a human"', "but there are 2 measures"),
        ('section = "1.10"', 'section = "1.1"', "there are two called '1.1'"),
        ("quote =", "qoute =", "qoute"),
    ],
)
def test_mistakes_of_the_file_are_told(tiny_criteria: Path, old: str, new: str, told: str) -> None:
    path = tiny_criteria / "criteria.toml"
    path.write_text(CRITERIA.replace(old, new, 1))
    answer = cli("evidence", "cubic", "--criteria", tiny_criteria)
    assert answer.code == 2 and answer.stderr.count("\n") == 1
    assert told in answer.stderr and str(path) in answer.stderr


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["cubik"], "cubik"),
        (["cubic", "--only", "9.9"], "--only 9.9: no criterion has this section"),
        (["cubic", "--criteria", "core"], "has no criteria"),
        (["cubic", "--criteria", "rfc5033"], "no suite is called 'rfc5033'"),
        (["cubic", "--set", "flows.test.cc=reno"], "change the algorithm"),
    ],
)
def test_bad_input_is_one_message(args: list[str], told: str, tmp_path: Path) -> None:
    answer = cli("evidence", *args, "--out", tmp_path / "out")
    assert (answer.code, answer.stdout) == (2, "") and told in answer.stderr
    assert not (tmp_path / "out").exists() and "Traceback" not in answer.stderr


def test_a_sender_backs_off_without_feedback(tmp_path: Path) -> None:
    evidence = gather("cubic", against=["reno"], only=["5.1.1"], replicates=1, out=tmp_path)
    rows: dict[str, Any] = {row.environment.id: row for row in evidence.answers[0].rows}
    for figure in rows["path-dead"].figures:
        # In 20 s: at most a window of two BDP and the buffer, a loss probe, and timeouts of .2 s that double.
        assert 1 <= figure.score.value.mean <= 75
