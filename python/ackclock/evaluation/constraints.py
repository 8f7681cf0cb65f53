"""The constraints of Reddy et al., section 3.2, under which a linear control keeps its kind.

A control adds and multiplies: `w <- a_I + b_I w` per round trip, and `w <- a_D + b_D w` at congestion. A
large additive part acts like a multiplicative one, and a factor near 1 acts like an additive part. The paper
demands that additive parts change the window by at most about 10 %, and multiplicative parts by more. For its
smallest windows it derives the limits AI <= 3, AD <= 3, MI > 0.1 and MD < 0.9, "approximately".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: The paper's smallest windows in segments, before an increase ("about 12-15") and a cut ("about 25-20").
INCREASE_WINDOW, DECREASE_WINDOW = 12.0, 20.0
#: The share of the window that separates an additive part from a multiplicative part.
_SHARE = 0.1
_MOST_ADDED = _MOST_REMOVED = 3.0
_MOST_REMAINING = 0.9
_DIGITS = 12


@dataclass(frozen=True)
class Linear:
    """The four coefficients of a linear control, for windows in segments."""

    #: `a_I` and `b_I`.
    increase_add: float
    increase_mul: float
    #: `a_D`, at most 0, and `b_D`.
    decrease_add: float
    decrease_mul: float

    @classmethod
    def of(cls, cc: Mapping[str, Any]) -> Linear | None:
        """Return the coefficients of a resolved algorithm, or None if it is not linear."""
        match cc["kind"]:
            case "aimd":
                return cls(cc["increase"], 1.0, 0.0, cc["remaining"])
            case "aiad":
                return cls(cc["increase"], 1.0, -cc["removed"], 1.0)
            case "mimd":
                return cls(0.0, 1.0 + cc["increase"], 0.0, cc["remaining"])
            case "miad":
                return cls(0.0, 1.0 + cc["increase"], -cc["removed"], 1.0)
            case "linear":
                names = ("increase_add", "increase_mul", "decrease_add", "decrease_mul")
                return cls(*(float(cc[name]) for name in names))
            case _:
                return None


@dataclass(frozen=True)
class Constraint:
    """One condition on a control, and whether it holds."""

    #: Such as `AI <= 3`.
    text: str
    #: The value that the limit applies to.
    value: float
    holds: bool
    #: Whether the paper prints this limit. Otherwise it follows from the smallest windows.
    printed: bool


def constraints(
    cc: Mapping[str, Any],
    *,
    increase_window: float = INCREASE_WINDOW,
    decrease_window: float = DECREASE_WINDOW,
) -> tuple[Constraint, ...]:
    """Return the constraints on the parts of a linear control, and none for other algorithms.

    `cc`: kind and all parameters. `increase_window`, `decrease_window`: the smallest windows before an
    increase and a decrease, in segments. The printed limits are looser than 10 %, as 3 segments are 25 % of
    12. The result therefore contains both.
    """
    linear = Linear.of(cc)
    if linear is None:
        return ()
    added, removed = linear.increase_add, -linear.decrease_add
    found = []
    if added > 0:
        found += [
            Constraint(f"AI <= {_MOST_ADDED:g}", added, added <= _MOST_ADDED, True),
            _of_window("AI", added, increase_window),
        ]
    if linear.increase_mul > 1:
        # 1.1 - 1 is not quite 0.1.
        share = round(linear.increase_mul - 1, _DIGITS)
        found.append(Constraint(f"MI > {_SHARE:g}", share, share > _SHARE, True))
    if removed > 0:
        found += [
            Constraint(f"AD <= {_MOST_REMOVED:g}", removed, removed <= _MOST_REMOVED, True),
            _of_window("AD", removed, decrease_window),
        ]
    if linear.decrease_mul < 1:
        remaining = linear.decrease_mul
        found.append(Constraint(f"MD < {_MOST_REMAINING:g}", remaining, remaining < _MOST_REMAINING, True))
    return tuple(found)


def meets_printed(cc: Mapping[str, Any]) -> bool:
    """Return whether a linear control meets the printed limits."""
    return all(constraint.holds for constraint in constraints(cc) if constraint.printed)


def _of_window(part: str, segments: float, window: float) -> Constraint:
    share = round(segments / window, _DIGITS)
    return Constraint(f"{part} <= {100 * _SHARE:g} % of {window:g} segments", share, share <= _SHARE, False)
