"""Stopping rules: a decision on a prefix, whatever lies behind it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.errors import InputError
from ackclock.statistics.estimates import estimate
from ackclock.studies.until import Until

GOODPUT = Until.parse("goodput +- 1 %")


def test_the_forms_of_a_rule() -> None:
    assert (GOODPUT.metric.key, GOODPUT.width, GOODPUT.relative) == ("goodput_bps", 0.01, True)
    delay = Until.parse("queue-delay-mean ± 0.5 ms")
    assert (delay.metric.key, delay.width, delay.relative) == ("queue_delay_mean_s", 0.0005, False)
    points = Until.parse("utilization +- 2 points")
    assert (points.width, points.relative) == (0.02, False)
    assert Until.parse("jain_index +- .01").width == 0.01


def test_ten_replicates_are_the_least_and_five_a_step() -> None:
    steady = [1e6] * 9
    assert GOODPUT.enough(steady) is None
    assert GOODPUT.enough([*steady, 1e6]) == 10
    # A mean of 1 with deviations of 3 % takes about (t * 3)^2 replicates for 1 %.
    wide = [1e6 * (1 + (0.03 if number % 2 else -0.03)) for number in range(100)]
    count = GOODPUT.enough(wide)
    assert count is not None and count % 5 == 0 and 30 <= count <= 60
    assert GOODPUT.enough(wide[: count - 1]) is None


@given(st.lists(st.floats(0.9, 1.1), min_size=10, max_size=40), st.lists(st.floats(0.1, 9), max_size=10))
def test_the_decision_depends_on_the_prefix_alone(values: list[float], more: list[float]) -> None:
    count = GOODPUT.enough(values)
    if count is not None:
        assert GOODPUT.enough(values + more) == count
        half = estimate(values[:count]).half_width
        assert half is not None and half <= 0.01 * sum(values[:count]) / count * (1 + 1e-9)


def test_a_mean_of_nothing_is_narrow_only_without_scatter() -> None:
    loss = Until.parse("loss_rate +- 10 %")
    assert loss.enough([0.0] * 10) == 10
    assert loss.enough([0.0] * 9 + [0.1]) is None


def test_replicates_in_one_bin_of_a_histogram_are_as_wide_as_the_bin() -> None:
    delay = Until.parse("queue_delay_p95 +- 0.05 ms")
    assert delay.enough([0.01] * 10) == 10
    # Half of a bin of 1 % exceeds 0.05 ms above 10 ms.
    assert delay.enough([0.0101] * 40) is None
    assert Until.parse("queue_delay_mean +- 0.05 ms").enough([0.0101] * 10) == 10
    with pytest.raises(InputError, match=r"bins are wider; write 0.5 % or more"):
        Until.parse("queue_delay_p95 +- 0.1 %")
    assert Until.parse("queue_delay_p95 +- 0.5 %").enough([0.02] * 10) == 10


@pytest.mark.parametrize("text", ["goodput", "goodput +- 0 %", "goodput +- -1 %", "jain_index +- 1 points"])
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(InputError):
        Until.parse(text)
