"""The comparison with ns-2's validation suites; the cases themselves only where ns-2 is installed."""

import shutil
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[1] / "tools" / "ns2"
sys.path.append(str(TOOLS))

import packets  # noqa: E402
from explanations import is_sent_twice, is_tie  # noqa: E402
from features import NotTranslatable  # noqa: E402
from flows import initial_window  # noqa: E402
from losses import Script, read  # noqa: E402
from outcomes import Outcome, outcome, table  # noqa: E402
from packets import Difference, Point, first_of  # noqa: E402
from routes import Route, route  # noqa: E402
from setups import TESTS, Errors, Event, Setup, events, parse  # noqa: E402
from suites import SUITES  # noqa: E402
from translate import translate  # noqa: E402

INSTALLED = shutil.which("ns") is not None and TESTS.is_dir()
# One packet of 1000 B takes 8 ms at 1 Mbit/s.
LINES = """\
link 0 1 1000000.0 0.01 Queue/DropTail 5
link 1 0 1000000.0 0.01 Queue/DropTail 5
link 1 2 1000000.0 0.01 Queue/DropTail 5
link 2 1 1000000.0 0.01 Queue/DropTail 5
error 1 2 1 0 {3 7}
sender _o1 Agent/TCP/Reno 0 2 1
sink _o1 Agent/TCPSink
option _o1 bugFix_ false true
option _o1 decrease_num_ 0.5 0.5
option _o1 increase_num_ 1 1
option _o1 lessCareful_ 0 0
option _o1 bugFix_ack_ 0 0
option _o1 bugFix_ts_ 0 0
option _o1 ecn_ 0 0
option _o1 frto_enabled_ 0 0
option _o1 maxburst_ 3 0
option _o1 minrto_ 200ms 0.2
option _o1 packetSize_ 960 1000
option _o1 precisionReduce_ 1 1
option _o1 rtxcur_init_ 3.0 3.0
option _o1 singledup_ 0 1
option _o1 syn_ 0 0
option _o1 tcpTick_ 0.1 0.01
option _o1 timestamps_ 0 0
option _o1 useHeaders_ true true
option _o1 windowInitOption_ 2 1
option _o1 windowInit_ 2 2
option _o1 window_ 8 20
time 0.5 _o1 start
end 2.0
"""


@pytest.fixture
def setup() -> Setup:
    return parse(LINES)


def test_a_set_up_is_read(setup: Setup) -> None:
    assert setup.links[1, 2].limit == 5
    assert setup.errors == [Errors((1, 2), 1, 0.0, (3, 7))]
    sender = setup.senders[0]
    assert (sender.options["minrto_"], sender.options["useHeaders_"]) == (0.2, 1.0)
    assert sender.changed == {
        "bugFix_": 0.0,
        "maxburst_": 3.0,
        "packetSize_": 960.0,
        "singledup_": 0.0,
        "tcpTick_": 0.1,
        "windowInitOption_": 2.0,
        "window_": 8.0,
    }
    assert [command.words for command in sender.commands] == [("start",)]


def test_a_set_up_becomes_a_scenario_that_runs(setup: Setup) -> None:
    sent = ""
    for number in range(10):
        packet = f"tcp 1000 ------- 1 0.0 2.0 {number} {number + 50}"
        fate = "d" if number in {3, 7} else "+"
        sent += f"r 0.{number} 0 1 {packet}\n{fate} 0.{number} 1 2 {packet}\n"
    setup.trace = events(sent)
    translation = translate(setup, [0.0])
    flow = translation.scenario["flows"][0]
    assert flow["path"] == ["0-1", "1-2"]
    assert (flow["mss"], flow["max_window"], flow["max_burst"]) == ("960 B", 8, 3)
    assert (flow["second_loss"], flow["cut_window"], flow["limited_transmit"]) == ("always", "capped", False)
    links = translation.scenario["links"]
    # What ns-2 drops in front of the second queue is lost behind the first link.
    assert links["0-1"]["loss"] == {"kind": "scripted", "packets": [4, 8]}
    assert links["1-2"]["loss"] == {"kind": "none"}
    # In ns-2's limit the packet that arrives counts.
    assert links["1-2"]["queue"]["limit"] == "4 packets"

    def numbers(link: str, event: str) -> list[int]:
        return [point.number for point in packets.ours_at(setup, translation, frame, link, event)]

    frame = packets.run(translation.scenario)
    assert numbers("0-1", "enter")[:8] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert numbers("0-1", "leave")[:6] == [0, 1, 2, 4, 5, 6]
    assert packets.tolerance(setup, translation) == pytest.approx(0.008, abs=1e-4)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("sender _o2 Agent/TCP/Fack 0 2 2", "FACK"),
        ("sender _o2 Agent/TCP/Vegas 0 2 2", "TCP/Vegas"),
        ("other Agent/UDP", "Agent/UDP"),
        ("option _o1 overhead_ 0.01 0", "`overhead_` 0.01"),
        ("option _o1 numdupacksFrac_ 5 0", "a threshold of duplicate ACKs"),
        ("time 0.7 _o1 produce 9", "writes again"),
    ],
)
def test_what_has_no_counterpart_is_refused_by_name(line: str, name: str) -> None:
    setup = parse(f"{LINES}{line}\n")
    with pytest.raises(NotTranslatable, match=name):
        translate(setup, [0.0] * len(setup.senders))


def test_an_error_model_does_not_see_what_the_one_before_it_drops() -> None:
    def errors(delay_s: float, *numbers: int) -> Errors:
        return Errors((0, 1), 1, delay_s, numbers)

    script = Script()
    # The one in the middle drops 2 and 4: the fourth packet that the first one sees is 5.
    script.delay([errors(0.03, 0, 3), errors(0.0, 2, 4), errors(9.0, 6)], end_s=2.0)
    assert script == Script(lost={7}, late={1, 6}, late_by_s=0.03)
    assert script.behind(1) == Script(lost={6}, late={5}, late_by_s=0.03)
    with pytest.raises(NotTranslatable, match="different times"):
        script.delay([errors(0.04, 0)], end_s=2.0)


def test_what_is_lost_and_marked_is_read_from_the_trace() -> None:
    trace = events(
        """\
r 0.1 0 1 tcp 1000 ------N 1 0.0 2.0 1 11
+ 0.1 1 2 tcp 1000 ------N 1 0.0 2.0 1 11
- 0.1 1 2 tcp 1000 ----E-N 1 0.0 2.0 1 11
r 0.2 0 1 tcp 1000 ------N 1 0.0 2.0 2 12
d 0.2 1 2 tcp 1000 ------N 1 0.0 2.0 2 12
r 0.3 0 1 tcp 1000 ----E-N 1 0.0 2.0 3 13
+ 0.3 1 2 tcp 1000 ----E-N 1 0.0 2.0 3 13
d 0.3 1 2 tcp 1000 ----E-N 1 0.0 2.0 3 13
"""
    )
    way = Route(1, ((0, 1), (1, 2)))
    # Packet 3 was marked before, and the queue drops it.
    assert read(trace, way, (1, 2), queue_drops=False) == Script(lost={2}, marked={1})
    assert read(trace, way, (1, 2), queue_drops=True) == Script(lost={2, 3}, marked={1})


def test_an_initial_window_by_rfc_3390() -> None:
    sizes = (1000, 1095, 1460, 2190)
    assert [initial_window({"windowInitOption_": 2, "packetSize_": size}) for size in sizes] == [4, 4, 3, 2]
    assert initial_window({"windowInitOption_": 1, "windowInit_": 5}) == 5


def test_the_way_there_and_back(setup: Setup) -> None:
    forward = route(setup, setup.senders[0])
    assert forward == Route(1, ((0, 1), (1, 2)))
    backward = forward.turned()
    assert [forward.name_before(link) for link in forward.links] == ["source-1", "0-1"]
    assert [backward.name_before(link) for link in backward.links] == ["sink-1.reverse", "1-2.reverse"]


def test_the_first_difference() -> None:
    def points(*numbers: int, late_s: float = 0.0) -> list[Point]:
        return [Point(0.1 * position + late_s, "tcp1", number) for position, number in enumerate(numbers)]

    def position(theirs: list[Point], ours: list[Point]) -> int | None:
        found = first_of(("packets to 1-2", (1, 2)), theirs, ours, tolerance_s=0.01, end_s=0.35)
        return None if found is None else found.position

    assert position(points(0, 1, 2), points(0, 1, 2, late_s=0.009)) is None
    assert position(points(0, 1, 2), points(0, 1, 2, late_s=0.011)) == 0
    assert position(points(0, 1, 2), points(0, 2, 1)) == 1
    assert position(points(0, 1), points(0, 1, 2)) == 2
    # At 0.4 s all is over.
    assert position(points(0, 1, 2, 3), points(0, 1, 2, 3, 4)) is None
    assert is_sent_twice(points(0, 1, 1), 2)
    assert not is_sent_twice(points(0, 1, 1), 1)


def test_a_tie_is_a_drop_at_the_time_of_a_departure(setup: Setup) -> None:
    ours = [Point(0.2, "tcp1", 6)]
    difference = Difference("packets to 1-2", (1, 2), 0, [], ours)
    departure, drop = "- 0.2 1 2 tcp 1000 ------- 1 0.0 2.0 5 15", "d 0.2 1 2 tcp 1000 ------- 1 0.0 2.0 6 16"
    setup.trace = events(f"{departure}\n{drop}\n")
    assert setup.trace[1] == Event(
        "d", 0.2, (1, 2), is_ack=False, flow=1, number=6, packet=16, marked=False, echoes=False
    )
    assert is_tie(setup, difference)
    setup.trace = events(f"{departure.replace('0.2', '0.21')}\n{drop}\n")
    assert not is_tie(setup, difference)


def test_the_results_are_counted_and_listed() -> None:
    text = table(
        [
            Outcome("sack", "a", "matched"),
            Outcome("sack", "b", "explained", "another rule", "packet 7"),
            Outcome("newreno", "c", "not matched", difference="packet 9"),
        ]
    )
    assert "| sack | 2 | 1 | 1 | 0 | 0 |" in text
    assert "| all | 3 | 1 | 1 | 1 | 0 |" in text
    assert "another rule\n\n```text\nsack/b: packet 7\n```" in text
    assert "### Not matched\n\n```text\nnewreno: c: packet 9\n```" in text


@pytest.mark.skipif(not INSTALLED, reason="ns-2 and its examples are not installed")
@pytest.mark.parametrize(
    ("suite", "name", "verdict"),
    [
        ("tcpVariants", "onedrop_sack", "matched"),
        ("tcpVariants", "onedrop_fack", "not run"),
        ("aimd", "tcpA", "matched"),
        ("sack", "sackB2", "explained"),
        ("newreno", "newreno1_B", "matched"),
        ("newreno", "newreno5", "explained"),
        ("rfc2581", "noImmediateAckNewReno", "matched"),
        ("LimTransmit", "onedrop_ECN_sack", "matched"),
        ("ecn", "ecn_burstyEcn_sack", "matched"),
        ("tcpOptions", "maxburst_reno1", "explained"),
    ],
)
def test_a_case_of_each_suite(suite: str, name: str, verdict: str) -> None:
    by_name = {suite.name: suite for suite in SUITES}
    assert outcome(by_name[suite], name).verdict == verdict
