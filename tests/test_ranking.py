"""Scores and differences by hand, and how often the best candidate is lost."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from ackclock.errors import ArgumentValueError
from ackclock.evaluation.ranking import ALPHA, SHARES, Measure, Objective, Scored, difference, require_metric
from ackclock.evaluation.suite import Environment, Suite, Watch
from ackclock.statistics.estimates import estimate, student_t_quantile

TIME = Watch(metric="completion-time", group="short", label="time", better="lower", unit="s")
SUITE = Suite(
    "hand",
    1,
    "By hand",
    3,
    ("test",),
    ("aimd",),
    (
        Environment("shared", "Shared", "?", Path("none.toml"), (), True, None),
        Environment("short", "Short", "?", Path("none.toml"), (), False, TIME),
    ),
)
BEST = {
    "efficiency": {"shared": -90.0, "short": -80.0},
    "loss_rate": {"shared": 1.0, "short": 2.0},
    "queue_delay": {"shared": 10.0, "short": 5.0},
    "jain_index": {"shared": -1.0},
    "goodput": {"shared": -9.0, "short": -8.0},
    "watch": {"short": 4.0},
}
COSTS = {
    "shared": {
        "efficiency": [-87.0, -84.0],
        "loss_rate": [1.0, 4.0],
        "queue_delay": [12.0, 16.0],
        "jain_index": [-0.97, -0.94],
        "goodput": [-4.5, -9.0],
    },
    # Nothing is random here: one replicate.
    "short": {
        "efficiency": [-79.0],
        "loss_rate": [2.0],
        "queue_delay": [6.0],
        "goodput": [-8.0],
        "watch": [5.0],
    },
}


def test_the_score_is_the_mean_share_that_is_lost() -> None:
    """In `shared` (3 + 0 + 3) / 3 and (6 + 3 + 6) / 3 per cent; in `short` (1 + 0 + 25) / 3."""
    scored = Scored.of(COSTS, Measure(Objective.of(SUITE, SHARES, BEST, {}), BEST))
    assert scored.values == pytest.approx([(2 + 26 / 3) / 2, (5 + 26 / 3) / 2])
    assert scored.value.mean == pytest.approx((3.5 + 26 / 3) / 2)
    assert scored.by_environment == pytest.approx({"shared": 3.5 / 2, "short": 26 / 6})
    assert scored.worst == "short"


@pytest.mark.parametrize(
    ("metric", "values"),
    [
        ("efficiency", [(3 + 1) / 2, (6 + 1) / 2]),
        ("queue_delay", [(2 + 1) / 2, (6 + 1) / 2]),
        ("jain_index", [0.03, 0.06]),
        ("goodput", [(0.5 + 0) / 2, 0.0]),
        ("watch", [0.25]),
    ],
)
def test_a_score_of_one_metric_is_its_mean_regret(metric: str, values: list[float]) -> None:
    assert Scored.of(COSTS, Measure(Objective.of(SUITE, metric, BEST, {}), BEST)).values == pytest.approx(
        values
    )


def test_a_metric_must_be_there() -> None:
    with pytest.raises(ArgumentValueError, match="did you mean 'efficiency'"):
        require_metric(SUITE, "eficiency")
    alone = Suite("hand", 1, "By hand", 3, ("test",), ("aimd",), SUITE.environments[:1])
    with pytest.raises(ArgumentValueError, match="no environment of suite hand has watch"):
        require_metric(alone, "watch")


def test_the_bound_is_that_of_a_one_sided_interval() -> None:
    ours, theirs = [3.0, 5.0, 4.0, 8.0], [1.0, 2.0, 3.0, 4.0]
    found = difference(ours, theirs, "aimd", 0.025, exact=False)
    two_sided = estimate([a - b for a, b in zip(ours, theirs, strict=True)])
    assert found.mean == 2.5
    assert found.low == pytest.approx(two_sided.low)
    # Student's one-sided quantile at 1 % with 3 degrees of freedom, from tables: 4.541.
    assert student_t_quantile(3, 0.98) == pytest.approx(4.541, abs=5e-4)
    assert found.is_clear and not difference(ours, theirs, "aimd", 0.01, exact=False).is_clear


def test_one_replicate_says_something_only_if_nothing_is_random() -> None:
    assert not difference([2.0], [1.0], "aimd", 0.05, exact=False).is_clear
    assert difference([2.0], [1.0], "aimd", 0.05, exact=True).is_clear
    assert not difference([1.0], [1.0], "aimd", 0.05, exact=True).is_clear


def test_what_is_not_random_stands_for_every_replicate() -> None:
    assert difference([5.0], [1.0, 2.0, 3.0], "aimd", 0.05, exact=False).mean == 3.0


def test_the_best_is_hardly_ever_lost() -> None:
    """Ten candidates, of which the first is best by a little, over looks at 4, 8 and 16 replicates.

    Each replicate moves all of them together, and each of them a little. The share of races that lose the
    best is at most ALPHA; the level without correction would lose it in many more.
    """
    lost, uncorrected, races, others = 0, 0, 400, 9
    generator = random.Random(7)
    for _ in range(races):
        together = [generator.gauss(0, 3) for _ in range(16)]
        scores = [
            [0.01 * (number > 0) + shift + generator.gauss(0, 1) for shift in together]
            for number in range(others + 1)
        ]
        found = [_loses_first(scores, spend) for spend in (True, False)]
        lost, uncorrected = lost + found[0], uncorrected + found[1]
    assert lost / races <= ALPHA
    assert uncorrected / races > 3 * ALPHA


def _loses_first(scores: list[list[float]], correct: bool) -> bool:
    for look, count in enumerate((4, 8, 16), 1):
        means = [math.fsum(row[:count]) for row in scores]
        leader = means.index(min(means))
        alpha = ALPHA / (look * (look + 1)) / (len(scores) - 1) if correct else ALPHA
        if leader and difference(scores[0][:count], scores[leader][:count], "", alpha, exact=False).is_clear:
            return True
    return False
