"""`ackclock evaluate-queue`: queue disciplines over a suite that tests queues."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import cli

from ackclock.evaluation.queues import QueueCandidate
from ackclock.evaluation.subject import Algorithms, Queues
from ackclock.evaluation.suite import Suite

SUITE = """\
name = "small"
version = 1
title = "One link"
replicates = 2
subject = "queue"
panel = ["drop-tail", "codel"]

[[environments]]
id = "two"
scenario = "two.toml"
title = "Two flows"
question = "How long is the queue?"
"""
SCENARIO = """\
schema = 2
name = "two"
duration = "6 s"
warmup = "2 s"

[replicates]
rtt = 0.05

[topology]
kind = "dumbbell"
rate = "5 Mbit/s"
delay = "10 ms"
queue = { kind = "drop-tail", limit = "4 BDP" }

[[flows]]
name = "bulk"
count = 2
cc = "cubic"
start = { uniform = ["0 s", "1 s"] }
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "suite.toml").write_text(SUITE)
    (folder / "two.toml").write_text(SCENARIO)
    return folder


def test_a_queue_is_judged_by_the_report_of_algorithms(suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = cli(
        "evaluate-queue", "pie", "codel(target=20 ms)", "--suite", str(suite), "--out", str(out), "--json"
    )
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert document["suite"] == {"name": "small", "version": 1, "subject": "queue"}
    assert {entry["candidate"] for entry in document["ranking"]} == {"pie", 'codel(target="20 ms")'}
    assert {entry["candidate"] for entry in document["panel"]} == {"drop-tail", "codel"}
    delay = {
        row["candidate"]: row["metrics"]["queue_delay"]["mean"]
        for row in document["environments"][0]["scores"]
    }
    assert delay["pie"] < delay["drop-tail"]
    report = (out / "report.html").read_text()
    assert "The queue of the bottleneck" in report and "Coexistence" not in report


def test_a_queue_inherits_the_buffer_of_the_environment(suite: Path) -> None:
    loaded = Suite.load(str(suite))
    (environment,) = loaded.environments
    assert isinstance(loaded.subject, Queues)
    for text, limit in (("codel", "4 BDP"), ("codel(limit=50 packets)", "50 packets")):
        queue = json.loads(
            environment.scenario(loaded.subject.parse(text).text, loaded.subject).resolved_json
        )
        assert (queue["topology"]["queue"]["kind"], queue["topology"]["queue"]["limit"]) == ("codel", limit)


def test_labels_show_what_differs_from_the_defaults() -> None:
    for text, label in (
        ("codel", "codel"),
        ("{ kind = 'codel', target = '5 ms' }", "codel"),
        ("codel(target=10 ms, ecn=true)", 'codel(ecn=true, target="10 ms")'),
    ):
        assert QueueCandidate.parse(text).label == label


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["coddel"], 'error: queue coddel: unknown queue discipline "coddel"; did you mean "codel"?'),
        (["codel(taget=1 ms)"], "taget"),
        (["pie", "--against", "cubic"], "cubic"),
        (["pie", "--suite", "core"], "use `ackclock evaluate`"),
        (["pie", "--set", "topology.queue=red"], "change the queue of the bottleneck under test"),
        ([], "Missing argument"),
    ],
)
def test_mistakes_are_one_message(suite: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    given = arguments if "--suite" in arguments else [*arguments, "--suite", str(suite)]
    answer = cli("evaluate-queue", *given, "--out", str(tmp_path / "out"))
    assert (answer.code, answer.stdout) == (2, "")
    assert message.lower() in answer.stderr.lower() and len(answer.stderr.splitlines()) == 1


def test_suites_of_queues_are_not_for_algorithms() -> None:
    answer = cli("evaluate", "cubic", "--suite", "aqm")
    assert answer.code == 2 and "use `ackclock evaluate-queue`" in answer.stderr
    assert isinstance(Suite.load("core").subject, Algorithms)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("subject", 'subject = "queue"\ntest = ["bulk"]'),
            "names flows under test, but this suite tests queues",
        ),
        (("subject", ""), "test: is missing"),
        (("subject", 'subject = "link"'), "subject"),
        (("scenario", 'company = true\nscenario = "two.toml"'), "applies to flows under test"),
        (("scenario", 'set = ["topology.queue=red"]\nscenario = "two.toml"'), "has no effect"),
    ],
)
def test_mistakes_in_a_suite_are_named(suite: Path, change: tuple[str, str], message: str) -> None:
    file = suite / "suite.toml"
    key, line = change
    lines = [line if text.startswith(f"{key} =") else text for text in file.read_text().splitlines()]
    file.write_text("\n".join(lines) + "\n")
    answer = cli("evaluate-queue", "pie", "--suite", str(suite))
    assert answer.code == 2 and message in answer.stderr
