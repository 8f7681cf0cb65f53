"""The comparison with ns-2, as far as it can be tested without ns-2."""

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ackclock import _core

TOOLS = Path(__file__).resolve().parents[1] / "tools" / "ns2"
sys.path.append(str(TOOLS))

from comparable import NotComparable  # noqa: E402
from compare import BOUNDS, SETUPS, Cell, cells_of, compare, header, profile_of, row, scenarios  # noqa: E402
from controls import window  # noqa: E402
from intervals import Difference, welch  # noqa: E402
from ns2 import COSTS, run  # noqa: E402
from scenario import arguments, bug_fix  # noqa: E402
from sides import Measures, in_ackclock  # noqa: E402


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


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=2) as made:
        yield made


def short(*sets: str) -> _core.Scenario:
    return scenario("c", "duration=3 s", "warmup=1 s", *sets)


def test_both_sides_measure_the_same(pool: ThreadPoolExecutor) -> None:
    """What the script prints of the simulation is what `sides.measures` knows of ours."""
    printed = set(re.findall(r"\b(\w+)=", (TOOLS / "dumbbell.tcl").read_text().split("proc times")[1]))
    assert set(COSTS) < printed
    of_flows = {"flows_Bps"}, {"least_Bps", "most_Bps"}
    ours = in_ackclock(short(), 1, pool)[0]
    assert printed - set(COSTS) - of_flows[0] == ours.keys() - of_flows[1]


def ns2_that_prints(folder: Path, line: str) -> None:
    """Put a command `ns` into `folder` that prints a line."""
    command = folder / "ns"
    command.write_text(f"#!/bin/sh\necho '{line}'\necho cmd select_ca reno\n")
    command.chmod(0o755)


def test_cpu_times_of_ns2_are_no_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ns2_that_prints(tmp_path, "goodput_Bps=30 flows_Bps=10,20 drops=4 setup_cpu_s=0.1 run_cpu_s=0.2")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert run({"flows": 2}) == {"goodput_Bps": 30, "drops": 4, "least_Bps": 10, "most_Bps": 20}


def test_a_measure_of_one_side_only_is_refused() -> None:
    first: list[Measures] = [{"drops": 1.0, "new": 2.0}] * 2
    with pytest.raises(NotComparable, match="one side only: new"):
        list(cells_of(scenario("c"), 2, {}, first, [{"drops": 1.0}] * 2))


def test_two_profiles_stand_side_by_side(pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    sets = ["duration=3 s", "warmup=1 s", "flows.0.count=2"]
    profiles = list(scenarios(TOOLS / "scenarios" / "c.toml", sets, "both"))
    assert [profile_of(each) for each in profiles] == ["rfc", "ns-2"]
    # As if ns-2 measured what ackclock does under its rules.
    asked = []

    def as_ours(which: _core.Scenario, seeds: int, runs: ThreadPoolExecutor) -> list[Measures]:
        asked.append(which)
        return in_ackclock(profiles[1], seeds, runs)

    monkeypatch.setattr("sides.in_ns2", as_ours)
    found = {cells[0].measure: cells for cells in compare(profiles, 2, 2, pool)}
    assert len(asked) == 1
    sent = found["sent"]
    assert [cell.profile for cell in sent] == ["rfc", "ns-2"]
    assert sent[0].difference.first == sent[1].difference.first == sent[1].difference.second
    assert sent[0].difference.second != sent[0].difference.first
    assert row(sent).count("±") == 2 and header("both").endswith("under ns-2")
    assert row(found["goodput_Bps"][1:]).endswith("undecided")


def test_flows_with_a_profile_of_their_own_are_refused() -> None:
    with pytest.raises(_core.ScenarioError, match="every flow has its own profile"):
        list(scenarios(TOOLS / "scenarios" / "c.toml", ["flows.test.profile=ns-2"], "both"))


def test_a_profile_that_changes_what_ns2_is_told_is_refused(pool: ThreadPoolExecutor) -> None:
    with pytest.raises(NotComparable, match="changes what ns-2 is told"):
        list(compare([short(), short("flows.0.min_rto=1 s")], 2, 2, pool))


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
        bound = BOUNDS["DropTail"]["drops"][0]
        return Cell("c", 2, "rfc", "drops", Difference(100, 100 + shift, half_width), bound).verdict

    assert verdict(-10, 14) == "inside"
    assert verdict(-10, 16) == "undecided"
    assert verdict(-45, 19) == "outside"
    assert Cell("c", 2, "rfc", "jain", Difference(1, 1, 0), None).verdict == "-"


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
