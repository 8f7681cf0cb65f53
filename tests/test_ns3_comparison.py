"""The comparison with ns-3 behind TCP, as far as it can be tested without ns-3."""

import json
import re
import sys
from collections.abc import Sequence

import pytest
from helpers import ROOT

import behind_tcp
import ns3_program
from behind_tcp import FLOWS, QUEUES, Queue, drawn, in_ackclock, scenario

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
