"""`ackclock.gym`: Gymnasium's rules, actions and observations by closed forms, threads, mistakes."""

from __future__ import annotations

import itertools
import math
import re
import statistics
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy
import numpy.typing
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from helpers import ROOT
from pettingzoo.test import parallel_api_test

import gym_steps
from ackclock.errors import AckclockError, ArgumentError, ScenarioError
from ackclock.gym import ACTIONS, OBSERVATION, REWARD, TERMS, FlowEnv, FlowVectorEnv
from ackclock.gym.parallel import ParallelFlowEnv
from ackclock.scenario import Scenario

#: 100 packets of 1500 bytes of bandwidth-delay product; payload of a packet.
BDP, PACKET, PAYLOAD = 100, 1500, 1448
RATE_BPS, RTT_S = 12e6, 0.1


def scenario(**changes: Any) -> dict[str, Any]:
    """A path without losses."""
    tree = {
        "schema": 2,
        "duration": "10 s",
        "topology": {
            "kind": "dumbbell",
            "rate": "12 Mbit/s",
            "delay": "50 ms",
            "queue": {"kind": "drop-tail", "limit": "1000 packets"},
        },
        "flows": [{"name": "test", "cc": "reno"}],
    }
    return {**tree, **changes}


RANDOM = scenario(
    duration="3 s",
    topology={
        "kind": "dumbbell",
        "rate": "4 Mbit/s",
        "delay": "10 ms",
        "loss": {"kind": "bernoulli", "probability": 0.01},
        "queue": {"kind": "drop-tail", "limit": "20 packets"},
    },
    flows=[{"name": "test", "cc": "reno", "count": 2}, {"name": "other", "cc": "cubic"}],
)


def act(*values: float) -> numpy.typing.NDArray[numpy.float32]:
    return numpy.array(values, numpy.float32)


def run(env: FlowEnv, actions: Sequence[float], seed: int = 1) -> list[dict[str, float]]:
    """The observations of an episode with these actions, by name."""
    env.reset(seed=seed)
    names = env._setting.observation
    rows = []
    for action in actions:
        observation, *_ = env.step(act(*[action] * len(env.flows)))
        rows.append(dict(zip(names, map(float, observation), strict=True)))
    return rows


# ---- Gymnasium's rules ----


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("flows", [1, 2])
def test_gymnasium_has_nothing_to_say(action: str, flows: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What is recommended for actions is kept by factors alone, and a BDP is a unit that people know.
        warnings.filterwarnings("ignore", message=".*symmetric and normalized space.*")
        tree = {**RANDOM, "flows": [{"name": "test", "cc": "reno", "count": flows}]}
        env = gymnasium.make("ackclock.gym:ackclock/Flow-v0", scenario=tree, action=action)
        check_env(env.unwrapped)
        assert env.unwrapped.observation_space.shape == ((10,) if flows == 1 else (2, 10))


def test_a_factor_is_within_the_recommended_space() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make("ackclock/Flow-v0", scenario=RANDOM).unwrapped)


def test_an_episode_follows_from_its_seed() -> None:
    one, other = FlowEnv(RANDOM, "test"), FlowEnv(RANDOM, "test")
    draws = numpy.random.default_rng(4)
    actions = draws.uniform(-1, 1, (2, 50, 2)).astype(numpy.float32)

    def episode(env: FlowEnv, number: int, seed: int | None) -> Any:
        first, info = env.reset(seed=seed)
        return info["seed"], [first.tolist(), *(env.step(action)[0].tolist() for action in actions[number])]

    assert episode(one, 0, 7) == episode(other, 0, 7)
    # Without a seed the generator goes on, as it does in the other one.
    second = episode(one, 1, None)
    assert second == episode(other, 1, None)
    assert episode(one, 1, 7)[1] != second[1]
    assert episode(one, 0, 7)[0] != second[0]


def test_a_thousand_resets_come_back() -> None:
    env = FlowEnv(RANDOM)
    env.reset(seed=3)
    seeds = set()
    for number in range(1000):
        observation, info = env.reset()
        assert env.now_s == 0.0 and observation in env.observation_space
        seeds.add(info["seed"])
        if number % 10 == 0:
            env.step(env.action_space.sample())
    assert len(seeds) == 1000


def test_a_step_without_an_episode_says_so() -> None:
    env = FlowEnv(RANDOM, step_s=1.0)
    with pytest.raises(ResetNeeded, match=r"no episode is under way: call reset\(\)"):
        env.step(env.action_space.sample())
    env.reset(seed=1)
    ends = [env.step(env.action_space.sample())[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]
    with pytest.raises(ResetNeeded, match="after an episode has ended"):
        env.step(env.action_space.sample())
    env.reset()
    assert env.step(env.action_space.sample())[2:4] == (False, False)


def test_a_complete_transfer_terminates() -> None:
    flows = [{"name": "test", "cc": "reno", "traffic": {"kind": "transfer", "size": "150 kB"}}]
    env = FlowEnv(scenario(flows=flows), step_s=0.1, action="window")
    env.reset(seed=1)
    ends = [env.step(act(1.0))[2:4] for _ in range(3)]
    # 100 and 4 segments: the last ACK comes after two round trips, and with it the end.
    assert ends[:2] == [(False, False)] * 2 and ends[2] in ((False, False), (True, False))
    while ends[-1] == (False, False):
        ends.append(env.step(act(1.0))[2:4])
    assert ends[-1] == (True, False) and env.now_s < 0.5
    with pytest.raises(ResetNeeded):
        env.step(act(1.0))


def test_the_last_step_ends_with_the_run() -> None:
    env = FlowEnv(scenario(duration="250 ms"), step_s=0.1)
    env.reset(seed=1)
    times = []
    for _ in range(3):
        *_, truncated, _ = env.step(act(0.0))
        times.append((env.now_s, truncated))
    assert times == [(0.1, False), (0.2, False), (0.25, True)]


# ---- what actions do ----


def test_a_window_of_one_product_fills_the_path_and_no_queue() -> None:
    names = [
        "cwnd",
        "cwnd_segments",
        "goodput",
        "goodput_mbps",
        "queue_delay",
        "srtt",
        "srtt_s",
        "backlog",
        "in_flight",
    ]
    last = run(FlowEnv(scenario(), step_s=0.5, action="window", observation=names), [1.0] * 20)[-1]
    assert (
        last["cwnd"] == 1.0
        and last["cwnd_segments"] == BDP
        and last["in_flight"] == pytest.approx(1, abs=0.01)
    )
    # A round trip is longer by two transmissions: of a packet, and of the next one, for which the ACK waits.
    assert last["goodput"] == pytest.approx(PAYLOAD / PACKET * BDP / (BDP + 2), rel=0.005)
    assert last["goodput_mbps"] == pytest.approx(last["goodput"] * RATE_BPS / 1e6)
    assert last["queue_delay"] < 0.02 and last["backlog"] < 0.03
    assert last["srtt"] == pytest.approx(last["srtt_s"] / RTT_S) and 1 < last["srtt"] < 1.03


@pytest.mark.parametrize("window", [2.0, 3.5])
def test_a_larger_window_waits_in_the_queue(window: float) -> None:
    names = ["goodput", "queue_delay", "srtt", "rtt_ratio", "backlog", "send_ratio", "rtt_gradient"]
    last = run(FlowEnv(scenario(), step_s=0.5, action="window", observation=names), [window] * 20)[-1]
    assert last["goodput"] == pytest.approx(PAYLOAD / PACKET, rel=0.001)
    # W packets leave in W times the transmission of one, which is the round trip.
    assert last["srtt"] == pytest.approx(window, rel=0.01)
    assert last["queue_delay"] == pytest.approx(window - 1, rel=0.02) and last["rtt_ratio"] == pytest.approx(
        window, rel=0.02
    )
    assert last["backlog"] == pytest.approx(window - 1, abs=0.02)
    assert last["send_ratio"] == pytest.approx(1, abs=0.01) and abs(last["rtt_gradient"]) < 1e-3


def test_half_a_window_is_half_the_rate() -> None:
    # Pairs of segments share an ACK from the start, so a round trip takes two transmissions more.
    paired = scenario(transport={"window_growth_acks": False})
    env = FlowEnv(paired, step_s=1.0, action="window", observation=["goodput", "send_rate"])
    # A step cuts a flight in two, so that one step has a few packets more than the next.
    last = run(env, [0.5] * 9)[-6:]
    goodput, send_rate = (statistics.fmean(step[name] for step in last) for name in ("goodput", "send_rate"))
    assert goodput == pytest.approx(0.5 * PAYLOAD / PACKET * BDP / (BDP + 2), rel=0.02)
    assert send_rate == pytest.approx(goodput, rel=0.02)


@pytest.mark.parametrize("rate", [0.25, 0.8])
def test_a_rate_is_paced(rate: float) -> None:
    env = FlowEnv(
        scenario(),
        step_s=1.0,
        action="rate",
        observation=["send_rate", "queue_delay", "in_flight", "backlog"],
    )
    rows = run(env, [rate] * 8)
    for row in rows[1:]:
        assert row["send_rate"] == pytest.approx(rate * PAYLOAD / PACKET, rel=0.01)
        assert row["queue_delay"] < 0.05 and row["backlog"] <= 0.02
        assert row["in_flight"] == pytest.approx(rate, rel=0.05, abs=0.03)


def test_a_rate_above_the_bottlenecks_fills_the_queue_as_fast_as_it_should() -> None:
    env = FlowEnv(scenario(), step_s=0.5, action="rate", observation=["backlog"])
    rows = run(env, [1.5] * 4)
    grown = [after["backlog"] - before["backlog"] for before, after in itertools.pairwise(rows[1:])]
    # Half of the rate for half a second is 0.25 products a round trip of 0.1 s: 2.5.
    assert len(grown) == 2
    assert grown == pytest.approx([2.5] * len(grown), rel=0.02)


def test_factors_multiply_within_bounds() -> None:
    env = FlowEnv(scenario(), action="factor", observation=["cwnd_segments"])
    windows = [row["cwnd_segments"] for row in run(env, [0.5, 1, 1, -1, 7, 1, 1, 1, 1, 1, 1])]
    start = 10 * math.sqrt(2)
    expected = [
        start,
        2 * start,
        4 * start,
        2 * start,
        4 * start,
        8 * start,
        16 * start,
        32 * start,
        64 * start,
    ]
    assert windows == pytest.approx([*expected, 1600, 1600], rel=1e-6)
    assert [row["cwnd_segments"] for row in run(env, [-1] * 5)] == [5, 2.5, 1.25, 1, 1]


def test_bounds_of_a_window_on_a_small_path() -> None:
    tree = scenario(topology={"kind": "dumbbell", "rate": "100 kbit/s", "delay": "5 ms"})
    env = FlowEnv(tree, action="factor", observation=["cwnd_segments"])
    assert run(env, [1] * 8)[-1]["cwnd_segments"] == 64
    env = FlowEnv(tree, action="window", observation=["cwnd_segments"])
    assert run(env, [4, -3, 0, 9]) == [{"cwnd_segments": 1.0}] * 4


def test_an_action_takes_effect_in_its_step() -> None:
    # Before its first round trip the connection is not open; then an ACK comes every tenth of a second.
    env = FlowEnv(scenario(), step_s=0.001, action="window", observation=["in_flight"])
    rows = run(env, [*[0.1] * 120, 0.2, 0.2, 0.5, 0.3])
    in_flight = [row["in_flight"] for row in rows]
    assert in_flight[:100] == [0] * 100
    assert in_flight[119:] == pytest.approx([0.1, 0.2, 0.2, 0.5, 0.5])


def test_rewards_are_weighted_sums_of_what_is_observed() -> None:
    weights = {name: float(place + 1) / 7 for place, name in enumerate(TERMS)}
    env = FlowEnv(RANDOM, "test", observation=list(TERMS), reward=weights)
    env.reset(seed=5)
    for _ in range(100):
        observation, reward, *_ = env.step(env.action_space.sample())
        rows = observation.astype(float) @ numpy.array(list(weights.values()))
        assert reward == pytest.approx(rows.mean(), rel=1e-4)
    assert FlowEnv(RANDOM, reward={})._setting.reward == {}


def test_losses_are_seen() -> None:
    names = ["retransmits", "congestion", "timeouts", "marks"]
    rows = run(FlowEnv(RANDOM, "other", action="window", observation=names, step_s=0.1), [4.0] * 30)
    totals = {name: sum(row[name] for row in rows) for name in names}
    assert totals["retransmits"] > 1 and totals["congestion"] > 5 and totals["marks"] == 0
    ecn = {"kind": "codel", "ecn": True}
    tree = scenario(transport={"ecn": "classic"})
    tree["topology"]["queue"] = ecn
    rows = run(FlowEnv(tree, action="window", observation=names, step_s=0.1), [3.0] * 30)
    assert sum(row["marks"] for row in rows) > 5 and sum(row["retransmits"] for row in rows) == 0


def test_logarithm_time_and_bounds() -> None:
    env = FlowEnv(scenario(), step_s=1.0, action="window", observation=["goodput", "log_goodput", "time"])
    first, _ = env.reset(seed=1)
    assert first.tolist() == pytest.approx([0, math.log(1e-3), 0])
    for number, row in enumerate(run(env, [0.7] * 10), 1):
        assert row["log_goodput"] == pytest.approx(math.log(row["goodput"]), rel=1e-5)
        assert row["time"] == pytest.approx(number / 10)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("profile", ["rfc", "linux", "quic"])
def test_anything_may_be_done_and_what_is_seen_is_within_the_space(action: str, profile: str) -> None:
    tree = {**RANDOM, "transport": {"profile": profile}}
    env = FlowEnv(tree, ["test", "other"], action=action, observation=list(TERMS), step_s=0.05)
    env.action_space.seed(1)
    observation, _ = env.reset(seed=1)
    truncated, received = False, 0.0
    while not truncated:
        assert observation in env.observation_space
        observation, reward, _, truncated, _ = env.step(env.action_space.sample())
        assert math.isfinite(reward)
        received += float(observation[:, list(TERMS).index("goodput_mbps")].sum()) * 0.05
    assert 0 < received < 4 * 3


# ---- several flows, other scenarios ----


def test_agents_are_groups_of_flows() -> None:
    assert FlowEnv(RANDOM).flows == ["test.0", "test.1"]
    assert FlowEnv(RANDOM, "other").flows == ["other"]
    assert FlowEnv(RANDOM, ["other", "test"]).flows == ["test.0", "test.1", "other"]


def test_two_windows_share_a_link_in_their_proportion() -> None:
    tree = scenario(flows=[{"name": "test", "cc": "reno", "count": 2}])
    env = FlowEnv(tree, step_s=0.5, action="window", observation=["goodput"])
    env.reset(seed=1)
    rows = [env.step(act(3.0, 1.0))[0][:, 0] for _ in range(20)]
    # Five round trips of 0.4 s take four steps.
    assert numpy.mean(rows[-8:], axis=0) == pytest.approx(
        [0.75 * PAYLOAD / PACKET, 0.25 * PAYLOAD / PACKET], rel=0.02
    )


def test_an_episode_may_change_the_scenario() -> None:
    env = FlowEnv(scenario(), step_s=1.0, action="window", observation=["goodput_mbps"])
    _, info = env.reset(seed=1, options={"sets": ["topology.rate=6 Mbit/s"]})
    assert info["sets"] == ("topology.rate=6 Mbit/s",)
    for _ in range(5):
        observation, *_ = env.step(act(2.0))
    assert observation[0] == pytest.approx(6 * PAYLOAD / PACKET, rel=0.001)
    assert "sets" not in env.reset()[1]
    assert run(env, [2.0] * 5)[-1]["goodput_mbps"] == pytest.approx(12 * PAYLOAD / PACKET, rel=0.001)


def test_paths_are_drawn_with_the_seed() -> None:
    env = FlowEnv(scenario(), vary=lambda random: [f"topology.rate={random.integers(5, 50)} Mbit/s"])
    drawn = [env.reset(seed=1)[1], env.reset()[1], env.reset()[1]]
    assert drawn == [env.reset(seed=1)[1], env.reset()[1], env.reset()[1]]
    assert len({each["sets"] for each in drawn}) > 1


def test_a_scenario_is_given_in_any_form(tiny: Path) -> None:
    for given in (tiny, str(tiny), Scenario.from_file(tiny), Scenario.from_file(tiny).resolved):
        assert FlowEnv(given).flows == ["test.0", "test.1"]


# ---- many at the same time ----


def vary(random: numpy.random.Generator) -> list[str]:
    return [f"topology.rate={random.integers(2, 9)} Mbit/s"]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize(("groups", "workers"), [("other", 1), ("test", 2), ("other", 5)])
def test_many_are_as_many_single_ones(mode: AutoresetMode, groups: str, workers: int) -> None:
    setting: dict[str, Any] = {"scenario": RANDOM, "agents": groups, "step_s": 0.3, "vary": vary}
    ours = FlowVectorEnv(5, **setting, workers=workers, autoreset_mode=mode)
    theirs = SyncVectorEnv([lambda: FlowEnv(**setting)] * 5, autoreset_mode=mode)
    assert ours.action_space == theirs.action_space and ours.observation_space == theirs.observation_space
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.metadata["autoreset_mode"] == mode
    ours.action_space.seed(1)

    def check(one: Any, other: Any) -> None:
        if isinstance(one, dict):
            assert one.keys() == other.keys()
            for key in one:
                check(one[key], other[key])
        elif isinstance(one, tuple):
            for each in zip(one, other, strict=True):
                check(*each)
        else:
            assert one.dtype == other.dtype
            for left, right in zip(one, other, strict=True):
                numpy.testing.assert_array_equal(left, right)

    seeds: Any
    for seeds in (5, [1, 2, 3, 4, 5], None, [1, None, 3, None, 5]):
        check(ours.reset(seed=seeds), theirs.reset(seed=seeds))
        for _ in range(24):
            actions = ours.action_space.sample()
            check(ours.step(actions), theirs.step(actions))


def test_without_automatic_resets_one_says_which_begin_again() -> None:
    envs = FlowVectorEnv(3, RANDOM, step_s=1.0, autoreset_mode="Disabled")
    with pytest.raises(ResetNeeded):
        envs.step(envs.action_space.sample())
    envs.reset(seed=1)
    envs.step(envs.action_space.sample())
    envs.reset(options={"reset_mask": numpy.array([True, False, False])})
    envs.step(envs.action_space.sample())
    *_, truncated, _ = envs.step(envs.action_space.sample())
    assert truncated.tolist() == [False, True, True]
    with pytest.raises(ResetNeeded, match="after an episode has ended"):
        envs.step(envs.action_space.sample())
    _, infos = envs.reset(options={"reset_mask": truncated})
    assert infos["_seed"].tolist() == [False, True, True]
    *_, truncated, _ = envs.step(envs.action_space.sample())
    assert truncated.tolist() == [True, False, False]


def test_what_was_returned_stays_as_it_was() -> None:
    envs = FlowVectorEnv(2, RANDOM)
    first, _ = envs.reset(seed=1)
    kept = first.copy()
    second = envs.step(envs.action_space.sample())[0]
    assert (first == kept).all() and (first != second).any()


def test_it_is_registered() -> None:
    envs = gymnasium.make_vec("ackclock.gym:ackclock/Flow-v0", num_envs=3, scenario=RANDOM)
    assert isinstance(envs.unwrapped, FlowVectorEnv) and envs.num_envs == 3
    envs.reset(seed=1)
    assert envs.step(envs.action_space.sample())[1].shape == (3,)


def test_other_threads_run_while_a_step_does() -> None:
    envs = FlowVectorEnv(2, scenario(duration="1000 s"), step_s=20.0, action="window", workers=2)
    envs.reset(seed=1)
    actions = numpy.ones((2, 1), numpy.float32)
    count, stop = [0], threading.Event()

    def work() -> None:
        while not stop.is_set():
            count[0] += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    other = threading.Thread(target=work)
    try:
        # Nobody is asked to give up the lock: it is free only where it is released.
        sys.setswitchinterval(1000)
        other.start()
        for _ in range(18):
            before = count[0]
            envs._episodes.step(actions, envs._observations, envs._rewards)
            if counted := count[0] - before:
                break
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        other.join()
    assert counted > 0


# ---- PettingZoo ----


def test_pettingzoo_has_nothing_to_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(ParallelFlowEnv(RANDOM, step_s=0.1), num_cycles=100)


def test_agents_see_the_rows_of_the_joint_environment() -> None:
    joint, parallel = FlowEnv(RANDOM), ParallelFlowEnv(RANDOM)
    rows, info = joint.reset(seed=3)
    seen, infos = parallel.reset(seed=3)
    assert parallel.agents == ["test.0", "test.1"] and infos == {"test.0": info, "test.1": info}
    assert (numpy.stack(list(seen.values())) == rows).all()
    for _ in range(20):
        actions = joint.action_space.sample()
        rows, reward, *_ = joint.step(actions)
        found = parallel.step({"test.0": actions[:1], "test.1": actions[1:]})
        assert (numpy.stack(list(found[0].values())) == rows).all()
        assert sum(found[1].values()) / 2 == pytest.approx(reward)
    with pytest.raises(ArgumentError, match=r"actions: has none for test\.1"):
        parallel.step({"test.0": actions[:1]})


def test_after_the_end_there_are_no_agents() -> None:
    env = ParallelFlowEnv(RANDOM, step_s=2.0)
    with pytest.raises(ResetNeeded):
        env.step({})
    env.reset(seed=1)
    zeros = {name: numpy.zeros(1, numpy.float32) for name in env.agents}
    assert not any(env.step(zeros)[3].values()) and env.agents
    assert all(env.step(zeros)[3].values()) and not env.agents
    with pytest.raises(ResetNeeded, match="after an episode has ended"):
        env.step(zeros)


# ---- mistakes ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"agents": "tset"}, "agents: has 'tset', which does not exist; did you mean 'test'?"),
        ({"agents": []}, "agents: is empty; there are the flows test, other"),
        ({"agents": 3}, "agents: is 3, but must be a list of texts, as in ['test']"),
        ({"action": "windows"}, "action: has 'windows', which does not exist; did you mean 'window'?"),
        ({"step_s": 0}, "step_s: is 0, but must be seconds from 1e-9 to 1e6, as in 0.01"),
        ({"step_s": math.nan}, "step_s: is nan, but must be seconds from 1e-9 to 1e6, as in 0.01"),
        ({"step_s": "10 ms"}, "step_s: is '10 ms', but must be seconds, as in 0.01"),
        ({"observation": []}, "observation: is empty; ackclock.gym.TERMS has what can be observed"),
        ({"observation": ["rtt"]}, "observation: has 'rtt', which does not exist; did you mean 'srtt'?"),
        ({"observation": "srtt"}, "observation: is 'srtt', but must be a list of texts, as in ['srtt']"),
        ({"reward": {"goodptu": 1}}, "reward: has 'goodptu', which does not exist; did you mean 'goodput'?"),
        (
            {"reward": {"goodput": math.inf}},
            "reward: has the weight inf for goodput; it must be a finite number",
        ),
        ({"reward": ["goodput"]}, "reward: must be a dict of weights by name, as in {'goodput': 1.0}"),
        ({"vary": ["a=b"]}, "vary: must be a function that returns a list of KEY=VALUE texts"),
    ],
)
def test_mistakes_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        FlowEnv(RANDOM, **arguments)
    assert str(error.value) == message


def test_code_from_outside_is_steered_but_not_run_beside_agents() -> None:
    flows = [
        {"name": "test", "cc": "reno"},
        {"name": "own", "cc": f"{ROOT / 'examples' / 'own' / 'gentle.py'}"},
    ]
    with pytest.raises(
        ArgumentError, match=r"scenario: cannot be steered: flows\.own\.cc is a class, a shared object"
    ):
        FlowEnv(scenario(flows=flows))
    assert FlowEnv(scenario(flows=flows[1:])).flows == ["own"]


def test_mistakes_in_changes_of_a_scenario() -> None:
    env = FlowEnv(RANDOM)
    with pytest.raises(ScenarioError, match=r"sets: topology\.rat=1"):
        env.reset(options={"sets": ["topology.rat=1"]})
    with pytest.raises(ArgumentError, match="other flows than at first"):
        env.reset(options={"sets": ["flows.test.count=3"]})
    # The episode before is gone, and nothing hangs.
    env.reset(seed=1)
    env.step(env.action_space.sample())


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ([0.0], "action: has 1 numbers, but must have 2"),
        ([0.0, math.nan], "action: has a number that is not finite"),
    ],
)
def test_actions_that_are_none(action: list[float], message: str) -> None:
    env = FlowEnv(RANDOM)
    env.reset(seed=1)
    with pytest.raises(ArgumentError, match=re.escape(message)):
        env.step(act(*action))
    assert env.now_s == 0.0
    env.step(act(0.0, 0.0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs: is 0, but must be a whole number"),
        ({"workers": 0}, "workers: is 0, but must be a whole number"),
        (
            {"autoreset_mode": "never"},
            "autoreset_mode: is 'never', but must be one of NextStep, SameStep, Disabled",
        ),
    ],
)
def test_mistakes_about_many(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(AckclockError, match=re.escape(message)):
        FlowVectorEnv(**{"num_envs": 2, "scenario": RANDOM, **arguments})


def test_seeds_and_masks_of_many_are_counted() -> None:
    envs = FlowVectorEnv(2, RANDOM)
    with pytest.raises(ArgumentError, match="seed: has 3 seeds, but must have 2"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(ArgumentError, match="reset_mask: must have 2 truth values"):
        envs.reset(options={"reset_mask": numpy.ones(3, bool)})


@pytest.mark.parametrize(
    ("package", "module"),
    [("gymnasium", "ackclock.gym"), ("pettingzoo", "ackclock.gym.parallel")],
)
def test_a_missing_package_is_named(package: str, module: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    last = done.stderr.strip().splitlines()[-1]
    wanted = f"{module} needs the package {package}: python -m pip install {package}"
    assert done.returncode == 1 and last == f"ImportError: {wanted}"
    assert "During handling" not in done.stderr


# ---- what is documented ----


def test_defaults_are_ten_numbers_that_there_are() -> None:
    assert len(OBSERVATION) == 10 and set(OBSERVATION) <= set(TERMS) and set(REWARD) <= set(TERMS)
    assert all(
        term.low < term.high and term.unit and term.meaning for term in (*TERMS.values(), *ACTIONS.values())
    )


def test_the_example_learns_a_gain() -> None:
    example = ROOT / "examples" / "learn_gain.py"
    done = subprocess.run(
        [sys.executable, example, "--rounds", "2"],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rounds = re.findall(r"^round \d: gain (\S+), reward (\S+)$", done.stdout, re.MULTILINE)
    unseen = [
        float(reward)
        for reward in re.findall(r"^unseen paths: gain \S+, reward (\S+)$", done.stdout, re.MULTILINE)
    ]
    assert len(rounds) == 2 and len(unseen) == 3
    # The learned gain is better than the smallest and the largest one on paths that the search did not see.
    least, learned, most = unseen
    assert learned > least + 0.02 and learned > most + 0.02


def test_the_bench_prints_what_it_measures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["gym_steps.py", "--steps", "2000", "--rounds", "1"])
    gym_steps.main()
    printed = capsys.readouterr().out
    assert re.search(r"^1 +[\d,]+ +[\d,]+ +[\d,]+$", printed, re.MULTILINE)
    assert re.search(r"^16 +[\d,]+ +[\d,]+ +[\d,]+$", printed, re.MULTILINE)
