"""`ackclock attack`: families, shrinking, finds, determinism, the kept suite, bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars
import pytest
from helpers import cli, require_kernel

import ackclock
from ackclock.attacks import Attack, attack
from ackclock.attacks.explanation import explained, moment_of
from ackclock.attacks.families import (
    ADDITIVE,
    FAMILIES,
    LEAST_CAPACITY,
    MOST_CROSS,
    Family,
    context_of,
    families_of,
    tree_of,
)
from ackclock.attacks.finds import Find, described, grouped, signature
from ackclock.attacks.keeping import keep
from ackclock.attacks.nearest import nearest
from ackclock.attacks.networks import Behaviour, Network, Range, Trial, require_searchable
from ackclock.attacks.objectives import MOST, NAMES, objective_of
from ackclock.attacks.shrinking import shrunk
from ackclock.errors import InputError, RunError
from ackclock.evaluation import evaluate
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.suite import Suite
from ackclock.files.documents import read_toml
from ackclock.running.backend import chosen
from ackclock.running.store import Store
from ackclock.scenario import Scenario
from ackclock.statistics.estimates import estimate
from known_attacks import CASES, searched

BY_NAME = {family.name: family for family in FAMILIES}
FINE = Behaviour(0, 3, 0.001, 0.95, 0.001, 0.04, 1.0)
SMALL: dict[str, Any] = {"families": ["path"], "budget": 120, "checks": 2, "against": ["vegas"], "seed": 3}


def trial(network: Network, regret: float, behaviour: Behaviour | None = FINE, failure: str = "") -> Trial:
    return Trial(network, (regret,), {"cubic": (0.0,)}, (regret,), behaviour, failure)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Attack:
    return attack("cubic", **SMALL, out=tmp_path_factory.mktemp("attack"))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("end", ["low", "high"])
def test_the_bounds_of_a_family_are_networks(family: Family, end: str) -> None:
    values = {setting.name: getattr(setting.axis, end) for setting in family.settings}
    scenario = Scenario.from_dict(tree_of([family], values))
    assert scenario.resolved["topology"]["kind"] == "dumbbell"
    # Each single setting is also a network, and so is the network without settings.
    for name, value in values.items():
        Scenario.from_dict(tree_of([family], {name: value}))
    Scenario.from_dict(tree_of([family], {}))
    assert nearest(Network.of([family], values)).distance > 0


def test_cross_traffic_stays_within_its_share() -> None:
    family = BY_NAME["bursts"]
    for rate in (20.0, 100.0, 300.0):
        values = {"period": 0.7, "load": MOST_CROSS, "burst-rate": rate}
        on_off = tree_of([family], values)["flows"][1]["traffic"]
        on, off = (float(on_off[key].split()[0]) for key in ("on", "off"))
        mean = float(on_off["rate"].split()[0]) / 20 * on / (on + off)
        assert 100 * mean <= MOST_CROSS * 1.01 and on + off == pytest.approx(0.7, rel=0.01)


def test_capacities_move_within_the_bounds_of_karp() -> None:
    additive = {f"change-{each}": -ADDITIVE for each in range(1, 7)}
    rates = tree_of([BY_NAME["additive"]], additive)["topology"]["varies"]["rates"]
    shares = [float(rate.split()[0]) / 20 for rate in rates]
    assert shares == pytest.approx([1, 0.7, 0.4, LEAST_CAPACITY] + [LEAST_CAPACITY] * 3)
    factors = {"factor-2": 0.5, "factor-4": 2.0}
    rates = tree_of([BY_NAME["multiplicative"]], factors)["topology"]["varies"]["rates"]
    assert [float(rate.split()[0]) / 20 for rate in rates] == [1, 1, 0.5, 0.5, 1, 1, 1]


@pytest.mark.parametrize(("family", "setting"), [("late", "late-rtt"), ("competitors", "competitor-rtt")])
def test_flows_share_a_long_path(family: str, setting: str) -> None:
    """The flow under test has the RTT of the path. Other flows may have a shorter one."""
    families = [BY_NAME["path"], BY_NAME[family]]
    for values, rtts_s in (({}, [0.3, 0.3]), ({setting: 10.0}, [0.3, 0.01])):
        scenario = Scenario.from_dict(tree_of(families, {"rtt": 300.0, **values}))
        found = [flow["base_rtt_s"] for flow in scenario.describe()["flows"]]
        assert found == pytest.approx(rtts_s, rel=0.06)


def test_losses_are_placed_by_their_gaps() -> None:
    loss = tree_of([BY_NAME["losses"]], {"gap-1": 10, "gap-3": 1})["topology"]["loss"]
    assert loss == {"kind": "scripted", "packets": [10, 11]}


@pytest.mark.parametrize("objective", NAMES)
def test_each_objective_has_its_flows(objective: str) -> None:
    network = Network(context_of(objective), ())
    groups = [flow["name"] for flow in network.tree["flows"]]
    assert groups[1:] == {"fairness": ["test-late"], "share": ["competitor"]}.get(objective, [])
    assert families_of((), objective)


def test_regret_is_the_distance_from_the_best_reference() -> None:
    utilisation = objective_of("utilisation")
    assert utilisation.cost({"efficiency": -60.0}) == -60
    assert utilisation.regret(-60, [-90, -95]) == 35
    completion = objective_of("completion-time")
    assert completion.regret(3.0, [1.0, 2.0]) == 200 and completion.regret(300, [1.0]) == MOST
    score = objective_of("score")
    assert score.cost({"efficiency": -90, "loss_rate": 2, "delay_score": -40, "goodput": 7}) == pytest.approx(
        -128 / 3
    )


def test_shrinking_removes_what_does_not_matter() -> None:
    """Only the buffer matters, and from 5 BDP on."""
    first = Network.of(
        [BY_NAME["path"], BY_NAME["acks"]], {"rate": 33.3, "rtt": 41.7, "buffer": 7.31, "ack-loss": 12.3}
    )
    runs = []

    def run(network: Network) -> Trial:
        runs.append(network)
        return trial(network, 20.0 if network.values.get("buffer", 1) >= 5 else 1.0)

    small, tried = shrunk(trial(first, 20.0), run, 60)
    assert small.network.values == {"buffer": 7.0} and small.network.duration_s == 4
    assert tried == len(runs) <= 20
    # Nothing is run without a budget.
    assert shrunk(trial(first, 20.0), run, 0) == (trial(first, 20.0), 0)


def test_a_network_that_is_no_scenario_is_not_smaller() -> None:
    """The run must not end before the second flow starts."""
    first = Network.of([BY_NAME["late"]], {"late-start": 9.0})

    def run(network: Network) -> Trial | None:
        return None if network.duration_s <= 9 else trial(network, 20.0 if network.settings else 1.0)

    small, _ = shrunk(trial(first, 20.0), run, 60)
    assert small.network.values == {"late-start": 9.0} and 9 < small.network.duration_s <= 12


def test_the_text_of_a_network_names_defaults() -> None:
    network = Network.of([BY_NAME["bursts"]], {"load": 30.0})
    assert network.text == (
        "bursts of cross traffic every 1 s, cross traffic of 30 % of the rate on average "
        "and bursts at 100 % of the rate"
    )
    assert Network.of([BY_NAME["path"]], {"buffer": 2.0}).text == "a buffer of 2 BDP"
    assert Network.of([BY_NAME["delay"]], {"jitter": 50.0}).text == "jitter of 50 ms"
    assert Network((BY_NAME["bursts"],), ()).text == "no change"


def test_a_failed_run_shrinks_to_the_same_failure() -> None:
    first = Network.of([BY_NAME["path"]], {"rate": 50.0, "buffer": 0.5})

    def run(network: Network) -> Trial:
        failure = "divides by zero" if "rate" in network.values else "something else"
        return trial(network, MOST, None, failure)

    small, _ = shrunk(trial(first, MOST, None, "divides by zero"), run, 40)
    assert small.network.values == {"rate": 50.0} and small.failure == "divides by zero"


def test_networks_with_the_same_behaviour_are_one_find() -> None:
    networks = [Network.of([BY_NAME["path"]], {"buffer": each}) for each in (1.0, 2.0, 3.0)]
    timeouts = replace(FINE, timeouts=4)
    trials = [trial(networks[0], 9), trial(networks[1], 8), trial(networks[2], 7, timeouts)]
    assert grouped(trials, 2.0, 5) == [(trials[0], 2), (trials[2], 1)]
    assert grouped(trials, 8.5, 5) == [(trials[0], 1)] and grouped(trials, 2.0, 1) == [(trials[0], 2)]
    assert signature(timeouts) != signature(FINE) == (False,) * 5


@pytest.mark.parametrize(
    ("regrets", "confirmed"), [((9.0, 11.0, 10.0), True), ((-9.0, 20.0, 10.0), False), ((2.0, 2.1), False)]
)
def test_fresh_seeds_refute_chance(regrets: tuple[float, ...], confirmed: bool) -> None:
    network = Network.of([BY_NAME["path"]], {"buffer": 4.0})
    first = trial(network, 10.0)
    find = Find(first, first, replace(first, regrets=regrets), estimate(regrets), 1)
    assert find.is_confirmed is confirmed


def test_the_behaviour_counts_the_capacity_that_datagrams_leave() -> None:
    network = Network.of([BY_NAME["bursts"]], {"load": 20.0, "burst-rate": 20.0})
    run = ackclock.run(network.scenario(Candidate.parse("cubic")))
    found = Behaviour.of(json.dumps(run.document))
    assert 0.9 < found.efficiency < 1.02 and found.share == 1
    assert found.base_rtt_s == pytest.approx(0.04, rel=0.06)
    assert described(replace(FINE, timeouts=1)) == "1 retransmission timeout"


def test_a_deep_buffer_is_found_for_cubic(found: Attack) -> None:
    assert found.runs <= SMALL["budget"] and found.confirmed
    worst = found.confirmed[0]
    assert worst.regret.mean > found.base.regret + 2
    assert len(worst.shrunk.network.settings) <= 2 and "buffer" in worst.shrunk.network.values
    assert worst.shrunk.regret >= 0.8 * worst.found.regret * 0.8
    (explanation, *_) = found.explanations
    assert explanation.drawing is not None and len(explanation.drawing.panels) == 4
    assert "queueing delay" in explanation.text and explanation.nearest.suite


def test_an_attack_is_the_same_on_any_number_of_workers(found: Attack, tmp_path: Path) -> None:
    def shown(one: Attack) -> Any:
        return [(each.shrunk.network.settings, each.regret.mean) for each in one.finds], one.runs

    one = attack("cubic", **SMALL, workers=1, out=tmp_path)
    assert shown(one) == shown(found)
    # The same command continues from the stored runs.
    assert shown(attack("cubic", **SMALL, workers=1, out=tmp_path)) == shown(found)


def test_the_moment_is_the_start_of_the_largest_loss() -> None:
    """One flow of 1 MB/s, and one that stops between 6 and 9 s and after 11 s of 12 s."""
    times = [each / 10 for each in range(121)]
    gone = [min(max(time - 6, 0), 3) + max(time - 11, 0) for time in times]
    frames = [
        polars.DataFrame(
            {
                "time_ns": [int(1e9 * time) for time in times],
                "flow": label,
                "delivered_bytes": [
                    int(1e6 * (time - off * lost)) for time, lost in zip(times, gone, strict=True)
                ],
            }
        )
        for label, off in (("ours", 1), ("theirs", 0))
    ]
    assert moment_of(polars.concat(frames), "ours", "theirs", 12.0) == pytest.approx(6.0, abs=0.4)
    assert moment_of(polars.concat(frames), "theirs", "ours", 12.0) is None


def test_curves_leave_out_what_a_short_run_cannot_have(tmp_path: Path) -> None:
    """A second flow cannot start after the end of the run."""
    network = replace(Network.of([BY_NAME["late"]], {"late-start": 5.0}), duration_s=8.0)
    with Store(tmp_path) as store:
        cubic, reno = (Candidate.parse(each) for each in ("cubic", "reno"))
        field = Range(cubic, [reno], objective_of("fairness"), store, None, 1, lambda done, total: None)
        first = field.run([network], 1)[0]
        explanation = explained(Find(first, first, first, estimate([1.0, 2.0]), 1), field, 1, 40)
    (curve,) = explanation.sensitivity
    assert 5.0 in curve.values and max(curve.values) < 8 and len(curve.values) == len(curve.regrets) >= 3


def test_the_kernel_confirms_the_jitter_of_vegas() -> None:
    require_kernel()
    backend = chosen("kernel")
    network = Network.of([BY_NAME["delay"]], {"jitter": 50.0})
    network = replace(network, duration_s=8.0)
    vegas, cubic, bbr3 = (Candidate.parse(each) for each in ("vegas", "cubic", "bbr3"))
    with Store() as store:

        def there(candidate: Candidate, *references: Candidate) -> Trial:
            field = Range(candidate, references, objective_of("utilisation"), store, None, 1, lambda *_: None)
            return field.there(network, 1, backend)

        # Linux 6.12 has no BBRv3, so it is left out.
        found = there(vegas, cubic, bbr3)
        assert set(found.references) == {"cubic"} and found.regret > 30 and not found.failure
        assert "bbr3" in there(bbr3, cubic).failure
    first = replace(found, regrets=(60.0,))
    find = Find(first, first, first, estimate([60.0, 61.0]), 1, found)
    assert find.is_there and not replace(find, there=replace(found, regrets=(20.0,))).is_there


def test_kept_finds_are_a_suite(found: Attack, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    ids = keep(found, folder)
    assert len(ids) == len(found.confirmed)
    suite = Suite.load(str(folder))
    assert [each.id for each in suite.environments] == list(ids) and suite.version == 1
    assert (folder / f"{ids[0]}.toml").read_text().startswith("# How does it cope with ")
    # The same finds again add nothing, also for another algorithm.
    assert (
        keep(found, folder) == keep(replace(found, candidate=Candidate.parse("reno")), folder) == ()
        and read_toml(folder / "suite.toml")["version"] == 1
    )
    assert evaluate("vegas", suite=str(folder), replicates=1).board.suite.name == "mine"
    (tmp_path / "other").mkdir()
    (tmp_path / "other/suite.toml").write_text(
        (folder / "suite.toml").read_text().replace("test = ", "test_ = ")
    )
    with pytest.raises(InputError):
        keep(found, tmp_path / "other")


def test_the_command_writes_report_data_and_scenarios(tmp_path: Path) -> None:
    args = ("--family", "path", "--budget", "120", "--checks", "2", "--against", "vegas", "--seed", "3")
    answer = cli("attack", "cubic", *args, "--out", tmp_path / "out", "--keep", tmp_path / "kept", "--json")
    assert answer.code == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert document == json.loads((tmp_path / "out/attack.json").read_text())
    assert document["finds"][0]["confirmed"] and document["finds"][0]["best"] == "vegas"
    page = (tmp_path / "out/report.html").read_text()
    assert "The worst networks for cubic" in page and "Effect of each setting" in page
    assert cli("run", tmp_path / "out/find-1.toml").code == 0
    assert "kept: " in answer.stderr and (tmp_path / "kept/suite.toml").is_file()


def test_changes_apply_to_every_network(tmp_path: Path) -> None:
    args = ("--family", "path", "--budget", "120", "--checks", "2", "--against", "vegas", "--seed", "3")
    answer = cli("attack", "cubic", *args, "--set", "transport.profile=rfc", "--out", tmp_path)
    assert answer.code == 0, answer.stderr
    assert read_toml(tmp_path / "find-1.toml")["transport"]["profile"] == "rfc"
    wrong = cli("attack", "cubic", *args, "--set", "transport.profil=rfc", "--out", tmp_path)
    assert wrong.code == 2 and "did you mean" in wrong.stderr


@pytest.mark.parametrize("objective", NAMES)
def test_a_change_that_leaves_the_search_free_is_accepted(objective: str) -> None:
    families, context = families_of((), objective), context_of(objective)
    require_searchable(families, context, ["transport.profile=rfc", "flows.test.ecn=off"])
    others = [family for family in families if family.name != "path"]
    require_searchable(others, context, ["topology.queue.limit=2 BDP"])


def test_jitter_starves_vegas() -> None:
    """A short run of `tools/evidence/known_attacks.py`: Arun et al. (2022)."""
    find, runs, _ = searched(CASES["vegas-jitter"], 1, 600)
    assert find is not None and runs <= 600
    assert find.shrunk.network.values["jitter"] >= 10 and find.regret.low is not None and find.regret.low > 40


def test_an_algorithm_that_fails_is_a_find(tmp_path: Path) -> None:
    """The rule divides by zero once its window reaches 200 segments, which needs a large BDP."""
    rule = "rule grow = 1 / max(0, 200 - w); cut = w / 2"
    found = attack(rule, families=["path"], budget=400, checks=2, against=["vegas"], out=tmp_path)
    worst = found.finds[0]
    assert worst.is_confirmed and "divides by zero" in worst.found.failure and worst.found.regret == MOST
    assert found.explanations[0].drawing is None
    with pytest.raises(RunError, match=r"fails in the network without changes: .*divides by zero"):
        attack(rule.replace("200", "20"), families=["path"], budget=400, checks=2, against=["vegas"])


def test_an_algorithm_with_random_numbers_of_its_own_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import random\nimport ackclock\n\nclass Mine(ackclock.CongestionControl):\n"
        "    def on_congestion(self, congestion):\n"
        "        self.cwnd = self.ssthresh = max(2, self.cwnd * random.random())\n"
    )
    found = attack(
        f"{tmp_path / 'mine.py'}:Mine", families=["codel"], budget=100, checks=2, against=["vegas"]
    )
    assert found.is_unstable


def test_the_backend_of_confirmations_is_checked_before_any_run() -> None:
    with pytest.raises(InputError, match="backend: is 'ns-3', but must be one of"):
        attack("cubic", families=["path"], confirm="ns-3")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--budget", "0"), "expected a number of runs"),
        (("--budget", "10"), "is too small; use "),
        (("--family", "pth"), "did you mean 'path'?"),
        (("--family", "path,path"), "path: is given twice"),
        (("--family", "path", "--objective", "share"), "needs the flows of the family competitors"),
        (("--against", "cubic"), "cubic cannot be its own reference"),
        (("--objective", "speed"), "speed"),
        (("--checks", "1"), "1"),
        (("--kernel", "6.12"), "--kernel needs --confirm kernel"),
        (("--set", "flows.test.cc=bbr3"), "change the algorithm of the flows 'test' under test"),
        (("--set", "topology.rate=5 Mbit/s"), "undo rate of the family path, which the search varies"),
        (("--set", "duration=9 s"), "undo the duration, which the search varies"),
        (("--set", "seed=7"), "seed: reaches nothing: all runs have the seed of --seed"),
    ],
)
def test_bad_input(tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    answer = cli("attack", "cubic", *args, "--out", tmp_path / "out")
    assert answer.code == 2 and message in answer.stderr and "Traceback" not in answer.stderr
