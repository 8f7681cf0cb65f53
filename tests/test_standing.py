"""C, D and the null, from numbers made by hand and for any numbers."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock.evaluation.scoreboard import interval_text
from ackclock.evaluation.standing import Scale, Yardstick, null_of, standings
from ackclock.stats import Estimate

SCALE = Scale("efficiency", "efficiency %", 2)


def table(count: int) -> Yardstick:
    return Yardstick("the best within this table", False, tuple(f"cc{index}" for index in range(count)))


def stored(best: dict[str, float]) -> Yardstick:
    luck = {name: [value, value + 0.5, value - 0.5] for name, value in best.items()}
    return Yardstick(
        "panel version 1", True, ("aimd", "cubic"), best={SCALE.name: best}, luck={SCALE.name: luck}
    )


def test_c_and_d_by_hand() -> None:
    # Means: 2 and 5 in one, 4 and 3 in two; the best are 2 and 3.
    harms = {"one": [[1.0, 3.0], [5.0, 5.0]], "two": [[4.0, 4.0], [2.0, 4.0]]}
    first, second = standings(harms, SCALE, table(2))
    assert first.distances == {"one": 0.0, "two": 1.0}
    assert second.distances == {"one": 3.0, "two": 0.0}
    assert (first.c.mean, first.d_sum.mean, first.d_mean, first.worst) == (1.0, 1.0, 0.5, "two")
    assert (second.c.mean, second.d_sum.mean, second.d_mean, second.worst) == (3.0, 3.0, 1.5, "one")


def test_stored_scores_can_be_beaten() -> None:
    harms = {"one": [[1.0, 3.0]], "two": [[4.0, 4.0]]}
    (only,) = standings(harms, SCALE, stored({"one": 2.5, "two": 4.5}))
    assert (only.c.mean, only.d_sum.mean) == (-0.5, -1.0)


def test_shares_of_the_best_where_units_differ() -> None:
    scale = Scale("watch", "own, share", 3, frozenset({"seconds"}))
    harms = {"seconds": [[6.0], [4.0]], "share": [[0.25], [0.0]]}
    first, _ = standings(harms, scale, table(2))
    assert first.distances == {"seconds": 0.5, "share": 0.25}
    assert first.null is None and first.c.low is None


def test_equal_contenders_on_the_same_luck_are_equal() -> None:
    values = [1.0, 5.0, 2.0, 4.0]
    for standing in standings({"one": [values, values], "two": [values, values]}, SCALE, table(2)):
        assert (standing.c.mean, standing.c.low, standing.c.high) == (0.0, 0.0, 0.0)


def test_nothing_random_beside_something_random() -> None:
    (only,) = standings(
        {"exact": [[3.0]], "random": [[1.0, 2.0, 3.0]]}, SCALE, stored({"exact": 1.0, "random": 2.0})
    )
    assert only.c.mean == 2.0 and only.worst == "exact"
    assert (only.c.low, only.c.high) == (2.0, 2.0)
    assert only.d_sum.low is not None and only.d_sum.low < 2.0


harm = st.floats(-100, 100)
replicates = st.lists(harm, min_size=3, max_size=3)


@given(st.lists(replicates, min_size=2, max_size=4), st.data())
@settings(max_examples=15)
def test_a_rival_changes_nothing_against_stored_scores(ours: list[list[float]], data: st.DataObject) -> None:
    names = [f"e{index}" for index in range(len(ours))]
    rival = [data.draw(replicates) for _ in ours]
    yardstick = stored({name: data.draw(harm) for name in names})
    alone = standings({name: [row] for name, row in zip(names, ours, strict=True)}, SCALE, yardstick)
    joined = standings(
        {name: [row, other] for name, row, other in zip(names, ours, rival, strict=True)}, SCALE, yardstick
    )
    assert joined[0] == alone[0]


def test_a_better_rival_changes_the_best_of_the_table() -> None:
    before = standings({"one": [[2.0, 2.0], [3.0, 3.0]]}, SCALE, table(2))
    after = standings({"one": [[2.0, 2.0], [3.0, 3.0], [1.0, 1.0]]}, SCALE, table(3))
    assert (before[0].c.mean, after[0].c.mean) == (0.0, 1.0)


def test_the_null_of_no_luck_and_of_no_rivals_is_zero() -> None:
    constant = null_of({"one": [2.0] * 4, "two": [5.0] * 4}, 17)
    assert (constant.algorithms, constant.c_mean, constant.c_high, constant.d_mean) == (18, 0.0, 0.0, 0.0)
    alone = null_of({"one": [1.0, 2.0, 3.0]}, 0)
    assert (alone.c_mean, alone.c_high) == (0.0, 0.0)


def test_more_equal_algorithms_show_a_larger_c() -> None:
    generator = random.Random(3)
    luck = {f"e{index}": [generator.gauss(0, 1) for _ in range(10)] for index in range(5)}
    few, many = null_of(luck, 2), null_of(luck, 17)
    assert 0 < few.c_mean < many.c_mean < many.c_high


def test_the_null_is_what_equal_algorithms_show() -> None:
    """Against tables of 18 algorithms that draw from one distribution, independently, 20 replicates each."""
    generator = random.Random(7)
    environments, count = 15, 20

    def drawn() -> list[float]:
        return [generator.gauss(0, 1) for _ in range(count)]

    nulls = [null_of({str(name): drawn() for name in range(environments)}, 17).c_mean for _ in range(4)]
    shown = []
    for _ in range(60):
        means = [[math.fsum(drawn()) / count for _ in range(18)] for _ in range(environments)]
        shown.append(max(row[0] - min(row) for row in means))
    assert sum(nulls) / len(nulls) == pytest.approx(sum(shown) / len(shown), rel=0.12)


def test_figures_with_intervals() -> None:
    assert interval_text(Estimate(1.234, 1.0, 2.0, 5), 1) == "1.2 [1.0, 2.0]"
    assert interval_text(Estimate(-0.001, None, None, 1), 1) == "0.0"
