"""The worst ratio of a linear control in the synchronous model, when an adversary moves the capacity.

One flow shares the resource with nobody. In each round trip it sends a window `w`, and the capacity is `u`.
`min(w, u)` arrives. Then the control grows, or it cuts if `w > u`. The adversary chooses the next capacity.
An offline optimum knows the capacities and sends `u`. The ratio of a run is the sum of `min(w, u)` over the
sum of `u`.

Windows are multiples of `1 / GRID` segments. On this grid, dynamic programming finds the least ratio exactly.
Windows and capacities are in segments, times in round trips.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy

from ackclock.errors import InputError
from ackclock.synchronous.model import trajectory

Floats = numpy.ndarray[Any, numpy.dtype[numpy.float64]]
Indices = numpy.ndarray[Any, numpy.dtype[numpy.int64]]

#: Windows per segment.
GRID = 16
#: The largest and the least capacity. The first one is the start of capacity and window.
PEAK, LEAST = 80.0, 8.0
#: The steps of additive capacities, in percent of the peak, and of multiplicative ones, per factor of 2.
ADDITIVE_STEP, STEPS_PER_DOUBLING = 2.5, 8
#: The controls whose reaction depends on nothing but the window.
LINEAR = ("aimd", "aiad", "mimd", "miad", "linear")
#: A better ratio differs by more than rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Capacities:
    """The capacities of an adversary, and its moves in a round trip."""

    title: str
    #: Rising, in segments.
    values: tuple[float, ...]
    #: The most steps that a capacity rises and falls in a round trip.
    rise: int
    fall: int

    @classmethod
    def additive(cls, percent: float, *, free_fall: bool = False) -> Capacities:
        """Take the bound of a change, in percent of the peak. With `free_fall` it only limits rises.

        Raises `InputError` for a bound between two steps.
        """
        count = round((PEAK - LEAST) / PEAK * 100 / ADDITIVE_STEP)
        values = tuple(PEAK * (1 - ADDITIVE_STEP / 100 * each) for each in range(count, -1, -1))
        return cls._of(f"by up to {percent:g} % of the peak", values, percent / ADDITIVE_STEP, free_fall)

    @classmethod
    def multiplicative(cls, steps: int, *, free_fall: bool = False) -> Capacities:
        """Take the bound of a change, in steps of a factor 2 ** (1 / 8). `free_fall`: it only limits rises.

        Raises `InputError` for a negative number.
        """
        count = int(numpy.log2(PEAK / LEAST) * STEPS_PER_DOUBLING)
        values = tuple(PEAK * 2 ** (-each / STEPS_PER_DOUBLING) for each in range(count, -1, -1))
        factor = 2 ** (steps / STEPS_PER_DOUBLING)
        return cls._of(f"by a factor of up to {factor:.3g}", values, steps, free_fall)

    @classmethod
    def _of(cls, title: str, values: tuple[float, ...], steps: float, free_fall: bool) -> Capacities:
        rise = round(steps)
        if rise < 0 or abs(rise - steps) > 1e-9:
            raise InputError(f"capacity {title}: the bound must be a whole number of steps of the grid")
        title = f"{title}, falls are free" if free_fall else title
        return cls(title, values, rise, len(values) if free_fall else rise)

    def moves(self, at: int) -> tuple[int, int]:
        """Return the first capacity that may follow a capacity, and the one behind the last."""
        return max(0, at - self.fall), min(len(self.values), at + self.rise + 1)


@dataclass(frozen=True)
class Run:
    """A control against a sequence of capacities. All sequences have one entry per round trip."""

    ratio: float
    capacities: tuple[float, ...]
    windows: tuple[float, ...]

    @classmethod
    def of(cls, windows: Sequence[float], capacities: Sequence[float]) -> Run:
        """Take the windows and the capacities."""
        arrived = sum(map(min, windows, capacities))
        return cls(float(arrived / sum(capacities)), tuple(map(float, capacities)), tuple(windows))


class Control:
    """A linear control on the grid of windows.

    The model's rule reacts, and its window is rounded to the nearest one of the grid. A reaction that
    rounding would undo moves by one window.
    """

    def __init__(self, cc: Mapping[str, Any]) -> None:
        """Take a table with `kind` and parameters. Raises `InputError` unless it is a linear control."""
        if cc.get("kind") not in LINEAR:
            raise InputError(f"{cc.get('kind')!r} is not a linear control; there are: {', '.join(LINEAR)}")
        self.cc = dict(cc)

    @cached_property
    def windows(self) -> Floats:
        """The windows that can follow, rising: shape (windows,), in segments."""
        top = self.exactly(PEAK, 2 * PEAK)
        return numpy.arange(GRID, round(max(top, PEAK) * GRID) + 2) / GRID

    @property
    def start(self) -> int:
        """The index of the first window, which is the peak."""
        return int(numpy.searchsorted(self.windows, PEAK))

    @cached_property
    def reactions(self) -> Indices:
        """The index of the next window: shape (2, windows), for a congested resource in row 1."""
        users = [{"cc": self.cc, "window": float(window)} for window in self.windows]
        load = float(self.windows.sum())
        grown, cut = (
            numpy.array(trajectory(users, x_goal=goal, duration=1.0)["windows"][1])
            for goal in (2 * load, load / 2)
        )
        here, last = numpy.arange(len(users)), len(users) - 1
        up, down = (numpy.rint(windows * GRID).astype(int) - GRID for windows in (grown, cut))
        up = numpy.where((grown > self.windows) & (up <= here), here + 1, up)
        down = numpy.where((cut < self.windows) & (down >= here), here - 1, down)
        return numpy.stack([numpy.minimum(up, last), numpy.clip(down, 0, last)])

    def exactly(self, window: float, capacity: float) -> float:
        """Return the next window without the grid, in segments."""
        users = [{"cc": self.cc, "window": window}]
        following: float = trajectory(users, x_goal=capacity, duration=1.0)["windows"][1][0]
        return following

    def off_the_grid(self, capacities: Sequence[float]) -> Run:
        """Run the model against capacities, without the grid of windows."""
        windows = [PEAK]
        for capacity in capacities[:-1]:
            windows.append(self.exactly(windows[-1], capacity))
        return Run.of(windows, capacities)

    def run(self, capacities: Sequence[float]) -> Run:
        """Run against capacities, on the grid of windows."""
        at, windows = self.start, list[float]()
        for capacity in capacities:
            windows.append(float(self.windows[at]))
            at = int(self.reactions[int(windows[-1] > capacity), at])
        return Run.of(windows, capacities)

    def ratios(self, capacities: Floats) -> Floats:
        """Return the ratio of each row of capacities: shape (rows, rounds) gives shape (rows,)."""
        at = numpy.full(len(capacities), self.start)
        arrived = numpy.zeros(len(capacities))
        for column in capacities.T:
            window = self.windows[at]
            arrived += numpy.minimum(window, column)
            at = self.reactions[(window > column).astype(int), at]
        ratios: Floats = arrived / capacities.sum(axis=1)
        return ratios

    def worst(self, capacities: Capacities, rounds: int) -> Run:
        """Return the run with the least ratio over so many round trips, from the peak on.

        For a guess of the ratio, dynamic programming finds the least sum of `min(w, u) - guess * u`. The
        ratio of that run is the next guess (Dinkelbach 1967). The last guess is the least ratio.
        """
        if rounds < 1:
            raise InputError(f"rounds: {rounds} is not at least 1")
        guess = numpy.inf
        while True:
            # The first guess may be any ratio.
            found = self._best_against(capacities, rounds, min(guess, 1.0))
            if found.ratio >= guess - _ROUNDING:
                return found
            guess = found.ratio

    def _best_against(self, capacities: Capacities, rounds: int, guess: float) -> Run:
        """Return the run with the least sum of `min(w, u) - guess * u`."""
        values = numpy.array(capacities.values)
        # Axes of all tables: capacity, window.
        costs = numpy.minimum(self.windows, values[:, None]) - guess * values[:, None]
        grown, cut = self.reactions
        congested = self.windows > values[:, None]
        moves = [capacities.moves(at) for at in range(len(values))]
        rest = costs
        plans = numpy.zeros((rounds, *costs.shape), dtype=numpy.int16)
        for round_trip in range(rounds - 2, -1, -1):
            after = numpy.empty_like(costs)
            for at, (low, high) in enumerate(moves):
                plan = low + rest[low:high].argmin(axis=0)
                least = rest[plan, numpy.arange(len(plan))]
                after[at] = numpy.where(congested[at], least[cut], least[grown])
                plans[round_trip, at] = numpy.where(congested[at], plan[cut], plan[grown])
            rest = costs + after
        at, window, chosen = len(values) - 1, self.start, list[float]()
        for plan in plans:
            chosen.append(values[at])
            at, window = int(plan[at, window]), int(self.reactions[int(congested[at, window]), window])
        return self.run(chosen)
