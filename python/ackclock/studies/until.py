"""Stopping rules: as many replicates as an interval needs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.errors import InputError
from ackclock.metrics.declared import Metric
from ackclock.metrics.shares import NAMES, metric_named
from ackclock.statistics.estimates import Estimate, estimate
from ackclock.text.suggest import hint

#: Fewer replicates decide nothing.
FIRST = 10
#: Looked at after so many more.
STEP = 5
#: The most replicates where nothing else is said.
DEFAULT_MOST = 100

_FORM = re.compile(r"(share\([^()]*\)|[\w-]+)\s*(?:\+-|±|\+/-)\s*(\d+\.?\d*|\.\d+)\s*(.*)")
_POINTS = "points"


@dataclass(frozen=True)
class Until:
    """Replicates go on until the interval of a metric is at most this wide to each side."""

    text: str
    metric: Metric
    #: A share of the mean, or a distance in the unit of the metric's key.
    width: float
    relative: bool

    @classmethod
    def parse(cls, text: str) -> Until:
        """Read `METRIC +- NUMBER %`, or a number in the metric's own unit. Raises `InputError`."""
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise InputError(f"{text!r}: expected METRIC +- NUMBER UNIT, as in 'goodput +- 1 %'")
        name, number, unit = found[1], float(found[2]), found[3].strip()
        metric = metric_named(name)
        if metric is None:
            raise InputError(f"{text!r}: no metric is called {name!r}; {hint(name, NAMES)}")
        if not number > 0:
            raise InputError(f"{text!r}: the width of the interval must be above zero")
        if unit == "%":
            return cls(text.strip(), metric, number / 100, relative=True)
        own = _POINTS if metric.unit == "%" else metric.unit
        if unit != own:
            expected = f"% of the mean, or {own}" if own else "% of the mean, or a number alone"
            raise InputError(f"{text!r}: the unit of {metric.name} must be {expected}")
        return cls(text.strip(), metric, number / metric.factor, relative=False)

    def enough(self, values: Sequence[float]) -> int | None:
        """Return how many of the values, in the order of replicates, suffice; nothing if more are needed.

        The answer depends on nothing but the values of that prefix: 10 of them, or 15, 20 and so on.
        """
        for count in range(FIRST, len(values) + 1, STEP):
            if self._narrow(estimate(values[:count])):
                return count
        return None

    def needed(self, values: Sequence[float]) -> int:
        """Estimate how many replicates the rule takes, from the interval of those that exist.

        The half-width of an interval falls with the square root of the number of replicates.
        """
        found = estimate(values)
        width = self.width * (abs(found.mean) if self.relative else 1.0)
        if found.half_width is None or width == 0:
            return FIRST
        count = len(values) * (found.half_width / width) ** 2
        return FIRST + STEP * max(0, math.ceil((count - FIRST) / STEP))

    def _narrow(self, found: Estimate) -> bool:
        half = found.half_width
        return half is not None and half <= self.width * (abs(found.mean) if self.relative else 1.0)
