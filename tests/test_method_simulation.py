"""A short run of `tools/evidence/method_simulation.py`: intervals, verdicts and races."""

from __future__ import annotations

import random
from statistics import fmean, variance

import pytest

import method_simulation as method
from method_simulation import Counts, Found


def found(part: str, noise: str, tables: int) -> dict[str, Found]:
    """The figures of one part of the simulation."""
    counts = Counts(noise)
    for seed in range(1, 1 + tables):
        getattr(method, part)(counts, noise, seed)
    return {each.figure: each for each in counts.found()}


@pytest.mark.parametrize("noise", method.NOISES)
def test_each_noise_has_a_mean_of_zero_and_a_variance_of_one(noise: str) -> None:
    draw = random.Random(3)
    values = [method.NOISES[noise](draw) for _ in range(200_000)]
    assert fmean(values) == pytest.approx(0, abs=0.01)
    # Three degrees of freedom have no fourth moment, so this variance converges slowly.
    assert variance(values) == pytest.approx(1, abs=0.15 if noise == "heavy" else 0.03)


def test_equal_algorithms_are_hardly_marked_and_intervals_contain_the_truth() -> None:
    figures = found("of_equals", "normal", 5)
    assert 3 <= figures["equal algorithms: marked cells"].percent <= 7
    assert figures["equal algorithms: verdicts with a difference"].percent == 0
    assert figures["intervals of means"].percent >= 93
    assert figures["intervals of the total"].percent >= 85
    assert figures["intervals of the worst case"].percent >= 90


def test_a_known_difference_is_found_in_its_direction() -> None:
    figures = found("of_different", "heavy", 2)
    assert figures["one deviation better: marked better"].percent > 60
    assert figures["one deviation better: marked worse"].percent == 0
    assert figures["one deviation better: better by score"].percent == 100


def test_competitors_at_the_limit_are_rarely_called_starved() -> None:
    figures = found("of_starved", "normal", 10)
    assert figures["shares at the limit: starved in any environment"].percent <= 10


def test_a_race_of_equals_drops_none_and_keeps_the_best() -> None:
    figures = found("of_race", "skewed", 3)
    assert figures["race of equals: any called worse"].percent == 0
    assert figures["race: the best called worse"].percent == 0


def test_a_figure_outside_its_bounds_is_named() -> None:
    counts = Counts("normal")
    for trial in range(40):
        counts.add("a figure", trial % 4 == 0, high=5.0)
        counts.add("another", trial % 20 == 0, high=5.0)
    figures = {each.figure: each for each in counts.found()}
    assert (figures["a figure"].percent, figures["a figure"].is_sound) == (25, False)
    assert (figures["another"].trials, figures["another"].is_sound) == (40, True)
