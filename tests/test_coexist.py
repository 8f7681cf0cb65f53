"""Coexistence: shares, harm, the model of BBRv1, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import cli

import ackclock
from ackclock.coexistence.matrix import Coexistence, Measured
from ackclock.coexistence.networks import FULL, SIX
from ackclock.coexistence.report import sentences
from ackclock.coexistence.ware import bbr_share
from ackclock.errors import ArgumentError
from ackclock.evaluation.candidate import Candidate

#: Fewer and shorter runs.
SHORT = ("duration=40 s", "warmup=10 s")


@pytest.fixture(scope="module")
def found() -> Coexistence:
    networks = ["0.25-bdp-40-ms", "1-to-10-1-bdp-40-ms", "100-kb-1-bdp", "fq-codel-40-ms"]
    return ackclock.coexist("cubic", "bbr1", networks=networks, replicates=3, sets=SHORT)


def test_harm_is_the_lost_part_of_what_flows_achieve_alone() -> None:
    alone = Measured(10e6, 1, 0.04, 0.0, None)
    assert Measured(4e6, 1, 0.05, 0.0, None).harm_from(alone) == pytest.approx(0.6)
    assert Measured(4e6, 1, 0.05, 0.0, None).delay_harm_from(alone) == pytest.approx(0.2)
    # Transfers that take four times as long lose three quarters of their speed.
    alone = Measured(1e6, 0, None, 0.0, 0.5)
    assert Measured(1e6, 0, None, 0.0, 2.0).harm_from(alone) == pytest.approx(0.75)
    assert Measured(1e6, 0, None, 0.0, 2.0).delay_harm_from(alone) is None


def test_the_model_of_bbr1_has_the_figures_of_its_paper() -> None:
    # Ware et al. 2019, section 4: in a deep buffer p tends to 1/2, less the time of probing for the RTT.
    # 10 Mbit/s and 40 ms are 33.3 packets. 64 BDP drain in 2.56 s.
    share = bbr_share(64, 1, 100 / 3, 0.04)
    assert share == pytest.approx((0.5 + 1 / 128 + 4 / (64 * 100 / 3)) * (1 - (2.56 + 0.24) / 10))
    # The cap of many flows exceeds BDP and buffer, so that they take the whole link.
    assert bbr_share(2, 16, 100 / 3, 0.04) == pytest.approx(1 - 0.32 / 10)
    assert bbr_share(0.5, 1, 100 / 3, 0.04) is None


def test_every_pair_has_a_share_and_harm(found: Coexistence) -> None:
    assert [(each.network.id, each.first, each.second) for each in found.pairs] == [
        (network.id, *names) for network in found.networks for names in (("cubic", "bbr1"), ("bbr1", "cubic"))
    ]
    shallow = found.find(found.networks[0], "bbr1", "cubic")
    back = found.find(found.networks[0], "cubic", "bbr1")
    assert shallow is not None and shallow.share is not None and back is not None and back.share is not None
    # Both directions are one run, and the shares of two flows add up to 2.
    assert shallow.cell == back.cell
    assert shallow.share.mean + back.share.mean == pytest.approx(2.0)
    # BBRv1 ignores the losses of a shallow buffer, and CUBIC starves (Hock, Bless & Zitterbart 2017).
    assert shallow.share.mean > 1.6 and shallow.harm.mean > 0.8
    # Fair queueing protects a flow: it loses the half that the other flow takes.
    fair = found.find(found.networks[3], "bbr1", "cubic")
    assert fair is not None and fair.harm.mean == pytest.approx(0.5, abs=0.05)
    assert abs(fair.excess.mean) < 0.05 and fair.judgement == ""
    # One flow against ten equal flows takes an eleventh.
    many = found.own_harm(found.networks[1], "cubic")
    assert many is not None and many.mean == pytest.approx(1 / 11, abs=0.05)
    short = found.find(found.networks[2], "bbr1", "cubic")
    assert (
        short is not None and short.share is None and short.completion_s is not None and short.harm.mean > 0.3
    )


def test_the_order_of_algorithms_changes_no_figure(found: Coexistence) -> None:
    other = ackclock.coexist("bbr1", "cubic", networks=["0.25-bdp-40-ms"], replicates=3, sets=SHORT)
    network = other.networks[0]
    for names in (("cubic", "bbr1"), ("bbr1", "cubic")):
        one, two = found.find(network, *names), other.find(network, *names)
        assert one is not None and two is not None and one.share is not None and two.share is not None
        assert one.share.mean == pytest.approx(two.share.mean, abs=0.1)


def test_the_grids_have_distinct_names() -> None:
    for grid in (SIX, FULL):
        assert len({network.id for network in grid}) == len(grid)
    assert len(SIX) == 6
    assert {network.id for network in SIX} <= {network.id for network in FULL}


@pytest.mark.parametrize(
    ("algorithms", "options", "message"),
    [
        (
            ("cubic",),
            {},
            "algorithms: are 1, but a pair needs two. With one, use the full grid",
        ),
        (("cubic", "cubic"), {}, "algorithms: name cubic twice. Every table contains its harm to itself"),
        ((), {"grid": "full"}, "algorithms: is empty"),
        (("cubic", "reno"), {"networks": ["2-bdp"]}, "networks: contain '2-bdp'"),
        (("cubic", "reno"), {"grid": "ful"}, "grid: is 'ful'"),
    ],
)
def test_mistakes_are_named(algorithms: tuple[str, ...], options: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        ackclock.coexist(*algorithms, **options)  # type: ignore[arg-type]
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("flows.0.cc=bbr3", "change the algorithm of the flows 'first' under test"),
        ("flows.second.cc.beta_ecn=0.5", "change the algorithm of the flows 'second' under test"),
        ("seed=7", "seed: reaches nothing: all runs have the seed of --seed"),
        ("name=mine", "name: reaches nothing: runs do not depend on it"),
    ],
)
def test_a_change_of_the_pair_or_of_the_seed_is_an_error(change: str, message: str, tmp_path: Path) -> None:
    answer = cli("coexist", "reno", "cubic", "--replicates", "1", "--set", change, cwd=tmp_path)
    assert answer.code == 2 and message in answer.stderr and answer.stderr.count("\n") == 1, answer.stderr
    assert not (tmp_path / "ackclock-out").exists()


@pytest.mark.parametrize("group", ["first", "second", "0", "1"])
def test_a_change_of_one_group_stays_with_its_group(group: str) -> None:
    """Two algorithms that change places then do not share a run."""
    sets = (*SHORT, f"flows.{group}.rtt=80 ms")
    found = ackclock.coexist("reno", "cubic", networks=["4-bdp-40-ms"], replicates=1, sets=sets)
    (network,), reno, cubic = found.networks, Candidate.parse("reno"), Candidate.parse("cubic")
    one, other = found.find(network, "reno", "cubic"), found.find(network, "cubic", "reno")
    assert one is not None and other is not None and one.cell != other.cell
    rtts = [flow["rtt"] for flow in network.scenario(reno, cubic, sets).resolved["flows"]]
    assert rtts == (["80 ms", "40 ms"] if group in ("first", "0") else ["40 ms", "80 ms"])
    (alone,) = network.scenario(None, cubic, sets).resolved["flows"]
    assert alone["rtt"] == rtts[1]


def test_one_replicate_shows_no_significance() -> None:
    networks = ["0.25-bdp-40-ms", "start-1-bdp"]
    found = ackclock.coexist("bbr1", grid="full", networks=networks, replicates=1, sets=SHORT)
    # Each of four opponents, in both directions.
    assert len(found.pairs) == 16
    assert {each.judgement for each in found.pairs} == {""} and found.worst[0].excess.mean > 0.2
    assert sentences(found) == ["One replicate shows no significant difference. Use --replicates 2 or more."]


def test_a_failing_algorithm_leaves_the_other_pairs(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "import ackclock\n\n\nclass Bad(ackclock.CongestionControl):\n"
        "    def on_ack(self, ack):\n        raise ValueError('no such state')\n"
    )
    candidate = f"{tmp_path / 'bad.py'}:Bad"
    found = ackclock.coexist(
        "cubic", "reno", candidate, networks=["0.25-bdp-40-ms"], replicates=1, sets=SHORT
    )
    assert {(each.first, each.second) for each in found.pairs} == {("cubic", "reno"), ("reno", "cubic")}
    assert len(found.failed) == 4 and all("no such state" in each.message for each in found.failed)


def test_the_command_writes_a_report_and_data(tmp_path: Path) -> None:
    words = ("coexist", "cubic", "bbr1", "--networks", "0.25-bdp-40-ms,fq-codel-40-ms", "--quick")
    sets = [word for change in SHORT for word in ("--set", change)]
    answer = cli(*words, *sets, "--out", "out", cwd=tmp_path)
    assert "fq-codel" not in answer.stdout and "bbr1 against cubic" in answer.stdout, answer.stdout
    assert "20 runs" in answer.stderr
    data = json.loads((tmp_path / "out/coexist.json").read_text())
    assert len(data["pairs"]) == 4 and data["replicates"] == 2
    page = (tmp_path / "out/coexist.html").read_text()
    cell = data["pairs"][0]["cell"]
    assert f"ackclock run --from out {cell}" in page
    # The same figures from the store, and one run again.
    again = cli(*words, *sets, "--out", "out", "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["pairs"] == data["pairs"]
    assert "20 of them stored" in again.stderr
    assert cli("run", "--from", "out", cell, cwd=tmp_path).code == 0


def test_a_plot_needs_depths(tmp_path: Path) -> None:
    words = ("coexist", "cubic", "reno", "--networks", "0.25-bdp-40-ms", "--quick", "--plot", "a.svg")
    sets = [word for change in SHORT for word in ("--set", change)]
    answer = cli(*words, *sets, cwd=tmp_path)
    assert answer.code == 2 and "Use --grid full" in answer.stderr
    # The mistake is named before the first run.
    assert "runs" not in answer.stderr and not (tmp_path / "ackclock-out").exists()


def test_the_model_is_silent_in_a_changed_network() -> None:
    options = {"grid": "six", "networks": ["1-bdp-40-ms"], "replicates": 1}
    for sets, is_told in ((SHORT, True), ((*SHORT, "topology.rate=10 Mbit/s"), False)):
        found = ackclock.coexist("bbr1", "cubic", sets=sets, **options)  # type: ignore[arg-type]
        pair = found.find(found.networks[0], "bbr1", "cubic")
        assert pair is not None and (found.model_share(pair) is not None) is is_told
