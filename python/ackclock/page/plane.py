"""Algorithms in the plane of throughput and delay."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Spot:
    """An algorithm in the plane, with means and half intervals."""

    name: str
    delay: float
    throughput: float
    delay_half: float
    throughput_half: float
    #: The correlation of the two over replicates.
    correlation: float
    #: The class in the style sheet.
    kind: str = ""


def ellipse(across: float, up: float, correlation: float) -> tuple[float, float, float]:
    """Return the half axes and the angle, in degrees, of the ellipse that fits a box of these half sides.

    It is a line of equal density of the normal distribution with that correlation.
    """
    covariance = correlation * across * up
    middle, reach = (across**2 + up**2) / 2, math.hypot((across**2 - up**2) / 2, covariance)
    angle = math.degrees(math.atan2(2 * covariance, across**2 - up**2)) / 2
    return math.sqrt(middle + reach), math.sqrt(max(0.0, middle - reach)), angle
