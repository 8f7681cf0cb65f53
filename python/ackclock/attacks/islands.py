"""The search in a family of networks."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock.attacks.evolution import Evolution
from ackclock.attacks.families import Family, Values, ordered
from ackclock.attacks.networks import Network, Trial


class Island:
    """Yields generations of networks of some families, and receives their trials.

    The first generation fills the ranges evenly. It has as many networks as `first`. The same seed gives the
    same networks, on any number of workers.
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
        self._every = ordered((*self.families, *context))
        #: The trial with the largest regret so far.
        self.worst: Trial | None = None
        self._axes = [setting.axis for family in self.families for setting in family.settings]
        self.name = "+".join(family.name for family in self.families)
        self._evolution = Evolution(
            len(self._axes),
            f"{seed} {self.name}",
            first,
            None if start is None else [axis.place(start[axis.name]) for axis in self._axes],
        )

    @property
    def converged(self) -> bool:
        """Whether further steps would be too small to matter."""
        return self._evolution.converged

    def ask(self) -> list[Network]:
        """Return the next generation."""
        return [self._network(place) for place in self._evolution.ask()]

    def tell(self, trials: Sequence[Trial]) -> None:
        """Take the trials of the generation. The search maximises their regret."""
        worst = max(trials, key=lambda trial: trial.regret)
        if self.worst is None or worst.regret > self.worst.regret:
            self.worst = worst
        self._evolution.tell([trial.regret for trial in trials])

    def _network(self, place: Sequence[float]) -> Network:
        values = {axis.name: axis.value(each) for axis, each in zip(self._axes, place, strict=True)}
        return Network.of(self._every, values, self._sets)
