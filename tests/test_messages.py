"""Messages and notes of commands: an engineer reads them without a second look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import cli

from ackclock.cli.comparing import Difference, Side, is_too_few
from ackclock.cli.run_command import _notes

FAST = ("--rate", "5Mbit/s", "--duration", "3s")

#: A slow access link in front of a bottleneck of the same rate.
ACCESS = """
schema = 2
name = "access"
duration = "5 s"
topology.kind = "dumbbell"
topology.rate = "5 Mbit/s"
topology.delay = "10 ms"
topology.access = { rate = "5 Mbit/s", delay = "5 ms" }
[[flows]]
name = "test"
cc = "cubic"
"""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--bogus"), "no such option '--bogus'; did you mean '--loss', '--out', '--qlog'?"),
        (("run", "--sed", "1"), "no such option '--sed'; did you mean '--save', '--seed', '--set'?"),
        (("query", "SELECT", "1"), "got unexpected extra argument (1) (see ackclock query --help)"),
        (
            ("evaluate", "cubic", "--replicates", "0"),
            "invalid value for '--replicates': 0 is not in the range",
        ),
        (("evaluat",), "no command is called 'evaluat'; did you mean 'evaluate'?"),
    ],
    ids=["option", "similar-option", "argument", "range", "command"],
)
def test_errors_of_the_command_line_have_one_form(arguments: tuple[str, ...], message: str) -> None:
    answer = cli(*arguments)
    assert answer.code == 2
    assert answer.stderr.startswith(f"error: {message}")
    assert "Usage" not in answer.stderr and answer.stderr.count("\n") == 1


def test_every_mistake_of_a_file_is_an_error_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('schema = 2\n[topology]\nkind = "dumbbell"\nrate = "5 Mbps"\ndelay = 30\n')
    lines = cli("run", file).stderr.splitlines()
    assert len(lines) > 2 and all(line.startswith(f"error: {file}") for line in lines)


def test_a_failing_algorithm_is_not_a_mistake_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text(
        "from ackclock import CongestionControl\n\n\nclass Crash(CongestionControl):\n"
        "    def on_ack(self, ack):\n        self.cwnd += 1 / 0\n"
    )
    answer = cli("run", "--flows", "bad.py:Crash", *FAST)
    error = next(line for line in answer.stderr.splitlines() if line.startswith("error: "))
    assert answer.code == 2
    assert error.startswith("error: flow Crash: the algorithm failed at ")
    assert error.endswith("on_ack: ZeroDivisionError: division by zero")
    assert "bad.py:6, in on_ack" in answer.stderr


def test_a_loss_of_one_is_said_to_be_all() -> None:
    answer = cli("run", *FAST, "--loss", "1")
    assert "warning: loss = 1 means 100 % loss on bottleneck; for one percent write 0.01 (or --loss 1%)" in (
        answer.stderr.splitlines()
    )


def test_queueing_elsewhere_than_at_the_bottleneck_is_noted(tmp_path: Path) -> None:
    file = tmp_path / "access.toml"
    file.write_text(ACCESS)
    assert (
        "note: 100 % of the queueing delay is not at the bottleneck" in cli("run", file).stderr.splitlines()
    )
    assert "not at the bottleneck" not in cli("run", *FAST).stderr


def _summary(**values: float) -> dict[str, Any]:
    keys = ("delivery_ratio", "utilization", "queue_delay_mean_s", "bottleneck_queue_delay_mean_s")
    return {"summary": {key: values.get(key, 0.0) for key in keys}, "flows": []}


def test_figures_above_100_percent_are_explained() -> None:
    (note,) = _notes(_summary(utilization=1.0003), everything=False)
    assert note.startswith("utilization above 100 %: ")
    assert not list(_notes(_summary(delivery_ratio=1.01), everything=False))
    (note,) = _notes(_summary(delivery_ratio=1.01), everything=True)
    assert (
        note == "delivery ratio above 100 %: data received out of order in the warm-up was delivered after it"
    )


def test_the_loss_recovery_of_linux_is_sack_and_rack(tmp_path: Path) -> None:
    row = next(line for line in cli("run", *FAST).stdout.splitlines() if line.startswith("cubic"))
    assert row.split()[2] == "sack+rack"
    saved = tmp_path / "saved.toml"
    cli("run", *FAST, "--save", saved)
    for sets, name in (
        (("--set", "transport.rack=false"), "sack"),
        (("--set", "flows.cubic.recovery=newreno"), "newreno"),
    ):
        shown = cli("run", saved, *sets).stdout.splitlines()
        assert next(line for line in shown if line.startswith("cubic")).split()[2] == name


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ((), "note: nothing is random in this scenario: 1 run per point instead of 3"),
        (("--loss", "1%", "--vary", "topology.loss.probability=0,0.01"), None),
    ],
    ids=["none", "some"],
)
def test_a_study_says_why_a_point_has_one_run(
    tmp_path: Path, options: tuple[str, ...], note: str | None
) -> None:
    answer = cli(
        "study", "--rate", "5Mbit/s", "--duration", "1s", "--replicates", "3", "--out", tmp_path / "out",
        *(options or ("--vary", "topology.queue.limit=1BDP,2BDP")),
    )  # fmt: skip
    assert answer.code == 0, answer.stderr
    expected = note or "note: nothing is random at 1 of 2 points: 1 run each instead of 3"
    assert expected in answer.stderr.splitlines()


def test_differences_of_few_events_are_not_percentages() -> None:
    def side(backend: str, retransmits: int) -> Side:
        flow = {"name": "test", "retransmits": retransmits}
        return Side(
            backend, {"backend": backend, "flows": [flow], "links": [{"drops": retransmits}]}, {}, 0.0
        )

    def row(key: str) -> Difference:
        return Difference("", key, "loss rate", "%", 100.0, (0.00033, 0.00166))

    few, many = (side("sim", 1), side("linux", 5)), (side("sim", 10), side("linux", 50))
    for key in ("loss_rate", "drop_rate"):
        assert is_too_few(few, row(key)) and not is_too_few(many, row(key))
    assert not is_too_few(few, row("goodput_bps"))
