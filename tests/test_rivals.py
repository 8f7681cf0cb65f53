"""Rivals: who they are, whether a candidate is better than they are, and whether it starves them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import TINY, cli

from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.ranking import BEST, Entry, Objective, Ranking, Scored
from ackclock.evaluation.rivals import (
    MAYBE,
    NO,
    STARVED,
    YES,
    Beside,
    Competitor,
    rest_of,
    rivals,
    sentences,
    starves,
)
from ackclock.evaluation.score import Result, Scoreboard
from ackclock.evaluation.suite import Environment, Neighbours, Suite, Watch
from ackclock.statistics.estimates import Estimate, estimate

CORE = Suite.load("core")
CUBIC, BBR3 = Candidate("cubic"), Candidate("bbr3")


def share(mean: float, half_width: float = 0.0) -> Estimate:
    return Estimate(mean, mean - half_width, mean + half_width, 10)


def beside(rival: Candidate, title: str, value: Estimate, of_rival: int = 2, flows: int = 4) -> Beside:
    environment = Environment(title, title, "?", Path("none.toml"), (), True, None)
    return Beside(environment, Neighbours(rival, of_rival, flows), (value,))


def test_core_has_flows_of_what_runs_today_in_shallow_and_deep_buffers() -> None:
    met: dict[str, list[str]] = {}
    for environment in CORE.environments:
        if (neighbours := environment.neighbours(CORE.test_groups)) is not None:
            assert (neighbours.of_rival, neighbours.flows) == (2, 4)
            met.setdefault(neighbours.rival.label, []).append(environment.id)
    assert met == {
        "aimd": ["with-standard", "ecn-with-standard"],
        "cubic": ["with-cubic-shallow", "with-cubic-deep", "fq-codel"],
        "bbr3": ["with-bbr3-shallow", "with-bbr3-deep"],
    }
    assert met.keys() <= set(CORE.panel)


def test_core_is_of_the_transport_that_runs_today() -> None:
    for environment in CORE.environments:
        flows = json.loads(environment.base.resolved_json)["flows"]
        assert {flow["profile"] for flow in flows} == {"linux"}, environment.id


def test_a_flow_under_test_is_no_rival(tmp_path: Path) -> None:
    """Nor is a group beside a third one, whose share nobody knows."""
    path = tmp_path / "x.toml"
    other = '\n[[flows]]\nname = "{}"\ncount = 3\ncc = "cubic"\n'
    path.write_text(TINY + other.format("late"))
    watch = Watch("share", "late", "x", "reach-one")
    environment = Environment("x", "x", "?", path, (), True, watch)
    assert environment.neighbours(["test", "late"]) is None
    found = environment.neighbours(["test"], ["flows.late.cc=bbr3"])
    assert found is not None
    assert (found.rival.label, found.of_rival, found.flows) == ("bbr3", 3, 5)
    path.write_text(TINY + other.format("late") + other.format("third"))
    assert Environment("x", "x", "?", path, (), True, watch).neighbours(["test"]) is None


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (share(0.1, 0.09), YES),
        (share(0.1, 0.11), MAYBE),
        (share(0.3, 0.11), MAYBE),
        (share(0.3, 0.09), NO),
        (Estimate(0.19, None, None, 1), YES),
        (Estimate(0.2, None, None, 1), NO),
    ],
)
def test_starving_is_a_matter_of_the_whole_interval(value: Estimate, answer: str) -> None:
    assert STARVED == 0.2
    assert starves(value) == answer


def test_the_rest_gets_what_is_left() -> None:
    """Of four flows two have a fifth each: the other two have 1.8 each, nine times as much."""
    left = rest_of(share(0.2, 0.1), Neighbours(CUBIC, 2, 4))
    assert (left.mean, left.low, left.high) == pytest.approx((1.8, 1.7, 1.9))
    # One of five has 3: each of the four others has half of a fair share.
    assert rest_of(Estimate(3.0, None, None, 1), Neighbours(CUBIC, 1, 5)).mean == pytest.approx(0.5)


def entry(candidate: Candidate, values: list[float], standing: str = "panel") -> Entry:
    return Entry(0, candidate, standing, None, len(values), Scored(tuple(values), estimate(values), {}))


def ranking(ours: list[float], **panel: list[float]) -> Ranking:
    others = tuple(entry(Candidate(name), values) for name, values in panel.items())
    best = entry(Candidate("aimd"), ours, BEST)
    return Ranking(OBJECTIVE, (best,), others, (), 0.05, None, "")


OBJECTIVE = Objective("shares", "mean regret %", 3, {})
RESULT = Result(Environment("x", "x", "?", Path("none.toml"), (), True, None), (), ((),))
BOARD = Scoreboard(Suite("hand", 1, "", 3, ("test",), ("aimd",), ()), 1, (Candidate("aimd"),), 0, (RESULT,))


def test_scores_are_compared_replicate_by_replicate() -> None:
    """Replicates differ by more than the algorithms do; the paired differences are 4, 4, 5 and -4, -4, -5."""
    found = rivals(BOARD, ranking([5, 50, 500], cubic=[1, 46, 495], bbr3=[9, 54, 505], mimd=[4, 51, 500]))
    assert [(rival.candidate.label, rival.judgement) for rival in found] == [
        ("cubic", "worse"),
        ("bbr3", "better"),
        ("mimd", ""),
    ]
    assert found[0].difference is not None and found[0].difference.mean == pytest.approx(13 / 3)
    said = sentences(found, OBJECTIVE)
    assert said == [
        "By score (mean regret %, differences of 0.2 or more), it is better than bbr3, worse than cubic "
        "and not significantly different from mimd."
    ]


def test_an_algorithm_is_no_rival_of_itself_and_one_replicate_tells_nothing() -> None:
    assert rivals(BOARD, ranking([5, 6], aimd=[5, 6])) == ()
    (alone,) = rivals(BOARD, ranking([5], cubic=[4]))
    assert alone.difference is None and alone.judgement == ""
    assert sentences([alone], OBJECTIVE) == []


def test_the_answer_in_words() -> None:
    found = [
        Competitor(
            CUBIC, None, None, (beside(CUBIC, "deep", share(0.05, 0.02)), beside(CUBIC, "flat", share(0.9)))
        ),
        Competitor(
            BBR3, None, None, (beside(BBR3, "flat", share(0.8, 0.1)), beside(BBR3, "deep", share(1.95, 0.01)))
        ),
        Competitor(Candidate("aimd"), None, None, (beside(CUBIC, "plain", share(0.25, 0.1)),)),
    ]
    assert [(rival.starved, rival.starves_us) for rival in found] == [(YES, NO), (NO, YES), (MAYBE, NO)]
    assert sentences(found, OBJECTIVE) == [
        "It starves cubic (fair-share ratio 0.05 [0.03, 0.07], harm 0.97, in “deep”).",
        "It may starve aimd (fair-share ratio 0.25 [0.15, 0.35], harm 0.88, in “plain”).",
        "It is fair to bbr3, which keeps at least 0.80 [0.70, 0.90] of a fair share.",
        "It is starved by bbr3 (fair-share ratio 0.05 [0.04, 0.06], in “deep”).",
    ]


def test_who_is_starved_is_told(tiny_suite: Path, tmp_path: Path) -> None:
    """BBRv1 pays no attention to losses: in a queue of eight packets it leaves next to nothing to AIMD."""
    out = tmp_path / "out"
    command: list[str | Path] = [
        "evaluate",
        "bbr1",
        "--suite",
        tiny_suite,
        "--against",
        "aimd,cubic",
        "--set",
        "topology.queue.limit=8 packets",
    ]
    answer = cli(*command, "--json", "--out", out)
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    standard, cubic = document["competitors"]
    assert (standard["competitor"], cubic["competitor"]) == ("aimd", "cubic")
    assert cubic["beside"] == [] and cubic["starved"] is None and cubic["difference"] is not None
    (company,) = standard["beside"]
    assert company["environment"] == "company"
    assert company["share"]["mean"] < STARVED < company["share"]["high"]
    assert company["band"] == "maybe-starved" and company["harm"] == pytest.approx(
        1 - company["share"]["mean"] / 3
    )
    assert standard["starved"] == "maybe" and standard["starves_candidate"] == "no"
    # One flow of three: what it does not get the two others have.
    assert company["candidate_share"]["mean"] == pytest.approx((3 - company["share"]["mean"]) / 2)
    assert "It may starve aimd" in document["verdict"] and "“In company”" in document["verdict"]
    page = (out / "report.html").read_text()
    assert "It may starve aimd" in page and 'id="competitors"' in page
    shown = cli(*command, "--out", out, "--full")
    assert "fair-share ratio" in shown.stdout and "possibly starved" in shown.stdout


def test_a_share_of_a_quarter_is_harm_and_not_fairness() -> None:
    """`cut = 0.95 * w` leaves standard TCP 0.27 of a fair share."""
    found = [
        Competitor(Candidate("aimd"), None, None, (beside(CUBIC, "plain", share(0.27, 0.02)),)),
        Competitor(CUBIC, None, None, (beside(CUBIC, "flat", share(0.66, 0.05)),)),
    ]
    assert [rival.worst.band for rival in found if rival.worst] == ["harmed", "maybe-harmed"]
    assert sentences(found, OBJECTIVE) == [
        "It harms aimd (fair-share ratio 0.27 [0.25, 0.29], harm 0.86, in “plain”).",
        "It may harm cubic (fair-share ratio 0.66 [0.61, 0.71], harm 0.67, in “flat”).",
    ]


def test_small_and_chance_differences_of_scores_are_no_verdict() -> None:
    """A difference of 0.1 is significant and too small; of four comparisons one at 1.3 % is chance."""
    small = rivals(BOARD, ranking([5.0, 50.0, 500.0], cubic=[5.1, 50.1, 500.1]))
    assert small[0].judgement == "better"
    assert sentences(small, OBJECTIVE)[0].endswith("it is not significantly different from cubic.")
    chance: dict[str, list[float]] = {
        "cubic": [3, 47.5, 497],
        "bbr3": [6, 49, 501],
        "mimd": [4, 52, 499],
        "aiad": [7, 48, 500],
    }
    found = rivals(BOARD, ranking([5, 50, 500], **chance))
    assert found[0].difference is not None and found[0].judgement == "worse"
    assert 0.05 / 4 < found[0].difference.p_value < 0.05
    assert "better" not in sentences(found, OBJECTIVE)[0] and "worse" not in sentences(found, OBJECTIVE)[0]
