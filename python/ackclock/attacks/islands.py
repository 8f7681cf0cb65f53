"""The search in a family: random networks first, then CMA-ES from the worst one for the algorithm."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ackclock.attacks.families import FAMILIES, Family, Values
from ackclock.attacks.networks import Network, Trial
from ackclock.errors import InputError

if TYPE_CHECKING:
    import numpy
    from cmaes import CMA

    Place = numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]

#: The first step of CMA-ES, as a part of each range.
_SIGMA = 0.2
#: A start keeps so far away from the ends of a range.
_MARGIN = 0.02


class Island:
    """Yields generations of networks of some families, and receives their trials.

    The first generation fills the ranges evenly (Latin hypercube). It has as many networks as `first`. The
    same seed gives the same networks, on any number of workers.
    """

    def __init__(
        self,
        families: Sequence[Family],
        context: Sequence[Family],
        seed: int,
        first: int,
        start: Values | None = None,
        sets: Sequence[str] = (),
    ) -> None:
        self.families, self._sets = tuple(families), tuple(sets)
        #: The searched families and those that the objective needs, in the order of `FAMILIES`.
        self._every = tuple(each for each in FAMILIES if each in self.families or each in context)
        #: The trial with the largest regret so far.
        self.worst: Trial | None = None
        self._axes = [setting.axis for family in self.families for setting in family.settings]
        self.name = "+".join(family.name for family in self.families)
        self._random = random.Random(f"{seed} {self.name}")
        self._seed = self._random.randrange(2**32)
        self._optimiser: CMA | None = None
        self._places: list[Place] = []
        self._first = self._spread(first)
        if start is not None:
            self._begin([axis.place(start[axis.name]) for axis in self._axes])

    @property
    def converged(self) -> bool:
        """Whether further steps would be too small to matter."""
        return self._optimiser is not None and bool(self._optimiser.should_stop())

    def ask(self) -> list[Network]:
        """Return the next generation."""
        if self._optimiser is None:
            return [self._network(place) for place in self._first]
        self._places = [self._optimiser.ask() for _ in range(self._optimiser.population_size)]
        return [self._network(list(place)) for place in self._places]

    def tell(self, trials: Sequence[Trial]) -> None:
        """Take the trials of the generation. The search maximises their regret."""
        at = max(range(len(trials)), key=lambda at: trials[at].regret)
        if self.worst is None or trials[at].regret > self.worst.regret:
            self.worst = trials[at]
        if self._optimiser is None:
            self._begin(self._first[at])
            return
        self._optimiser.tell(
            [(place, -trial.regret) for place, trial in zip(self._places, trials, strict=True)]
        )

    def _spread(self, count: int) -> list[list[float]]:
        columns = []
        for _ in self._axes:
            column = [(each + self._random.random()) / count for each in range(count)]
            self._random.shuffle(column)
            columns.append(column)
        return [list(row) for row in zip(*columns, strict=True)]

    def _begin(self, place: Sequence[float]) -> None:
        try:
            import numpy
            from cmaes import CMA
        except ImportError:
            raise InputError(
                "`ackclock attack` needs the package cmaes: python -m pip install cmaes"
            ) from None
        self._optimiser = CMA(
            mean=numpy.array([min(max(each, _MARGIN), 1 - _MARGIN) for each in place]),
            sigma=_SIGMA,
            bounds=numpy.array([[0.0, 1.0]] * len(self._axes)),
            seed=self._seed,
        )

    def _network(self, place: Sequence[float]) -> Network:
        values = {axis.name: axis.value(each) for axis, each in zip(self._axes, place, strict=True)}
        return Network.of(self._every, values, self._sets)
