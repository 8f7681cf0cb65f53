"""The comparison with ns-3 behind TCP, as far as it can be tested without ns-3."""

import json
import re
import sys
from collections.abc import Sequence

import pytest
from helpers import ROOT

import behind_tcp
import ns3_program
import senders
from behind_tcp import FLOWS, QUEUES, Queue, drawn, in_ackclock, scenario
from senders import CONTROLS, LINKS

sys.path.append(str(ROOT / "tools" / "ns2"))

from intervals import paired
from scores import judge

CODEL, FQ_CODEL = QUEUES


def test_a_seed_gives_the_flows_of_both_sides() -> None:
    flows = drawn(5, 1)
    assert flows == drawn(5, 1) and flows != drawn(5, 2)
    described = json.loads(scenario(FQ_CODEL, flows).describe_json())
    assert [flow["base_rtt_s"] for flow in described["flows"]] == pytest.approx(
        [2e-9 * (behind_tcp.DELAY_NS + flow.delay_ns) for flow in flows]
    )
    queue = json.loads(scenario(FQ_CODEL, flows).resolved_json())["topology"]["queue"]
    assert (queue["kind"], queue["control_law"]) == ("fq-codel", "newton")


def test_both_sides_measure_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(behind_tcp, "END_NS", behind_tcp.WARMUP_NS + 10**9)
    prints = behind_tcp.SOURCE.read_text().split("\nPrint(")[1].split("\n}")[0]
    assert set(re.findall(r"\b(\w+)=\"", prints)) == in_ackclock(CODEL, drawn(2, 1)).keys()


def test_an_interval_of_pairs_by_hand() -> None:
    # Differences 1, 2 and 3: mean 2, standard error 1 / sqrt(3), t = 4.3027.
    difference = paired([10.0, 20.0, 60.0], [11.0, 22.0, 63.0])
    assert (difference.first, difference.value) == (30.0, 2.0)
    assert difference.half_width == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    with pytest.raises(ValueError, match="two pairs"):
        paired([1.0], [2.0])


@pytest.mark.parametrize(
    ("longer", "verdicts"),
    [(1.04, ("inside", "inside")), (1.06, ("outside", "inside")), (1.08, ("outside", "outside"))],
)
def test_a_sojourn_time_has_the_bound_of_its_queue(longer: float, verdicts: tuple[str, str]) -> None:
    theirs = [
        {"goodput_bps": 2e7, "drops": 500.0, "sojourn_mean_s": mean, "sojourn_p95_s": 0.02}
        for mean in (0.00999, 0.010, 0.01001)
    ]
    ours = [{**run, "sojourn_mean_s": longer * run["sojourn_mean_s"]} for run in theirs]
    found = [judge((), queue.scores, (theirs, ours), paired).cells[2].verdict for queue in QUEUES]
    assert tuple(found) == verdicts


def test_without_ns3_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(ns3_program, "compiled", lambda *_: "it is not installed")
    assert behind_tcp.main([]) == 77
    assert capsys.readouterr().out == "behind_tcp: skipped, ns-3: it is not installed\n"


def test_a_case_has_all_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def note(cases: Sequence[tuple[Queue, str]], seeds: int, tcp: str) -> list[str]:
        asked.append([(queue.kind, words, seeds, tcp) for queue, words in cases])
        return []

    monkeypatch.setattr(ns3_program, "compiled", lambda *_: None)
    monkeypatch.setattr(behind_tcp, "compare", note)
    behind_tcp.main(["codel", "--seeds", "2"])
    assert asked == [[("codel", words, 2, "Reno") for words in FLOWS]]
    with pytest.raises(SystemExit):
        behind_tcp.main(["codel", "7 flows"])


def test_the_senders_get_the_same_path() -> None:
    described = json.loads(senders.scenario(CONTROLS[0], CONTROLS[0].rules[0], LINKS[4], 375).resolved_json())
    topology = described["topology"]
    assert (topology["queue"]["limit"], *topology["loss"].values()) == ("133 packets", "periodic", 3000, 375)
    assert LINKS[0].offsets == (0,) and LINKS[4].offsets == (0, 375, 750, 1125, 1500, 1875, 2250, 2625)
    # 20 Mbit/s times 40 ms are 66.7 packets of 1500 bytes.
    assert LINKS[4].packets == 133 and described["flows"][0]["cc"]["kind"] == "reno"


def test_senders_measure_the_same_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senders, "END_S", senders.WARMUP_S + 1)
    prints = senders.SOURCE.read_text().split("\nPrint(")[1].split("\n}")[0]
    assert (
        set(re.findall(r"\b(\w+)=\"", prints))
        == senders.in_ackclock(CONTROLS[0], CONTROLS[0].rules[0], LINKS[0], 0).keys()
    )


def test_rules_that_are_replaced_are_in_the_program() -> None:
    program = senders.SOURCE.read_text()
    for control in CONTROLS:
        assert control.rules[0].tcp.startswith("ns3::") and not control.rules[0].attributes
        for rules in control.rules[1:]:
            names = [name for name in (rules.tcp, senders.ONCE.split("=")[1]) if "::" not in name]
            assert all(f'TypeId("{name}")' in program for name in names)


@pytest.mark.parametrize(("cwnd", "delay", "inside"), [(52.0, 9.0, True), (53.0, 1.0, False)])
def test_senders_are_judged_by_their_bounds(cwnd: float, delay: float, inside: bool) -> None:
    theirs = {"goodput_bps": 10e6, "cwnd_mean_segments": 50.0, "queue_delay_mean_s": 1e-3}
    ours = {"goodput_bps": 9.81e6, "cwnd_mean_segments": cwnd, "queue_delay_mean_s": delay * 1e-3}
    reno, _, bbr = CONTROLS
    cells, found = senders.judged(reno, theirs, ours)
    assert found == inside and cells[0] == "10 (-1.9 %)"
    assert senders.judged(bbr, theirs, {**ours, "queue_delay_mean_s": 1.09e-3})[1]
    assert not senders.judged(bbr, theirs, {**ours, "queue_delay_mean_s": 1.11e-3})[1]
    assert not senders.judged(bbr, theirs, {**ours, "goodput_bps": 9.79e6, "queue_delay_mean_s": 1e-3})[1]


def test_a_page_keeps_the_rows_of_other_cases() -> None:
    def row(link: senders.Link, rest: str) -> str:
        return senders.line(["reno", *link.words, "unchanged", rest])

    rows = [row(LINKS[0], "old"), row(LINKS[1], "old")]
    page = "\n".join(["a", "<!-- senders -->", "", *rows, "", "<!-- end of senders -->", "b", ""])
    renewed = senders.written(page, [row(LINKS[1], "new")])
    assert renewed.splitlines()[5:7] == [row(LINKS[0], "old"), row(LINKS[1], "new")]
    assert renewed.startswith("a\n") and renewed.endswith("\nb\n")


def test_without_the_wheel_the_comparison_of_senders_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        ns3_program, "compiled_with_wheel", lambda *_: "its wheel cannot be installed: offline"
    )
    assert senders.main([]) == 77
    assert capsys.readouterr().out == "senders: skipped, ns-3.44: its wheel cannot be installed: offline\n"
