"""Means and intervals against numbers worked out by hand and printed tables."""

from __future__ import annotations

import math

import pytest

from ackclock.statistics.estimates import estimate, paired_difference, resolved_estimate, student_t_quantile


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (19, 2.093), (30, 2.042), (120, 1.980)],
)
def test_quantiles_are_those_of_the_tables(degrees: int, quantile: float) -> None:
    """Two-sided 95 %, as printed in every textbook, to three digits."""
    assert student_t_quantile(degrees) == pytest.approx(quantile, abs=6e-4)


def test_quantiles_at_other_confidences() -> None:
    assert student_t_quantile(4, 0.99) == pytest.approx(4.604, abs=6e-4)
    assert student_t_quantile(10, 0.90) == pytest.approx(1.812, abs=6e-4)
    # With one degree of freedom the distribution is Cauchy's: t = tan(pi/2 x confidence).
    assert student_t_quantile(1, 0.5) == pytest.approx(1.0, rel=1e-9)


def test_an_interval_by_hand() -> None:
    # Mean 3, variance (4 + 1 + 0 + 1 + 4) / 4 = 2.5, standard error sqrt(2.5 / 5) = 0.70711, t(4) = 2.77645.
    value = estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    assert value.mean == 3.0
    assert value.count == 5
    assert value.half_width == pytest.approx(2.776445 * math.sqrt(0.5), rel=1e-6)
    assert value.low == pytest.approx(3 - 1.963243, rel=1e-6)
    assert value.high == pytest.approx(3 + 1.963243, rel=1e-6)
    assert value.excludes_zero
    assert not estimate([-1.0, 1.0, 2.0]).excludes_zero


def test_an_interval_is_as_wide_as_the_resolution() -> None:
    value = resolved_estimate([20.0, 20.0, 20.0], 0.01)
    assert (value.mean, value.count) == (20.0, 3)
    assert value.low == pytest.approx(19.9) and value.high == pytest.approx(20.1)
    # A wider interval stays as it is, and one value has none.
    assert resolved_estimate([1.0, 2.0, 3.0], 0.01).half_width == estimate([1.0, 2.0, 3.0]).half_width
    assert resolved_estimate([20.0], 0.01).half_width is None
    assert resolved_estimate([20.0, 20.0], 0.0).half_width == 0


def test_one_value_has_no_interval() -> None:
    value = estimate([2.5])
    assert (value.mean, value.half_width, value.low, value.high) == (2.5, None, None, None)


def test_equal_values_have_an_interval_of_no_width() -> None:
    value = estimate([0.1] * 5)
    assert value.mean == pytest.approx(0.1)
    assert value.half_width == pytest.approx(0.0, abs=1e-15)
    assert not estimate([0.0] * 5).excludes_zero


def test_no_values_have_no_mean() -> None:
    with pytest.raises(ValueError, match="no values"):
        estimate([])


def test_pairs_take_the_common_luck_away() -> None:
    luck = [0.0, 10.0, 20.0, 30.0]
    ours, theirs = [x + 1.1 for x in luck], [x + 0.1 for x in luck]
    paired = paired_difference(ours, theirs)
    assert paired.mean == pytest.approx(1.0)
    assert paired.half_width == pytest.approx(0.0, abs=1e-12)
    assert paired.excludes_zero
    # By hand: differences 1, 2, 3: mean 2, standard error 1 / sqrt(3), t(2) = 4.302653.
    by_hand = paired_difference([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    assert by_hand.half_width == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)


def test_pairs_of_different_length_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="equal numbers of replicates"):
        paired_difference([1.0, 2.0], [1.0])
