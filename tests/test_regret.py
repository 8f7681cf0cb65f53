"""Regret and its noise floor, from numbers made by hand and for any numbers."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock.evaluation.regret import RegretBaseline, Scale, noise_floor_of, regrets
from ackclock.evaluation.scoreboard import interval_text
from ackclock.statistics.estimates import Estimate
from method_simulation import NOISES

SCALE = Scale("efficiency", "efficiency %", 2)


def table(count: int) -> RegretBaseline:
    return RegretBaseline("the best within this table", False, tuple(f"cc{index}" for index in range(count)))


def stored(best: dict[str, float]) -> RegretBaseline:
    costs = {name: [value, value + 0.5, value - 0.5] for name, value in best.items()}
    return RegretBaseline(
        "panel version 1",
        True,
        ("aimd", "cubic"),
        best={SCALE.name: best},
        reference_costs={SCALE.name: costs},
    )


def test_regret_by_hand() -> None:
    # Means: 2 and 5 in one, 4 and 3 in two; the best are 2 and 3.
    costs = {"one": [[1.0, 3.0], [5.0, 5.0]], "two": [[4.0, 4.0], [2.0, 4.0]]}
    first, second = regrets(costs, SCALE, table(2))
    assert first.by_environment == {"one": 0.0, "two": 1.0}
    assert second.by_environment == {"one": 3.0, "two": 0.0}
    assert (first.worst_case.mean, first.total.mean, first.mean, first.worst) == (1.0, 1.0, 0.5, "two")
    assert (second.worst_case.mean, second.total.mean, second.mean, second.worst) == (3.0, 3.0, 1.5, "one")


def test_stored_scores_can_be_beaten() -> None:
    costs = {"one": [[1.0, 3.0]], "two": [[4.0, 4.0]]}
    (only,) = regrets(costs, SCALE, stored({"one": 2.5, "two": 4.5}))
    assert (only.worst_case.mean, only.total.mean) == (-0.5, -1.0)


def test_shares_of_the_best_where_units_differ() -> None:
    scale = Scale("watch", "watched metric", 3, frozenset({"seconds"}))
    costs = {"seconds": [[6.0], [4.0]], "share": [[0.25], [0.0]]}
    first, _ = regrets(costs, scale, table(2))
    assert first.by_environment == {"seconds": 0.5, "share": 0.25}
    assert first.noise_floor is None and first.worst_case.low is None


def test_equal_candidates_have_no_regret() -> None:
    values = [1.0, 5.0, 2.0, 4.0]
    for regret in regrets({"one": [values, values], "two": [values, values]}, SCALE, table(2)):
        assert (regret.worst_case.mean, regret.worst_case.low, regret.worst_case.high) == (0.0, 0.0, 0.0)


def test_nothing_random_beside_something_random() -> None:
    (only,) = regrets(
        {"exact": [[3.0]], "random": [[1.0, 2.0, 3.0]]}, SCALE, stored({"exact": 1.0, "random": 2.0})
    )
    assert only.worst_case.mean == 2.0 and only.worst == "exact"
    # The random one ends at 0 + 4.303 / sqrt(3), with two degrees of freedom.
    assert only.worst_case.low == 2.0 and only.worst_case.high == pytest.approx(4.30265 / math.sqrt(3))
    assert only.total.low is not None and only.total.low < 2.0


@pytest.mark.parametrize("noise", ["normal", "heavy"])
@pytest.mark.parametrize(
    "centres",
    # All environments alike is the hardest case for a maximum.
    [[0.0] * 15, [0.1 * index for index in range(15)], [*[0.0] * 14, 5.0]],
    ids=["alike", "rising", "one"],
)
def test_the_interval_of_a_worst_case_holds_the_truth(centres: list[float], noise: str) -> None:
    """The bound is three standard errors of 100 trials below 0.95."""
    generator, draw = random.Random(17), NOISES[noise]
    baseline = stored({str(at): 0.0 for at in range(len(centres))})
    held, trials = 0, 100
    for _ in range(trials):
        rows = [[centre + draw(generator) for _ in range(10)] for centre in centres]
        (only,) = regrets({str(at): [row] for at, row in enumerate(rows)}, SCALE, baseline)
        low, high = only.worst_case.low, only.worst_case.high
        assert low is not None and high is not None
        held += low <= max(centres) <= high
    assert held / trials >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / trials)


cost = st.floats(-100, 100)
replicates = st.lists(cost, min_size=3, max_size=3)


@given(st.lists(replicates, min_size=2, max_size=4), st.data())
@settings(max_examples=15)
def test_a_rival_changes_nothing_against_stored_scores(ours: list[list[float]], data: st.DataObject) -> None:
    names = [f"e{index}" for index in range(len(ours))]
    rival = [data.draw(replicates) for _ in ours]
    baseline = stored({name: data.draw(cost) for name in names})
    alone = regrets({name: [row] for name, row in zip(names, ours, strict=True)}, SCALE, baseline)
    joined = regrets(
        {name: [row, other] for name, row, other in zip(names, ours, rival, strict=True)},
        SCALE,
        baseline,
    )
    assert joined[0] == alone[0]


def test_a_better_rival_changes_the_best_of_the_table() -> None:
    before = regrets({"one": [[2.0, 2.0], [3.0, 3.0]]}, SCALE, table(2))
    after = regrets({"one": [[2.0, 2.0], [3.0, 3.0], [1.0, 1.0]]}, SCALE, table(3))
    assert (before[0].worst_case.mean, after[0].worst_case.mean) == (0.0, 1.0)


def test_the_noise_floor_without_noise_or_without_rivals_is_zero() -> None:
    constant = noise_floor_of({"one": [2.0] * 4, "two": [5.0] * 4}, 17)
    assert (constant.algorithms, constant.worst_case_mean, constant.worst_case_high, constant.total_mean) == (
        18,
        0.0,
        0.0,
        0.0,
    )
    alone = noise_floor_of({"one": [1.0, 2.0, 3.0]}, 0)
    assert (alone.worst_case_mean, alone.worst_case_high) == (0.0, 0.0)


def test_more_equal_algorithms_raise_the_noise_floor() -> None:
    generator = random.Random(3)
    costs = {f"e{index}": [generator.gauss(0, 1) for _ in range(10)] for index in range(5)}
    few, many = noise_floor_of(costs, 2), noise_floor_of(costs, 17)
    assert 0 < few.worst_case_mean < many.worst_case_mean < many.worst_case_high


def test_the_noise_floor_is_what_equal_algorithms_show() -> None:
    """Against tables of 18 algorithms that draw from one distribution, independently, 20 replicates each."""
    generator = random.Random(7)
    environments, count = 15, 20

    def drawn() -> list[float]:
        return [generator.gauss(0, 1) for _ in range(count)]

    noise_floors = [
        noise_floor_of({str(name): drawn() for name in range(environments)}, 17).worst_case_mean
        for _ in range(4)
    ]
    shown = []
    for _ in range(60):
        means = [[math.fsum(drawn()) / count for _ in range(18)] for _ in range(environments)]
        shown.append(max(row[0] - min(row) for row in means))
    assert sum(noise_floors) / len(noise_floors) == pytest.approx(sum(shown) / len(shown), rel=0.12)


def test_figures_with_intervals() -> None:
    assert interval_text(Estimate(1.234, 1.0, 2.0, 5), 1) == "1.2 [1.0, 2.0]"
    assert interval_text(Estimate(-0.001, None, None, 1), 1) == "0.0"
