"""The search: CMA-ES in the unit cube, from the default on, the same for the same seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ackclock.errors import InputError
from ackclock.tuning.space import Space

if TYPE_CHECKING:
    import numpy
    from cmaes import CMA

    Place = numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]

#: The first steps, as a part of each range.
_SIGMA = 0.3
#: The start keeps so far away from the ends of a range.
_MARGIN = 0.1
#: The number of draws for one allowed setting. After that, the last draw is used and ranks last.
_DRAWS = 200
#: The value of a setting that is not allowed: a number, as the optimiser compares differences.
_WORST = 1e9

#: Parameters by name.
Values = dict[str, float]


class Search:
    """Yields generations of settings, and receives their regret, worst case and total."""

    def __init__(self, space: Space, seed: int) -> None:
        try:
            import numpy
            from cmaes import CMA
        except ImportError:
            raise InputError("`ackclock tune` needs the package cmaes: python -m pip install cmaes") from None
        self._space = space
        middle = [min(max(place, _MARGIN), 1 - _MARGIN) for place in space.places(space.default)]
        self._optimiser: CMA = CMA(
            mean=numpy.array(middle),
            sigma=_SIGMA,
            bounds=numpy.array([[0.0, 1.0]] * len(middle)),
            seed=seed % 2**32,
        )
        self._places: list[Place] = []

    @property
    def converged(self) -> bool:
        """Whether further steps would be too small to matter."""
        return bool(self._optimiser.should_stop())

    @property
    def population(self) -> int:
        """How many settings a generation has."""
        return int(self._optimiser.population_size)

    def ask(self) -> list[Values]:
        """Return the next generation, in which two settings may be equal."""
        self._places = [self._draw() for _ in range(self.population)]
        return [self._space.values(list(place)) for place in self._places]

    def tell(self, found: Sequence[tuple[float, float] | None]) -> None:
        """Take the worst-case and total regret of each setting, and None for a setting that is not allowed.

        The optimiser uses only the order and keeps the order of equal values, so total regret breaks ties.
        """
        ranked = sorted(
            zip(self._places, found, strict=True), key=lambda entry: (entry[1] is None, entry[1] or ())
        )
        self._optimiser.tell([(place, _WORST if pair is None else pair[0]) for place, pair in ranked])

    def _draw(self) -> Place:
        place: Place = self._optimiser.ask()
        for _ in range(_DRAWS):
            if self._space.allows(self._space.values(list(place))):
                break
            place = self._optimiser.ask()
        return place


def key_of(values: Mapping[str, float]) -> tuple[float, ...]:
    """Return the values that distinguish settings."""
    return tuple(values.values())
