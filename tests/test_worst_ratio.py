"""The worst ratio of a linear control: exact on a grid, replayed by the model, and found by the search."""

from __future__ import annotations

import itertools

import numpy
import pytest

from ackclock.attacks.ratio_search import searched
from ackclock.errors import InputError
from ackclock.synchronous.adversary import GRID, LEAST, PEAK, Capacities, Control
from ackclock.synchronous.model import trajectory
from worst_ratio import CONTROLS, ROUNDS, WITHIN

ADDITIVE, MULTIPLICATIVE = Capacities.additive(5), Capacities.multiplicative(2)


@pytest.mark.parametrize("kind", CONTROLS)
def test_a_still_capacity_gives_the_efficiency_of_the_control(kind: str) -> None:
    control = Control({"kind": kind})
    still = control.worst(Capacities.additive(0), 400)
    assert set(still.capacities) == {PEAK}
    users = [{"cc": {"kind": kind}, "window": PEAK}]
    loads = trajectory(users, x_goal=PEAK, duration=399.0)["load"]
    assert still.ratio == pytest.approx(sum(min(load, PEAK) for load in loads) / (400 * PEAK), abs=5e-3)


def test_the_efficiency_of_aimd_is_the_closed_form() -> None:
    """With fine steps it is (1 + b) / 2."""
    still = Control({"kind": "aimd"}).worst(Capacities.additive(0), 400)
    assert still.ratio == pytest.approx((1 + 0.5) / 2, abs=5e-3)


@pytest.mark.parametrize("kind", CONTROLS)
def test_larger_bounds_never_raise_the_ratio(kind: str) -> None:
    control = Control({"kind": kind})
    for adversaries in (
        [Capacities.additive(percent) for percent in (0, 2.5, 5, 30)],
        [Capacities.multiplicative(steps) for steps in (0, 1, 2, 8)],
    ):
        ratios = [control.worst(each, 20).ratio for each in adversaries]
        assert ratios == sorted(ratios, reverse=True)
    free = Capacities.additive(5, free_fall=True)
    assert control.worst(free, 20).ratio <= control.worst(ADDITIVE, 20).ratio


@pytest.mark.parametrize("capacities", [ADDITIVE, MULTIPLICATIVE], ids=["additive", "multiplicative"])
def test_every_short_sequence_was_considered(capacities: Capacities) -> None:
    control, rounds = Control({"kind": "aimd"}), 6
    rows = [[len(capacities.values) - 1]]
    for _ in range(rounds - 1):
        rows = [[*row, after] for row in rows for after in range(*capacities.moves(row[-1]))]
    every = control.ratios(numpy.array(capacities.values)[rows])
    assert control.worst(capacities, rounds).ratio == pytest.approx(float(every.min()), abs=1e-12)


@pytest.mark.parametrize("kind", CONTROLS)
def test_the_model_replays_the_worst_run(kind: str) -> None:
    """Round by round, each window is the model's, rounded to the grid."""
    control = Control({"kind": kind})
    worst = control.worst(MULTIPLICATIVE, 30)
    window, arrived = PEAK, 0.0
    for capacity, there in zip(worst.capacities, worst.windows, strict=True):
        assert there == window
        arrived += min(window, capacity)
        after = control.exactly(window, capacity)
        # Rounding never undoes a reaction.
        window = {
            True: max(round(after * GRID), round(window * GRID) + (after > window)),
            False: min(round(after * GRID), round(window * GRID) - (after < window)),
        }[after >= window] / GRID
    assert worst.ratio == arrived / sum(worst.capacities)
    assert worst.ratio == control.run(worst.capacities).ratio


def test_capacities_obey_their_bounds() -> None:
    worst = Control({"kind": "aimd"}).worst(MULTIPLICATIVE, 30)
    factors = [after / before for before, after in itertools.pairwise(worst.capacities)]
    assert max(factors) <= 2**0.25 + 1e-9 and min(factors) >= 2**-0.25 - 1e-9
    assert min(worst.capacities) >= LEAST


def test_windows_off_the_grid_give_a_similar_ratio() -> None:
    control = Control({"kind": "aiad"})
    worst = control.worst(ADDITIVE, 30)
    # The reactions of AIAD(1, 3) are whole segments.
    assert control.off_the_grid(worst.capacities).ratio == pytest.approx(worst.ratio, abs=1e-12)


@pytest.mark.parametrize("kind", CONTROLS)
def test_the_search_comes_close_to_the_worst_ratio(kind: str) -> None:
    control = Control({"kind": kind})
    near = searched(control, MULTIPLICATIVE, ROUNDS, 5000, seed=1)
    worst = control.worst(MULTIPLICATIVE, ROUNDS)
    assert worst.ratio <= near.ratio <= (1 + WITHIN) * worst.ratio
    assert near == searched(control, MULTIPLICATIVE, ROUNDS, 5000, seed=1)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="'cubic' is not a linear control"):
        Control({"kind": "cubic"})
    with pytest.raises(InputError, match="whole number of steps"):
        Capacities.additive(1)
    with pytest.raises(InputError, match="rounds: 0 is not at least 1"):
        Control({"kind": "aimd"}).worst(ADDITIVE, 0)
