"""The environments that are compared with ns-2, as far as they can be tested without ns-2."""

import json
import sys
from pathlib import Path

import pytest

from ackclock import _core

TOOLS = Path(__file__).resolve().parents[1] / "tools" / "ns2"
sys.path.append(str(TOOLS))

from cases import Case, cases  # noqa: E402
from comparable import NotComparable  # noqa: E402
from cross import Cross, cross  # noqa: E402
from drr import DRR  # noqa: E402
from environments import ENVIRONMENTS, scores  # noqa: E402
from intervals import Difference  # noqa: E402
from linux_agent import LINUX_AGENT  # noqa: E402
from scenario import arguments  # noqa: E402
from scores import Cell, Row, judge  # noqa: E402
from sides import measures  # noqa: E402


def environment(*words: str) -> _core.Scenario:
    return ENVIRONMENTS.compiled(Case(*words))


def test_every_environment_has_a_counterpart() -> None:
    found = list(cases())
    assert len(found) == 4 * 2 * 2 * 4
    for case in found:
        assert arguments(environment(*case.words))["flows"] == 10


def test_environments_and_drr_use_every_argument_of_the_script() -> None:
    script = (TOOLS / "dumbbell.tcl").read_text()
    declared = script.split("array set p {")[1].split("}")[0].split()[::2]
    used = set(arguments(environment("sq-low", "red", "sack", "mimd(0.1, 0.5)")))
    used |= set(arguments(DRR.compiled(DRR.cases[0])))
    used |= set(arguments(LINUX_AGENT.compiled(LINUX_AGENT.cases[0])))
    # The last two are for measurements of speed.
    assert used | {"seed", "hosts", "monitors"} == set(declared)


def test_cross_traffic_leaves_a_square_wave() -> None:
    words = arguments(environment("sq-high", "drop-tail", "sack", "aimd(1, 0.5)"))
    assert str(words["cbr"]).split()[:6] == ["0", "0", "5", "90000000", "10", "0"]
    assert (words["cbr_packet"], len(str(words["cbr"]).split())) == (1040, 2 * 12)


def test_the_mean_of_cross_traffic() -> None:
    source = Cross(((0.0, 0.0), (5.0, 60.0)), 1000)
    # Nothing for 1 s, then 60 bit/s for 2 s.
    assert source.mean_bps(4.0, 7.0) == pytest.approx(40.0)
    assert Cross().mean_bps(4.0, 7.0) == 0.0
    assert Cross().arguments == {}


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"count": 2}, "flows.cross"),
        ({"start": "1 s"}, "flows.cross"),
        ({"traffic": {"kind": "cbr", "rate": "1 Mbit/s", "leaves": {"kind": "ramp"}}}, "leaves"),
    ],
)
def test_cross_traffic_that_ns2_does_not_have_is_refused(change: dict[str, object], key: str) -> None:
    with pytest.raises(NotComparable, match=key):
        cross({"name": "cross", "traffic": {"kind": "cbr", "rate": "1 Mbit/s"}, **change}, 60.0)


def test_scores_by_hand() -> None:
    # 100 Mbit/s of which 90 are taken, for 50 s; of 1 MB/s each packet has 1000 B.
    found = scores(environment("cons-low", "red", "reno", "aimd(1, 0.5)"))
    run = {
        "goodput_Bps": 1e6,
        "drops": 30.0,
        "arrivals": 600.0,
        "sent": 62_500.0,
        "queue_delay_s": 0.02,
        # 80 Mbit/s.
        "cbr_Bps": 10e6,
    }
    assert [score.of(run) for score in found] == pytest.approx([0.8, 0.4, 0.05, 0.2, 20.0])


def test_the_worst_score_is_the_verdict_of_an_environment() -> None:
    fraction = Cell("goodput fraction", Difference(0.9, 0.91, 0.005), relative=False, bound=0.02)
    loss = Cell("loss", Difference(0.01, 0.012, 0.001), relative=True, bound=0.25)
    shown = Cell("shown", Difference(0.0, 1.0, 0.0), relative=True, bound=None)
    case = ("cons-low", "red", "sack", "aiad(1, 3)")
    assert (fraction.verdict, loss.verdict, shown.verdict) == ("inside", "undecided", "-")
    assert Row(case, (fraction, shown)).verdict == "inside"
    done = Row(case, (fraction, loss, shown))
    assert done.verdict == "undecided"
    assert done.text == (
        "| cons-low | red | sack | aiad(1, 3) | 0.900 +0.010 ± 0.005 | 0.01 +20.0 ± 10.0 % | 0 | undecided |"
    )


def test_cross_traffic_is_measured_where_there_is_some() -> None:
    def measured(scenario: _core.Scenario) -> dict[str, float]:
        return measures(json.loads(scenario.run().to_json()))

    short = ["duration=3 s", "warmup=2 s"]
    beside = measured(ENVIRONMENTS.compiled(Case("cons-low", "red", "sack", "aimd(1, 0.5)"), short))
    # 90 Mbit/s for 1 s in packets of 1040 B.
    assert beside["cbr_sent"] == pytest.approx(90e6 / 8 / 1040, abs=1)
    assert 0 < beside["cbr_Bps"] < 100e6 / 8
    file = TOOLS / "scenarios" / "c.toml"
    alone = measured(_core.Scenario.from_toml(file.read_text(), str(file), short))
    assert (alone["cbr_sent"], alone["cbr_Bps"]) == (0.0, 0.0)


def test_few_drops_are_not_judged() -> None:
    case = Case("cons-high", "red", "sack", "aimd(1, 0.5)")
    run = {
        "goodput_Bps": 1e7,
        "drops": 99.0,
        "arrivals": 1e5,
        "sent": 1e6,
        "queue_delay_s": 0.02,
        "cbr_Bps": 0.0,
    }
    many = {**run, "drops": 101.0}
    compared = scores(environment(*case.words))
    verdicts = [
        next(cell.verdict for cell in judge(case.words, compared, (side, side)).cells if cell.score == "loss")
        for side in ([run, run], [many, many])
    ]
    assert verdicts == ["-", "inside"]


def test_a_table_keeps_the_rows_that_are_not_renewed() -> None:
    cell = Cell("loss", Difference(0.01, 0.01, 0.0), relative=True, bound=0.25)
    first, second, third = (case.words for case in ENVIRONMENTS.cases[:3])
    page = "before\n<!-- environments -->\n<!-- end of environments -->\nafter\n"
    page = ENVIRONMENTS.renewed(page, [Row(third, (cell,)), Row(first, (cell, cell))])
    page = ENVIRONMENTS.renewed(page, [Row(second, (cell,)), Row(first, (cell,))])
    lines = [*ENVIRONMENTS.header(), *(Row(words, (cell,)).text for words in (first, second, third))]
    middle = "\n".join(lines)
    assert page == f"before\n<!-- environments -->\n\n{middle}\n\n<!-- end of environments -->\nafter\n"


def test_drr_has_a_counterpart() -> None:
    alone, *_ = DRR.cases
    words = arguments(DRR.compiled(alone))
    assert (words["queue"], words["limit"], words["drr_quantum"]) == ("DRR", 124_800, 1040)
    assert words["drr_buckets"] == 1024
    for change in ("topology.queue.limit=100 packets", "topology.queue.buckets=4"):
        with pytest.raises(NotComparable, match="bottleneck"):
            arguments(DRR.compiled(alone, [change]))


def test_the_agent_of_linux_has_a_counterpart() -> None:
    renos, cubics = LINUX_AGENT.cases[::2], LINUX_AGENT.cases[1::2]
    assert len(renos) == len(cubics) == 6
    for case, algorithm in [*((case, "reno") for case in renos), *((case, "cubic") for case in cubics)]:
        words = arguments(LINUX_AGENT.compiled(case))
        assert (words["tcp"], words["ca"], words["header"], words["timestamps"]) == (
            "Linux",
            algorithm,
            40,
            1,
        )
    # 10 Mbit/s in 60 ms are 71 packets of 1050 B; ns-2 counts the one that arrives.
    words = arguments(LINUX_AGENT.compiled(renos[2]))
    assert (words["rate"], words["delay"], words["limit"]) == (10_000_000, 0.03, 37)
    for change in ("flows.test.cc=aimd", "flows.test.cc={ kind = 'cubic', arithmetic = 'linux' }"):
        with pytest.raises(NotComparable, match="Agent/TCP/Linux"):
            arguments(LINUX_AGENT.compiled(renos[0], [change]))


def test_shares_behind_drr_by_hand() -> None:
    # Two flows and a source share 10 Mbit/s: 1 Mbit/s is .3 of a fair share.
    case = next(case for case in DRR.cases if case.words == ("2 flows", "and a source", "sack"))
    found = DRR.scores(DRR.compiled(case))
    run = {
        "goodput_Bps": 500e3,
        "least_Bps": 125e3,
        "most_Bps": 375e3,
        "cbr_Bps": 400e3,
        "drops": 10.0,
        "arrivals": 100.0,
        "queue_delay_s": 0.1,
    }
    assert [score.of(run) for score in found] == pytest.approx([0.4, 0.3, 0.9, 0.96, 0.1, 100.0])
