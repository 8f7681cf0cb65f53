"""Readings of a paper: which are tried, what contradicts itself, and what a verdict hangs on."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from helpers import cli
from test_reproduce import tiny_paper as tiny_paper  # the fixture

from ackclock.reproduce import reproduce
from ackclock.reproduce.choices import Answer, Change, Choice
from ackclock.reproduce.claims import FAILS, HOLDS, UNDECIDABLE, Claim, Region, Verdict, claims_of
from ackclock.reproduce.measures import exact
from ackclock.reproduce.paper import Paper, paper_names
from ackclock.reproduce.readings import (
    CHOSEN,
    ContradictionError,
    Reading,
    combinations,
    singles,
)
from ackclock.reproduce.support import DEPENDS, FITTED, NEVER, ONE, ROBUST, support, tree_lines

OPEN = Region(0.0, 1.0, False, "")


def choice(name: str, *others: str, fits: dict[str, tuple[str, ...]] | None = None) -> Choice:
    """A choice whose answers are a letter each, the first one chosen."""
    answers = [
        Answer(other, f"{name} is {other}", (Change((f"{name}={other}",)),), fits=(fits or {}).get(other, ()))
        for other in others
    ]
    return Choice(name, f"What is {name}?", "", "", Answer("", "as it is"), tuple(answers))


def verdict(text: str) -> Verdict:
    claim = Claim("c", "", "", "", 1, None, OPEN, {}, "", {})
    return Verdict(claim, text, "", "", (), exact(1.0))


COLOUR, SIZE, SHAPE = choice("colour", "red", "blue"), choice("size", "big"), choice("shape", "round")
CHOICES = (COLOUR, SIZE, SHAPE)


def test_combinations_are_all_different_and_fill_the_space() -> None:
    found = list(combinations(CHOICES, seed=1))
    names = {reading.name for reading in found}
    # Three colours, two sizes, two shapes, without the chosen reading and the four that change one answer.
    assert len(found) == len(names) == 3 * 2 * 2 - 1 - 4
    assert all(len(reading.instead) > 1 for reading in found)
    assert [each.name for each in found] == [each.name for each in combinations(CHOICES, seed=1)]


def test_few_combinations_hold_every_answer_about_as_often() -> None:
    many = [choice(f"c{index}", "x", "y", "z") for index in range(12)]
    first = [reading for reading, _ in zip(combinations(many, seed=3), range(40), strict=False)]
    for each in many:
        counts = Counter(reading.answer(each).id for reading in first)
        assert set(counts) == {"", "x", "y", "z"} and max(counts.values()) <= 20
    # Any two differ in many answers, which chance alone would not give.
    apart = [
        sum(one.answer(each).id != other.answer(each).id for each in many)
        for index, one in enumerate(first)
        for other in first[:index]
    ]
    assert min(apart) >= 6


def test_two_answers_that_set_the_same_key_contradict_each_other(tiny_paper: Path) -> None:
    grid = Paper.load(str(tiny_paper)).grids[0]
    one = Answer("one", "", (Change(("queue.limit=1",)),))
    other = Answer("other", "", (Change(("queue.limit=2",)),))
    whole = Answer("whole", "", (Change(("queue={kind='red'}",)),))
    apart = Answer("apart", "", (Change(("queue.limits=2",)),))
    for second in (other, whole):
        with pytest.raises(ContradictionError, match=r"one and .* both set queue"):
            Reading(((COLOUR, one), (SIZE, second))).sets_of(grid, {"cc": "aimd", "flows": 1})
    sets = Reading(((COLOUR, one), (SIZE, apart))).sets_of(grid, {"cc": "aimd", "flows": 1})
    assert sets == ["queue.limit=1", "queue.limits=2"]


def test_an_answer_alone_may_run_more_than_combinations_do(tiny_paper: Path) -> None:
    grid = Paper.load(str(tiny_paper)).grids[0]
    wide = Answer("wide", "", at={"main": {}}, together={"main": {"flows": 1}})
    narrow = Answer("narrow", "", at={"main": {"flows": 2}}, together={"main": {"flows": 1}})
    elsewhere = Answer("elsewhere", "", at={"other": {}}, together={"other": {}})
    assert CHOSEN.cells(grid) == Reading(((COLOUR, wide),)).cells(grid) == [{}]
    assert Reading(((COLOUR, narrow),)).cells(grid) == [{"flows": 2}]
    assert Reading(((COLOUR, wide), (SIZE, narrow))).cells(grid) == [{"flows": 1}]
    assert Reading(((COLOUR, elsewhere),)).cells(grid) == []


# --- What a verdict hangs on ---


def judged(rule: dict[str, str]) -> list[tuple[Reading, Verdict]]:
    """All readings of the three choices; `rule` says what an answer leads to, holding being the default."""
    readings = [CHOSEN, *singles(CHOICES), *combinations(CHOICES, seed=1)]
    return [
        (reading, verdict(next((rule[a.id] for _, a in reading.instead if a.id in rule), HOLDS)))
        for reading in readings
    ]


def test_a_claim_that_holds_under_all_readings_is_robust() -> None:
    found = support(judged({}), CHOICES)
    assert (found.status, found.tried, found.text) == (ROBUST, 12, "robust 12/12")
    assert found.tree is None and not found.alone


def test_a_claim_that_holds_under_none_never_does() -> None:
    rows = [(reading, verdict(FAILS)) for reading, _ in judged({})]
    assert support(rows, CHOICES).text == "never 0/12"
    rows[3] = (rows[3][0], verdict(UNDECIDABLE))
    assert (support(rows, CHOICES).status, support(rows, CHOICES).text) == (NEVER, "never 0/12?")


def test_a_tree_finds_the_choice_that_decides() -> None:
    found = support(judged({"blue": FAILS}), CHOICES)
    assert (found.status, found.text) == (DEPENDS, "depends 8/12")
    assert [(answer, verdict) for answer, verdict, _ in found.alone] == [("blue", FAILS)]
    assert found.tree is not None
    assert tree_lines(found.tree) == [
        "colour = colour is blue: does not hold in all 4",
        "otherwise: holds in all 8",
    ]


def test_a_tree_finds_two_choices_that_decide_together() -> None:
    rows = [
        (reading, verdict(FAILS if {"red", "big"} <= {a.id for _, a in reading.instead} else HOLDS))
        for reading, _ in judged({})
    ]
    found = support(rows, CHOICES)
    assert found.tree is not None and not found.alone
    assert "does not hold in all 2" in "\n".join(tree_lines(found.tree))


def test_what_no_choice_explains_has_no_tree() -> None:
    rows = judged({})
    rows[-1] = (rows[-1][0], verdict(UNDECIDABLE))
    found = support(rows, CHOICES)
    assert (found.status, found.tree) == (DEPENDS, None)


def test_what_was_fitted_to_a_claim_is_no_support_for_it() -> None:
    fitted = choice("colour", "red", fits={"red": ("c",)})
    red = Reading(((fitted, fitted.others[0]),))
    both = [(CHOSEN, verdict(FAILS)), (red, verdict(HOLDS))]
    found = support(both, [fitted])
    assert (found.status, dict(found.counts)) == (NEVER, {FAILS: 1, FITTED: 1})
    assert found.text == "by a fit 0/1"
    assert support([(CHOSEN, verdict(HOLDS)), (red, verdict(HOLDS))], [fitted]).text == "robust 1/1"
    # That it fails in spite of the fit says something.
    assert support([(CHOSEN, verdict(HOLDS)), (red, verdict(FAILS))], [fitted]).status == DEPENDS


def test_what_needs_no_run_has_no_readings() -> None:
    assert support([(CHOSEN, verdict(HOLDS))], CHOICES, is_exact=True).text == "robust, no run"
    assert support([(CHOSEN, verdict(FAILS))], CHOICES, is_exact=True).text == "never, no run"


def test_one_reading_says_so() -> None:
    assert support([(CHOSEN, verdict(HOLDS))], CHOICES).text == ONE


# --- Running ---

MORE = """\
[[choices]]
id = "buffer"
question = "Buffer"
source = "Section 1: “a small buffer”"
answer = "that of the scenario"
origin = "derived"
chosen = "before"
why = "It is printed."

[[choices.alternatives]]
id = "tiny"
title = "less than a packet"
set = ["topology.queue.limit=100 B"]

[[choices.alternatives]]
id = "five"
title = "five packets"
set = ["topology.queue.limit=5 packets"]

[[choices]]
id = "queue"
question = "Queue"
answer = "that of the scenario"
why = "It is printed."

[[choices.alternatives]]
id = "eight"
title = "eight packets, drop-tail"
set = ["topology.queue={kind=\\"drop-tail\\", limit=\\"8 packets\\"}"]

[[choices]]
id = "loss"
question = "Loss"
answer = "undelivered"
why = "As printed."

[[choices.alternatives]]
id = "delivery"
title = "delivered"
metrics = { undelivered_percent = "delivery_percent" }

"""


@pytest.fixture
def open_paper(tiny_paper: Path) -> Path:
    """A paper with more choices, some of which contradict each other."""
    path = tiny_paper / "paper.toml"
    text = path.read_text().replace('[[tables]]\nid = "table-1"', f'{MORE}[[tables]]\nid = "table-1"', 1)
    path.write_text(text)
    return tiny_paper


def test_readings_are_run_within_the_budget(open_paper: Path, tmp_path: Path) -> None:
    answer = cli(
        "reproduce", open_paper, "--quick", "--interpretations", "9", "--out", tmp_path / "o", "--json"
    )
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert len(document["interpretations"]) == 8
    # The choices stand in the order of the paper; what contradicts itself is named and takes no place.
    names = [each["name"] for each in document["interpretations"]]
    assert names[:4] == ["delayed", "five", "eight", "delivery"]
    assert all("+" in name for name in names[4:])
    skipped = {each["name"]: each["reason"] for each in document["skipped"]}
    assert "carries nothing" in skipped["tiny"]
    assert all("tiny" in name or {"five", "eight"} <= set(name.split(" + ")) for name in skipped)
    for each in document["claims"]:
        assert each["interpretations"]["tried"] == 9 and each["interpretations"]["status"] in (
            ROBUST,
            DEPENDS,
            NEVER,
        )
    assert "robust" in document["summary"]


def test_another_metric_is_another_reading(open_paper: Path, tmp_path: Path) -> None:
    made = reproduce(str(open_paper), out=tmp_path / "o", claims=["no-loss"])
    (delivery,) = (found for reading, found in made.interpretations if reading.name == "delivery")
    assert made.verdicts[0].measured is not None and made.verdicts[0].measured < 50
    assert delivery["no-loss"].measured == pytest.approx(100, abs=50)
    assert delivery["no-loss"].measured != made.verdicts[0].measured


def test_two_grids_may_share_runs_of_which_one_wants_samples(tiny_paper: Path) -> None:
    path = tiny_paper / "paper.toml"
    again = path.read_text().split("[[grids]]")[1].split("[[choices]]")[0]
    other = again.replace('"main"', '"other"').replace('samples = "all"', 'samples = "none"')
    path.write_text(path.read_text().replace("[[grids]]", f"[[grids]]{other}[[grids]]", 1))
    path.write_text(path.read_text().replace('id = "figure-1"', 'id = "figure-1"\ngrid = "main"'))
    made = reproduce(str(tiny_paper), quick=True)
    assert len(made.verdicts) == 4 and made.figures[0].panels


def test_some_claims_run_only_what_they_need(open_paper: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = cli("reproduce", open_paper, "--quick", "--claim", "efficiency-1", "--out", out, "--json")
    document = json.loads(answer.stdout)
    assert [each["id"] for each in document["claims"]] == ["efficiency-1"]
    assert document["tables"] == document["figures"] == []
    whole = cli("reproduce", open_paper, "--quick", "--out", tmp_path / "whole", "--json")
    (same,) = (each for each in json.loads(whole.stdout)["claims"] if each["id"] == "efficiency-1")
    assert same == document["claims"][0]
    wrong = cli("reproduce", open_paper, "--claim", "eficiency-1", "--out", out)
    assert wrong.code == 2 and "did you mean 'efficiency-1'?" in wrong.stderr


def test_skipped_readings_are_named_on_the_terminal_and_the_page(open_paper: Path, tmp_path: Path) -> None:
    answer = cli("reproduce", open_paper, "--quick", "--interpretations", "6", "--out", tmp_path / "out")
    assert answer.code == 0, answer.stderr
    assert "skipped interpretations" in answer.stdout and re.search(r"^tiny ", answer.stdout, re.MULTILINE)
    assert max(map(len, answer.stdout.splitlines()[:-1])) <= 80
    page = (tmp_path / "out" / "report.html").read_text()
    for text in (
        "Interpretations skipped",
        "carries nothing",
        "Choices that decide it",
        "Section 1: “a small buffer”",
    ):
        assert text in page
    assert "derived, chosen before results" in page


def test_a_paper_with_one_reading_says_so(tiny_paper: Path, tmp_path: Path) -> None:
    path = tiny_paper / "paper.toml"
    path.write_text(re.sub(r"(?m)^alternatives = .*\n", "", path.read_text()))
    answer = cli(
        "reproduce", tiny_paper, "--interpretations", "50", "--replicates", "2", "--out", tmp_path / "out"
    )
    assert answer.code == 0, answer.stderr
    assert "one interpretation" in answer.stdout
    assert answer.stdout.splitlines()[-1].startswith("One interpretation. Of 4 ")
    assert "under one interpretation of the paper" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('origin = "derived"', 'origin = "guessed"', "origin: is 'guessed', but must be one of derived"),
        ('origin = "derived"', 'origin = "fitted"', "fits: is required with the origin"),
        ('origin = "derived"', 'origin = "fitted"\nfits = ["los-*"]', "no claim is called 'los-*'"),
        ('id = "buffer"', 'id = "queue"', "choices: there are two called 'queue'"),
        ('id = "five"', 'id = "tiny"', "alternatives: there are two called 'tiny'"),
        ('"delivery_percent" }', '"delivry_percent" }', "did you mean 'delivery_percent'?"),
        ("{ undelivered_percent =", "{ undelivered =", "did you mean 'undelivered_percent'?"),
        (
            'set = ["topology.queue.limit=5 packets"]',
            'changes = [{ grids = ["mane"], set = ["seed=2"] }]',
            "no grid that is run is called 'mane'; did you mean 'main'?",
        ),
    ],
)
def test_mistakes_in_choices_are_named(open_paper: Path, old: str, new: str, message: str) -> None:
    path = open_paper / "paper.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    answer = cli("reproduce", open_paper, "--quick", cwd=open_paper)
    assert answer.code == 2 and answer.stderr.startswith(f"error: {path}: ") and message in answer.stderr


@pytest.mark.parametrize("name", paper_names())
def test_choices_of_papers_say_where_they_come_from(name: str) -> None:
    paper = Paper.load(name)
    claims = [claim.id for claim in claims_of(paper)]
    for each in paper.choices:
        assert each.id != each.question and each.source, each.question
        for answer in each.answers:
            assert answer.origin and answer.chosen, (each.id, answer.id)
            assert not answer.fits or any(map(answer.is_fitted_to, claims))
