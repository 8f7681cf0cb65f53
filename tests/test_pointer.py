"""Mistakes in formulas: the line, a mark below the character, one message, exit code 2."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from helpers import TINY, Answer, cli

from ackclock.text.pointer import with_pointers


def marked(answer: Answer) -> list[str]:
    """Return each formula of a refusal with what the mark below it points at."""
    assert answer.code == 2 and answer.stdout == "" and "Traceback" not in answer.stderr
    lines = answer.stderr.splitlines()
    return [
        f"{line.strip()}: {line[below.index('^') :]}"
        for line, below in itertools.pairwise(lines)
        if below.strip() == "^"
    ]


def test_a_mark_is_below_the_character() -> None:
    message = 'flows.a.cc.grow: character 5 of `a / ww`: unknown variable `ww`; did you mean "w"?'
    assert with_pointers(message) == f"{message}\n    a / ww\n        ^"
    assert with_pointers("nothing to point at") == "nothing to point at"
    # Of a long text the core shows 40 characters before the place.
    long = f"character 100 of `{'x' * 40}?{'y' * 39}`: unexpected `?`"
    assert with_pointers(long).splitlines()[-1] == " " * 44 + "^"


RULES = [
    ("grow = 1/ww; cut = w/2", "1/ww: ww", 'did you mean "w"?'),
    ("grow = alpa / w; cut = w/2; alpha = 1", "alpa / w: alpa / w", 'did you mean "alpha"?'),
    ("grow = sqroot(w); cut = w/2", "sqroot(w): sqroot(w)", 'did you mean "sqrt"?'),
    ("grow = 1/w; cut = w > 50 ms", "w > 50 ms: 50 ms", "this is seconds"),
    ("grow = 1/w +; cut = w/2", "1/w +: ", "expected"),
    ("grow = (1/w; cut = w/2", "(1/w: ", "expected"),
    ("grow = 1/w; cut", "grow = 1/w; cut: cut", "expected NAME = FORMULA"),
]


@pytest.mark.parametrize(("rule", "place", "message"), RULES)
@pytest.mark.parametrize("form", ["--rule", "positional"])
def test_a_rule_on_the_command_line(form: str, rule: str, place: str, message: str) -> None:
    answer = cli("evaluate", *(("--rule", rule) if form == "--rule" else (f"rule {rule}",)))
    (found,) = marked(answer)
    assert found.rstrip() == place.rstrip() and message in answer.stderr


def test_a_rule_in_a_scenario(tiny: Path) -> None:
    given = 'cc = { kind = "aimd", increase = 1, remaining = 0.5 }'
    assert given in TINY
    tiny.write_text(TINY.replace(given, 'cc = { kind = "rule", grow = "1 / ww", cut = "w / 2" }'))
    for command in ("run", "check"):
        answer = cli(command, tiny)
        assert marked(answer) == ["1 / ww: ww"]
        assert "tiny.toml:16: flows.test.cc.grow" in answer.stderr


def test_a_rule_in_a_change_of_a_scenario(tiny: Path) -> None:
    answer = cli("run", tiny, "--set", 'flows.test.cc={ kind = "rule", grow = "1 / ww" }')
    assert marked(answer) == ["1 / ww: ww"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("grow = 1/w; cut = " + "(" * 1000 + "w" + ")" * 1000, "at most 2000"),
        ("grow = 1/w; cut = " + "(" * 100 + "w" + ")" * 100, "64"),
        ("grow = 1/w; cut = w + " + " + ".join(["1"] * 600), "at most 2000"),
        ("grow = grow; cut = w/2", "formulas do not use each other"),
        ("grow = 1/w; cut = w/2; state x = y; state y = x", "unknown"),
        ("grow = 1/w; cut = w/2; a = nan", "number"),
        ("grow = nan; cut = w/2", "unknown variable `nan`"),
        ("grow = 1e999; cut = w/2", "number"),
        ("", "rule: is empty"),
    ],
)
def test_rules_that_are_refused(rule: str, message: str) -> None:
    answer = cli("evaluate", "--rule", rule)
    assert answer.code == 2 and answer.stdout == "" and "Traceback" not in answer.stderr
    assert len(answer.stderr.splitlines()) <= 3 and len(answer.stderr) < 2000, answer.stderr
    assert message in answer.stderr


def test_a_rule_of_a_megabyte(tiny: Path, tmp_path: Path) -> None:
    rule = " + ".join(["w"] * 250_000)
    given = 'cc = { kind = "aimd", increase = 1, remaining = 0.5 }'
    tiny.write_text(TINY.replace(given, f'cc = {{ kind = "rule", grow = "{rule}" }}'))
    answer = cli("run", tiny)
    assert answer.code == 2 and "at most 2000" in answer.stderr and len(answer.stderr) < 1000


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("grow = 1 / (w - w); cut = w / 2", "divides by zero"),
        ("grow = log(0 - w); cut = w / 2", "log"),
        ("grow = -2 * w; cut = w / 2", "grow"),
        ("grow = exp(w * w * 1000); cut = w / 2", "too large"),
        ("grow = sqrt(0 - w); cut = w / 2", "sqrt"),
    ],
)
def test_rules_that_fail_in_a_run(tiny_suite: Path, tmp_path: Path, rule: str, message: str) -> None:
    """Alone such a rule ends the command; among others it is marked."""
    args = ("--suite", tiny_suite, "--replicates", "1", "--out", tmp_path / "out")
    answer = cli("evaluate", "--rule", rule, *args)
    assert answer.code == 2 and answer.stdout == "" and "Traceback" not in answer.stderr
    assert len(answer.stderr.strip().splitlines()) <= 2 and message in answer.stderr
    among = cli("evaluate", "aimd", "--rule", rule, *args)
    assert among.code == 0, among.stderr
    assert "failed" in among.stdout and message in among.stdout
