"""The search in a unit cube: points that fill it evenly first, then CMA-ES from the best one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ackclock.errors import InputError

if TYPE_CHECKING:
    import numpy
    from cmaes import CMA

    Place = numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]

_STEP = 0.2
#: A start keeps so far away from the ends of a range.
_MARGIN = 0.02


class Evolution:
    """Yields generations of points of the unit cube, and receives a value for each. It maximises the value.

    The first generation fills the cube evenly (Latin hypercube), with `first` points. A `start` replaces it.
    The same `name` gives the same points. `step` is the first step of CMA-ES, as a part of each range.
    """

    def __init__(
        self,
        dimensions: int,
        name: str,
        first: int,
        start: Sequence[float] | None = None,
        step: float = _STEP,
    ) -> None:
        self._dimensions, self._step, self._random = dimensions, step, random.Random(name)
        self._seed = self._random.randrange(2**32)
        self._optimiser: CMA | None = None
        self._places: list[Place] = []
        self._first = self._spread(first)
        if start is not None:
            self._begin(start)

    @property
    def converged(self) -> bool:
        """Whether further steps would be too small to matter."""
        return self._optimiser is not None and bool(self._optimiser.should_stop())

    def ask(self) -> list[list[float]]:
        """Return the next generation."""
        if self._optimiser is None:
            return self._first
        self._places = [self._optimiser.ask() for _ in range(self._optimiser.population_size)]
        return [list(place) for place in self._places]

    def tell(self, values: Sequence[float]) -> None:
        """Take the values of the generation."""
        if self._optimiser is None:
            self._begin(self._first[max(range(len(values)), key=values.__getitem__)])
            return
        self._optimiser.tell([(place, -value) for place, value in zip(self._places, values, strict=True)])

    def _spread(self, count: int) -> list[list[float]]:
        columns = []
        for _ in range(self._dimensions):
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
            sigma=self._step,
            bounds=numpy.array([[0.0, 1.0]] * self._dimensions),
            seed=self._seed,
        )
