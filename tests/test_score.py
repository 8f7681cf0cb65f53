"""Scores, judgements and the verdict from numbers made by hand."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ackclock._core import UnderTest
from ackclock.errors import InputError
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.regret import RegretBaseline, regrets
from ackclock.evaluation.score import COMMON, Metric, Result, Score, Scoreboard, scales_of, score
from ackclock.evaluation.scoreboard import (
    estimate_text,
    interval_text,
    regrets_table,
    scoreboard_table,
)
from ackclock.evaluation.subject import Algorithms
from ackclock.evaluation.suite import Environment, Suite, Watch
from ackclock.evaluation.verdict import verdict, worst_result
from ackclock.statistics.estimates import Estimate, estimate, paired_difference

SHARE = Watch(metric="share", group="late", label="late share", better="near-one")


def environment(name: str = "one", watch: Watch | None = None, fairness: bool = True) -> Environment:
    return Environment(name, f"Title {name}", "Why?", Path("none.toml"), (), fairness, watch)


def document(goodputs: dict[str, list[float]], **changes: float) -> dict[str, Any]:
    """Return a run in which the flows of each group got these goodputs, bits per second."""
    total = sum(sum(values) for values in goodputs.values())
    summary = {
        "capacity_bps": 1e7,
        "goodput_bps": total,
        "efficiency": total / 1e7,
        "loss_rate": 0.01,
        "queue_delay_mean_s": 0.02,
        "jain_index": 0.9,
    }
    flows = [
        {"group": group, "goodput_bps": value, "delivered_bps": value, "completion_time_s": None}
        for group, values in goodputs.items()
        for value in values
    ]
    return {"scenario": "hand", "duration_s": 100.0, "summary": {**summary, **changes}, "flows": flows}


def scored(
    environment: Environment, runs: Sequence[Sequence[dict[str, Any]]], reference: int, *, exact: bool = False
) -> Result:
    texts = [list(map(json.dumps, replicates)) for replicates in runs]
    return score(environment, texts, reference, exact=exact)


def watched(watch: Watch, *runs: dict[str, Any]) -> tuple[float, ...]:
    result = scored(environment(watch=watch), [runs], 0)
    return result.scores[0][-1].values


def test_the_share_is_in_units_of_a_fair_share() -> None:
    # 8 Mbit/s among four: fair is 2; the late flow has 1.
    assert watched(SHARE, document({"test": [3e6, 3e6, 1e6], "late": [1e6]})) == (0.5,)
    # Two flows of a group count by their mean.
    assert watched(SHARE, document({"test": [4e6], "late": [1e6, 4e6]})) == pytest.approx((2.5 / 3,))


def test_other_watches_by_hand() -> None:
    run = document({"test": [6e6], "late": [2e6, 1e6]})
    # The document's efficiency is that of 10 Mbit/s.
    assert watched(Watch("group-efficiency", "late", "x", "higher"), run) == pytest.approx((0.3,))
    assert watched(Watch("group-goodput", "late", "x", "higher", "Mbit/s", 1e-6), run) == pytest.approx(
        (3.0,)
    )
    run["flows"][1]["completion_time_s"] = 4.0
    # The other transfer did not end within 100 s.
    assert watched(Watch("completion-time", "late", "x", "lower", "s"), run) == (52.0,)


@pytest.mark.parametrize("metric", ["share", "group-efficiency", "group-goodput"])
def test_where_nothing_arrives_nobody_has_anything(metric: str) -> None:
    assert watched(Watch(metric, "late", "x", "higher"), document({"test": [0.0], "late": [0.0]})) == (0.0,)


def test_jain_counts_where_fairness_is_meant() -> None:
    names = {
        fairness: scored(environment(fairness=fairness), [[document({"test": [1e6]})]], 0).metrics
        for fairness in (True, False)
    }
    common = ["efficiency", "loss_rate", "queue_delay"]
    assert [metric.name for metric in names[True]] == [*common, "jain_index", "goodput", "delay_score"]
    assert [metric.name for metric in names[False]] == [*common, "goodput", "delay_score"]


def judged(better: str, ours: list[float], theirs: list[float]) -> str:
    metric = Metric("m", "m", "", better, 2)
    cost = paired_difference([metric.cost(x) for x in ours], [metric.cost(x) for x in theirs])
    return Score(metric, tuple(ours), estimate(ours), cost).judgement


@pytest.mark.parametrize(
    ("better", "ours", "theirs", "expected"),
    [
        ("higher", [96.0, 97.1, 98.0], [95.0, 96.0, 97.0], "better"),
        ("higher", [95.0, 96.0, 97.0], [96.0, 97.1, 98.0], "worse"),
        ("lower", [95.0, 96.0, 97.0], [96.0, 97.1, 98.0], "better"),
        ("lower", [96.0, 97.1, 98.0], [95.0, 96.0, 97.0], "worse"),
        # Below and above one are equally bad: .5 and 1.5 are, 1.3 is better than either.
        ("near-one", [0.5, 0.51, 0.5], [0.9, 0.9, 0.91], "worse"),
        ("near-one", [1.3, 1.31, 1.3], [1.5, 1.5, 1.49], "better"),
        ("near-one", [1.3, 1.31, 1.3], [0.5, 0.5, 0.51], "better"),
        ("near-one", [1.5, 1.5, 1.5], [0.5, 0.5, 0.5], ""),
        ("reach-one", [0.5, 0.51, 0.5], [0.9, 0.9, 0.91], "worse"),
        ("reach-one", [1.3, 1.31, 1.3], [1.5, 1.5, 1.49], ""),
        ("reach-one", [1.3, 1.31, 1.3], [0.5, 0.5, 0.51], "better"),
        # The mean is higher, but the interval of the difference holds zero.
        ("higher", [1.0, 5.0, 3.0], [2.0, 1.0, 5.0], ""),
        ("higher", [3.0, 3.0], [3.0, 3.0], ""),
    ],
)
def test_judgements(better: str, ours: list[float], theirs: list[float], expected: str) -> None:
    assert judged(better, ours, theirs) == expected


def test_the_reference_is_not_judged() -> None:
    runs = [[document({"test": [value]})] * 2 for value in (5e6, 6e6)]
    result = scored(environment(), runs, 1)
    assert [row[0].judgement for row in result.scores] == ["worse", ""]
    assert result.scores[1][0].cost_difference is None


def test_a_single_replicate_is_judged_where_nothing_is_random() -> None:
    runs = [[document({"test": [value]})] for value in (5e6, 6e6)]
    assert scored(environment(), runs, 1).scores[0][0].judgement == ""
    assert scored(environment(), runs, 1, exact=True).scores[0][0].judgement == "worse"
    assert "One replicate" in verdict(board(scored(environment(), runs, 1)))
    assert "and worse in 1" in verdict(board(scored(environment(), runs, 1, exact=True)))


def board(*results: Result, reference: int = 1) -> Scoreboard:
    suite = Suite(
        "made",
        1,
        "Made by hand",
        3,
        Algorithms(("test",)),
        ("aimd",),
        tuple(result.environment for result in results),
    )
    return Scoreboard(suite, 1, (Candidate("new-aimd"), Candidate("aimd")), reference, results)


def result(name: str, ours: dict[str, float], theirs: dict[str, float], late: tuple[float, float]) -> Result:
    """Return an environment with three replicates that differ a little."""
    runs = [
        [document({"test": [4e6], "late": [share * 1e6 * noise]}, **changes) for noise in (0.99, 1.0, 1.01)]
        for changes, share in ((ours, late[0]), (theirs, late[1]))
    ]
    return scored(environment(name, SHARE), runs, 1)


def test_the_verdict_counts_and_names_the_worst() -> None:
    good = result(
        "good", {"efficiency": 0.97, "loss_rate": 0.02}, {"efficiency": 0.96, "loss_rate": 0.01}, (4, 4)
    )
    bad = result(
        "bad", {"efficiency": 0.90, "loss_rate": 0.08}, {"efficiency": 0.96, "loss_rate": 0.01}, (1, 4)
    )
    text = verdict(board(good, bad))
    assert text.startswith(
        "By efficiency, new-aimd is better than aimd in 1 of 2 environments and worse in 1."
    )
    # sqrt(2 x 8) = 4.
    assert "Its loss rate is 4 times as large (geometric mean)." in text
    assert "Jain" not in text.partition("Only differences")[0]
    # 1 of (4 + 1) / 2: a share of .4, which weighs more than 6 % of the capacity.
    assert "Its worst environment is “Title bad”: late share 0.400 instead of 1.000." in text


def test_the_verdict_changes_with_the_data() -> None:
    worse = result("one", {"efficiency": 0.5}, {"efficiency": 0.9}, (4, 4))
    better = result("one", {"efficiency": 0.9}, {"efficiency": 0.5}, (4, 4))
    assert "is better than aimd in 0 of 1 environments and worse in 1" in verdict(board(worse))
    assert "Its worst environment is “Title one”: efficiency 50.00 % instead of 90.00 %." in verdict(
        board(worse)
    )
    assert "is better than aimd in 1 of 1 environments and worse in 0" in verdict(board(better))
    assert "Its worst" not in verdict(board(better))
    assert worst_result(board(better)) is None


def test_the_reference_has_no_verdict_on_itself() -> None:
    assert "aimd is the reference itself" in verdict(board(result("one", {}, {}, (4, 4)), reference=0))


def test_figures_have_the_digits_of_their_metric() -> None:
    assert estimate_text(Estimate(97.3256, 97.2256, 97.4256, 5), 2) == "97.33 ±0.10"
    assert estimate_text(Estimate(0.5, None, None, 1), 3) == "0.500"


def costs_of(results: Sequence[Result], name: str) -> dict[str, list[tuple[float, ...]]]:
    """Return the costs per replicate of a metric, by environment and candidate."""
    return {
        result.environment.id: [scores[at].costs for scores in result.scores]
        for result in results
        for at, metric in enumerate(result.metrics)
        if metric.name == name
    }


def test_c_and_d_fit_80_columns() -> None:
    rows = [
        result(
            f"environment-with-a-long-name-{index}", {"queue_delay_mean_s": 0.26}, {"efficiency": 0.2}, (1, 4)
        )
        for index in range(2)
    ]
    regret_baseline = RegretBaseline("the best within this table", False, ("new-aimd", "aimd"))
    by_metric = [
        regrets(costs, scale, regret_baseline, 1)
        for scale in scales_of([row.environment for row in rows])
        if (costs := costs_of(rows, scale.name))
    ]
    made = replace(board(*rows), regret_baseline=regret_baseline, regrets=tuple(zip(*by_metric, strict=True)))
    cc = Candidate('{ kind = "linear", increase_add = 0.25, decrease_mul = 0.875 }')
    shown = io.StringIO()
    Console(file=shown, width=80).print(regrets_table(replace(made, candidates=(cc, made.candidates[1]))))
    assert max(map(len, shown.getvalue().splitlines())) <= 80
    for regret in (regret for row in made.regrets for regret in row):
        for figure in (regret.worst_case, regret.total):
            assert interval_text(figure, regret.scale.digits) in shown.getvalue()
    # The best has 0.5, 4 + 1 of 10 Mbit/s. 0.2 is 30 points below, in two environments.
    # Its replicates differ by 0.1 points: 6.20535 x 0.1 / sqrt(3) below, and 4.30265 x 0.1 / sqrt(3) above.
    assert "30.00 [29.64, 30.25]" in shown.getvalue()
    assert "60.00 [59.80, 60.20]" in shown.getvalue()


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("aimd", "aimd"),
        ('{ kind = "aimd" }', "aimd"),
        ('{ kind = "aimd", increase = 1, remaining = 0.5 }', "aimd"),
        ('{ kind = "aimd", increase = 2 }', "aimd(increase=2)"),
        ('{ kind = "aimd", remaining = 0.875, increase = 0.2 }', "aimd(increase=0.2, remaining=0.875)"),
        ("aimd-fc+", "aimd-fc+"),
        ("aimd(increase=2)", "aimd(increase=2)"),
        (" aimd( remaining=0.875, increase = 0.2 )", "aimd(increase=0.2, remaining=0.875)"),
        ("aimd-fc+()", "aimd-fc+"),
        ("cubic(fast_convergence=false, c=4)", "cubic(c=4, fast_convergence=false)"),
    ],
)
def test_labels_name_what_is_not_the_default(text: str, label: str) -> None:
    assert Candidate.parse(text).label == label


def test_metrics_have_names_of_their_own() -> None:
    assert (
        len({metric.name for metric in COMMON}) == len({metric.heading for metric in COMMON}) == len(COMMON)
    )


def test_in_company_only_the_flows_under_test_are_scored() -> None:
    """10 Mbit/s, of which a CBR source takes 4 and web traffic 2: 3 of 4 Mbit/s are 75 %.

    A flow under test that a client reads also has a row of transfers, which takes nothing from it.
    """
    run = document({"test": [2e6, 1e6], "others": [5e6]})
    run["datagrams"] = [{"offered_bps": 4e6, "delivered_bps": 3e6}]
    run["transfers"] = [{"throughput_bps": 2e6}, {"group": "test", "traffic": "web", "throughput_bps": 3e6}]
    by_hand = ((100, 10, 90, 0.1), (300, 6, 270, 0.02), (9, 9, 0, None))
    for flow, (sent, lost, arrived, queue_delay_mean_s) in zip(run["flows"], by_hand, strict=True):
        flow.update(sent=sent, lost=lost, arrived=arrived, queue_delay_mean_s=queue_delay_mean_s)
    result = scored(replace(environment(), scored=("test",)), [[run]], 0)
    found = {
        metric.name: each.value.mean for metric, each in zip(result.metrics, result.scores[0], strict=True)
    }
    assert found["efficiency"] == pytest.approx(75)
    assert found["loss_rate"] == pytest.approx(100 * 16 / 400)
    assert found["queue_delay"] == pytest.approx(1e3 * (9 + 5.4) / 360)
    assert found["jain_index"] == pytest.approx(9 / (2 * 5))
    assert found["goodput"] == pytest.approx(3)
    # The table has all of these, too.
    shown = io.StringIO()
    Console(file=shown, width=80).print(
        scoreboard_table(replace(board(result, reference=0), candidates=(Candidate("aimd"),)))
    )
    assert all(text in shown.getvalue() for text in ("75.00", "4.00", "40.0", "0.900"))
    flows = UnderTest(json.dumps(run), ["test"])
    assert flows.goodput_fraction("delivered_bps") == pytest.approx(3 / 5)
    assert flows.spread == pytest.approx(1 / 1.5)
    run["summary"]["capacity_bps"] = None
    with pytest.raises(InputError, match="hand: efficiency does not apply: the bottleneck has no rate"):
        scored(replace(environment(), scored=("test",)), [[run]], 0)


def test_what_does_not_apply_is_no_score() -> None:
    idle = document({"test": [0.0]})
    idle["summary"] |= {"loss_rate": None, "queue_delay_mean_s": None}
    found = {each.metric.name: each.value.mean for each in scored(environment(), [[idle]], 0).scores[0]}
    assert (found["loss_rate"], found["queue_delay"]) == (0, 0)
    idle["summary"]["efficiency"] = None
    with pytest.raises(InputError, match="hand: efficiency does not apply: no flow crosses a bottleneck"):
        scored(environment(), [[idle]], 0)


def test_transfers_that_arrive_are_watched_as_a_group() -> None:
    run = document({"test": [1e6]})
    run["transfers"] = [{"group": "mice", "goodput_bps": 2e6, "fct_mean_s": 0.5}]
    times = Watch(metric="completion-time", group="mice", label="mice", better="lower")
    assert watched(times, run) == (0.5,)
    assert watched(replace(times, metric="group-goodput", scale=1e-6), run) == (2.0,)
    run["transfers"][0]["fct_mean_s"] = None
    assert watched(times, run) == (100.0,)
    with pytest.raises(InputError, match="share does not apply to 'mice'"):
        watched(replace(times, metric="share"), run)


def test_rows_of_a_group_are_watched_whatever_it_sends() -> None:
    run = document({"test": [1e6]})
    run["flows"] += [
        {"group": "far", "sent": 80, "lost": 8, "arrived": 60, "queue_delay_mean_s": 0.01},
        {"group": "far", "sent": 20, "lost": 2, "arrived": 20, "queue_delay_mean_s": 0.05},
    ]
    run["transfers"] = [
        {"group": "mice", "sent": 50, "lost": 5, "queue_delay_mean_s": 0.03},
        # A web client has rows in both lists: its segments count once.
        {"group": "far", "traffic": "web", "sent": 100, "lost": 10, "fct_mean_s": 0.5, "fct_p95_s": 0.75},
        {"group": "video", "traffic": "video", "late_rate": 0.25, "stalled_s": 1.5},
        {"group": "frozen", "traffic": "video", "late_rate": None},
        {
            "group": "stream",
            "traffic": "abr",
            "flows": 2,
            "bit_rate_bps": 3e6,
            "stalled_s": 5.0,
            "startup_s": 0.5,
        },
        {"group": "blank", "traffic": "abr", "flows": 1, "bit_rate_bps": None, "stalled_s": 0.0},
    ]
    rtp = {"group": "call", "traffic": "rtp", "sent": 40, "lost": 4, "lost_or_late_rate": 0.2}
    run["datagrams"] = [rtp | {"delay_p99_s": 0.1}, rtp | {"delay_p99_s": 0.3, "lost_or_late_rate": None}]

    def of(metric: str, group: str) -> float:
        return watched(Watch(metric, group, "x", "lower"), run)[0]

    assert (of("segments-sent", "far"), of("segments-sent", "mice")) == (100, 50)
    assert (of("loss-rate", "far"), of("loss-rate", "mice"), of("loss-rate", "call")) == (0.1, 0.1, 0.1)
    # (60 x 10 ms + 20 x 50 ms) / 80
    assert of("queue-delay", "far") == pytest.approx(0.02)
    assert of("queue-delay", "mice") == pytest.approx(0.03)
    assert (of("packets-lost", "call"), of("lost-or-late-rate", "call"), of("delay-p99", "call")) == (
        8,
        0.2,
        0.3,
    )
    assert (of("completion-time", "far"), of("completion-p95", "far")) == (0.5, 0.75)
    assert of("stalled-time", "video") == 1.5
    assert (of("late-rate", "video"), of("late-rate", "frozen")) == (0.25, 1.0)
    streamed = ("bit-rate", "stalled-time", "startup-delay")
    assert [of(metric, "stream") for metric in streamed] == [3e6, 2.5, 0.5]
    assert [of(metric, "blank") for metric in streamed] == [0.0, 0.0, 100.0]
    run["datagrams"][0]["delay_p99_s"] = None
    assert of("delay-p99", "call") == 100
