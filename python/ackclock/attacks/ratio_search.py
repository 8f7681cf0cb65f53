"""The search for capacities with the worst ratio of a linear control, with the optimiser of attacks.

It solves the problem of `ackclock.synchronous.adversary` without its dynamic programming. The distance
between both shows how close an attack comes to a known worst case.
"""

from __future__ import annotations

import itertools
import math

import numpy

from ackclock.attacks.evolution import Evolution
from ackclock.synchronous.adversary import Capacities, Control, Floats, Indices, Run

#: Pieces of the capacities that occur once, and those that repeat after them, of one start after the other.
_PIECES = ((5, 1), (3, 4), (4, 3), (3, 6), (4, 4), (10, 1))
#: Sequences in the first generation of a start.
_FIRST = 64
#: Generations without a better ratio, after which a search ends.
_PATIENCE = 60
#: The first step of the search around the best sequence of a start.
_FINE = 0.05


def searched(control: Control, capacities: Capacities, rounds: int, budget: int, seed: int) -> Run:
    """Return the run with the least ratio among about `budget` sequences of capacities.

    A sequence has a few pieces, and the last ones repeat. In each piece the capacity moves towards a goal, as
    far as its bounds allow. The coordinates of the search are the lengths and the goals of the pieces. The
    best sequence of each start is then searched again without repetition.
    """
    search = _Search(control, capacities, rounds)
    for number, (once, repeated) in enumerate(itertools.cycle(_PIECES)):
        if search.spent >= budget:
            break
        coarse = Evolution(2 * (once + repeated), f"{seed} {number}", _FIRST)
        goals = search.least(coarse, repeated, budget)
        if search.spent < budget:
            start = search.places(goals)
            search.least(Evolution(len(start), f"{seed} {number} fine", 0, start, _FINE), 1, budget)
    return control.run(search.best)


class _Search:
    """The sequences that were tried, and the best one."""

    def __init__(self, control: Control, capacities: Capacities, rounds: int) -> None:
        self._control, self._capacities, self._rounds = control, capacities, rounds
        self._values = numpy.array(capacities.values)
        self._ratio = math.inf
        #: The capacities with the least ratio, in segments.
        self.best: list[float] = []
        #: The number of sequences.
        self.spent = 0

    def least(self, evolution: Evolution, repeated: int, budget: int) -> Indices:
        """Run generations until none is better, and return the goals of the best sequence."""
        least, best, since = math.inf, numpy.array([], dtype=int), 0
        while not self.spent or (self.spent < budget and since < _PATIENCE and not evolution.converged):
            goals = self._goals(numpy.array(evolution.ask()), repeated)
            rows = self._followed(goals)
            ratios = self._control.ratios(rows)
            evolution.tell([-float(ratio) for ratio in ratios])
            at = int(ratios.argmin())
            self.spent, since = self.spent + len(rows), since + 1
            if ratios[at] < least:
                least, best, since = float(ratios[at]), goals[at], 0
            if ratios[at] < self._ratio:
                self._ratio, self.best = float(ratios[at]), rows[at].tolist()
        return best

    def places(self, goals: Indices) -> list[float]:
        """Return the point of the unit cube with these goals, in pieces without repetition."""
        pieces = [(goal, len(list(same))) for goal, same in itertools.groupby(goals.tolist())]
        lengths = [math.log(length) / math.log(self._rounds) for _, length in pieces]
        return [*lengths, *(goal / (len(self._values) - 1) for goal, _ in pieces)]

    def _goals(self, places: Floats, repeated: int) -> Indices:
        """Return the index of the capacity that each round trip aims at: shape (points, rounds - 1)."""
        pieces = places.shape[1] // 2
        # Short pieces are as likely as long ones.
        lengths = numpy.rint(self._rounds ** places[:, :pieces]).astype(int)
        goals = numpy.rint(places[:, pieces:] * (len(self._values) - 1)).astype(int)
        again = itertools.islice(itertools.cycle(range(pieces - repeated, pieces)), self._rounds)
        order = [*range(pieces), *again]
        rows = zip(goals, lengths, strict=True)
        return numpy.stack([goal[order].repeat(length[order])[: self._rounds - 1] for goal, length in rows])

    def _followed(self, goals: Indices) -> Floats:
        """Return the capacities that move towards goals, in segments: shape (points, rounds)."""
        at = numpy.full(len(goals), len(self._values) - 1)
        columns = [at]
        for goal in goals.T:
            at = numpy.clip(goal, at - self._capacities.fall, at + self._capacities.rise)
            columns.append(at)
        rows: Floats = self._values[numpy.stack(columns, axis=1)]
        return rows
