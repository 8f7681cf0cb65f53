"""The comparison with ns-2, as far as it can be tested without ns-2."""

import sys
from pathlib import Path

import pytest

from ackclock import _core

TOOLS = Path(__file__).resolve().parents[1] / "tools" / "ns2"
sys.path.append(str(TOOLS))

from comparable import NotComparable  # noqa: E402
from compare import BOUNDS, SETUPS, Cell  # noqa: E402
from controls import window  # noqa: E402
from intervals import Difference, welch  # noqa: E402
from scenario import arguments, bug_fix  # noqa: E402


def scenario(name: str, *sets: str) -> _core.Scenario:
    file = TOOLS / "scenarios" / f"{name}.toml"
    return _core.Scenario.from_toml(file.read_text(), str(file), list(sets))


def test_the_scenario_is_the_source_of_the_arguments() -> None:
    words = arguments(scenario("c", "flows.0.count=5"))
    assert words["flows"] == 5
    assert (words["rate"], words["delay"], words["access_delay"]) == (5_000_000, 0.03, 0.03)
    # ns-2 counts the packet that arrives.
    assert (words["limit"], words["access_limit"]) == (101, 101)
    # 1040 B at 5 Mbit/s.
    assert words["jitter"] == pytest.approx(1.664e-3)
    assert (words["tcp"], words["payload"], words["min_rto"], words["start_max"]) == ("Sack1", 1000, 0.2, 1.0)


def test_the_script_knows_every_argument() -> None:
    script = (TOOLS / "dumbbell.tcl").read_text()
    declared = script.split("array set p {")[1].split("}")[0].split()[::2]
    for name in SETUPS:
        assert set(arguments(scenario(name))) < set(declared)


def test_round_trip_times_are_drawn_in_ns2() -> None:
    words = arguments(scenario("d", "flows.0.rtt={uniform=['10 ms', '14 ms']}"))
    # The path has 2 (1 + 2) ms; half of the rest is each way.
    assert (words["extra_min"], words["extra_max"]) == pytest.approx((2e-3, 4e-3))
    assert "extra_min" not in arguments(scenario("d"))


def test_the_parameters_of_red_are_in_packets_of_mean_size() -> None:
    words = arguments(scenario("red-bytes"))
    assert (words["queue"], words["limit"], words["red_mean_packet"]) == ("RED", 25.0, 1000)
    assert (words["red_min"], words["red_max"], words["red_weight"]) == (5.0, 15.0, 0.00796809)
    assert (words["red_bytes"], words["red_by_size"], words["red_gentle"], words["red_wait"]) == (1, 1, 1, 1)
    assert (words["red_ecn"], words["ecn"]) == (0, 0)
    marking = arguments(scenario("red-ecn"))
    assert (marking["red_ecn"], marking["red_mark_below"], marking["ecn"]) == (1, 1.0, 1)
    # ns-2's RED counts what waits, so that 480 is 480.
    assert arguments(scenario("red"))["limit"] == 480


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ("topology.loss.kind=periodic", "loss"),
        ("topology.corruption=0.1", "corruption"),
        ("topology.queue.limit=64 kB", "bottleneck"),
        ("flows.0.cc=aimd-fc", "flows.test"),
        ("flows.0.framing=38 B", "framing"),
        ("flows.0.send_jitter=5 ms", "send_jitter"),
        ("topology.queue={kind='red', limit='9 packets', gaps='once'}", "bottleneck"),
    ],
)
def test_what_ns2_cannot_do_is_refused(change: str, key: str) -> None:
    sets = [change, "topology.loss.period=9"] if "periodic" in change else [change]
    with pytest.raises(NotComparable, match=key):
        arguments(scenario("c", *sets))


def test_welch_by_hand() -> None:
    # Variances 2/2 and 8/2 over two values: standard error sqrt(1 + 4); 25 / (1 + 16) = 1.47 degrees of
    # freedom, rounded down to 1: t = 12.7062.
    difference = welch([10.0, 12.0], [20.0, 24.0])
    assert difference.value == 11.0
    assert difference.half_width == pytest.approx(12.7062 * 5**0.5, rel=1e-4)


def test_a_verdict_needs_the_whole_interval() -> None:
    def verdict(shift: float, half_width: float) -> str:
        return Cell(
            "c", 2, "drops", Difference(100, 100 + shift, half_width), BOUNDS["DropTail"]["drops"][0]
        ).verdict

    assert verdict(-10, 14) == "inside"
    assert verdict(-10, 16) == "undecided"
    assert verdict(-45, 19) == "outside"
    assert Cell("c", 2, "jain", Difference(1, 1, 0), None).verdict == "-"


def test_every_setup_has_a_scenario() -> None:
    for name, counts in SETUPS.items():
        assert scenario(name, f"flows.0.count={max(counts)}").is_random


def test_linear_controls_are_binomial_ones_in_ns2() -> None:
    def words(cc: dict[str, object]) -> tuple[object, ...]:
        found = window("flows.test.cc", cc)
        return tuple(found.get(key) for key in ("window_option", "k", "l", "increase", "remaining"))

    assert words({"kind": "aimd", "increase": 2, "remaining": 0.8}) == (1, None, None, 2, 0.8)
    # ns-2 takes away (1 - remaining) w^l: three segments.
    assert words({"kind": "aiad", "increase": 1, "removed": 3}) == (6, 0, 0, 1, -2)
    assert words({"kind": "mimd", "increase": 0.1, "remaining": 0.5}) == (6, -1, 1, 0.1, 0.5)
    assert words({"kind": "miad", "increase": 0.1, "removed": 3}) == (6, -1, 0, 0.1, -2)


@pytest.mark.parametrize(
    ("recovery", "second_loss", "value"),
    [
        # RFC 5681 takes a second loss in a window for a second event, RFCs 6582 and 6675 do not.
        ("reno", "standard", 0),
        ("sack", "standard", 1),
        ("reno", "careful", 1),
        ("sack", "always", 0),
    ],
)
def test_what_a_second_loss_is(recovery: str, second_loss: str, value: int) -> None:
    assert bug_fix({"name": "test", "recovery": recovery, "second_loss": second_loss}) == value
