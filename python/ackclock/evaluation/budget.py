"""The budget of a search or a race."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ackclock.errors import ArgumentValueError

_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*(runs?|s|min|h)?")
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Budget:
    """A number of runs, or of seconds. The user of a budget defines the second."""

    text: str
    runs: int | None = None
    time_s: float | None = None

    @classmethod
    def parse(cls, given: str | int) -> Budget:
        """Read `2000`, `2000 runs`, `90 s`, `10 min` or `2 h`. Raises `InputError`."""
        text = str(given)
        found = _FORM.fullmatch(text.strip())
        if found is None or float(found[1]) == 0:
            raise ArgumentValueError(
                "budget", f"{text!r}: expected a number of runs, or a time such as '10 min'"
            )
        number, unit = found.groups()
        if unit in _SECONDS:
            return cls(text.strip(), time_s=float(number) * _SECONDS[unit])
        if "." in number:
            raise ArgumentValueError(
                "budget", f"{text!r}: a number of runs is an integer, and a time needs a unit: s, min or h"
            )
        return cls(text.strip(), runs=int(number))

    @property
    def amount(self) -> float:
        """The number of runs or seconds."""
        amount = self.runs if self.time_s is None else self.time_s
        assert amount is not None, "a budget is of runs or of seconds"
        return float(amount)

    def shown(self, amount: float) -> str:
        """Return an amount with the unit of the budget, rounded up."""
        return f"{math.ceil(amount)} {'runs' if self.time_s is None else 's'}"

    def allows(self, runs: int, elapsed_s: float) -> bool:
        """Return whether the budget covers so many runs, or so much time."""
        if self.time_s is not None:
            return elapsed_s < self.time_s
        return self.runs is not None and runs <= self.runs
