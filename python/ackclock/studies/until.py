"""Stopping rules, which add replicates until an interval is narrow enough."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ackclock.errors import InputError
from ackclock.metrics.declared import Metric
from ackclock.statistics.estimates import Estimate, resolved_estimate
from ackclock.studies.named import named

#: The smallest number of replicates before a decision.
FIRST = 10
#: The number of replicates between two decisions.
STEP = 5
#: The default limit of replicates.
DEFAULT_MOST = 100

_FORM = re.compile(r"(share\([^()]*\)|[\w-]+)\s*(?:\+-|±|\+/-)\s*(\d+\.?\d*|\.\d+)\s*(.*)")
_POINTS = "points"


@dataclass(frozen=True)
class Until:
    """Adds replicates until half of a metric's interval is at most this wide."""

    text: str
    metric: Metric
    #: The half width, as a share of the mean or in the unit of the metric's key.
    width: float
    relative: bool

    @classmethod
    def parse(cls, text: str) -> Until:
        """Read `METRIC +- NUMBER %`, or a number in the metric's own unit. Raises `InputError`."""
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise InputError(f"{text!r}: expected METRIC +- NUMBER UNIT, as in 'goodput +- 1 %'")
        name, number, unit = found[1], float(found[2]), found[3].strip()
        try:
            metric = named(name)
        except InputError as error:
            raise InputError(f"{text!r}: {error}") from None
        if not number > 0:
            raise InputError(f"{text!r}: the width of the interval must be above zero")
        least = metric.resolution / 2
        if unit == "%" and number / 100 < least:
            raise InputError(
                f"{text!r}: {metric.name} comes from a histogram whose bins are wider; "
                f"write {100 * least:g} % or more"
            )
        if unit == "%":
            return cls(text.strip(), metric, number / 100, relative=True)
        own = _POINTS if metric.unit == "%" else metric.unit
        if unit != own:
            expected = f"% of the mean, or {own}" if own else "% of the mean, or a number alone"
            raise InputError(f"{text!r}: the unit of {metric.name} must be {expected}")
        return cls(text.strip(), metric, number / metric.factor, relative=False)

    def enough(self, values: Sequence[float]) -> int | None:
        """Return the number of replicates that suffice, or None if more are needed.

        The answer depends only on a prefix of 10, 15, 20 or more values.
        """
        for count in range(FIRST, len(values) + 1, STEP):
            if self._narrow(resolved_estimate(values[:count], self.metric.resolution)):
                return count
        return None

    def needed(self, values: Sequence[float]) -> int | None:
        """Estimate the required number of replicates from the current interval.

        The half-width of an interval falls with the square root of the number of replicates. None if the
        bins of the metric's histogram are too wide for any number.
        """
        found = resolved_estimate(values, self.metric.resolution)
        width = self.width * (abs(found.mean) if self.relative else 1.0)
        if width < self.metric.resolution / 2 * abs(found.mean):
            return None
        if found.half_width is None or width == 0:
            return FIRST
        count = len(values) * (found.half_width / width) ** 2
        return FIRST + STEP * max(0, math.ceil((count - FIRST) / STEP))

    def _narrow(self, found: Estimate) -> bool:
        half = found.half_width
        return half is not None and half <= self.width * (abs(found.mean) if self.relative else 1.0)
