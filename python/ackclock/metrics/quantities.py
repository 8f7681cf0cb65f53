"""Quantities of scenarios as numbers, so that tables can be sorted and plotted by them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

#: By the unit in a scenario: the suffix of a column's name, and the factor from the unit to it.
_UNITS: dict[str, tuple[str, float]] = {
    "ns": ("s", 1e-9),
    "us": ("s", 1e-6),
    "ms": ("s", 1e-3),
    "s": ("s", 1.0),
    "min": ("s", 60.0),
    "h": ("s", 3600.0),
    "bit/s": ("bps", 1.0),
    "kbit/s": ("bps", 1e3),
    "Mbit/s": ("bps", 1e6),
    "Gbit/s": ("bps", 1e9),
    "Tbit/s": ("bps", 1e12),
    "B": ("bytes", 1.0),
    "kB": ("bytes", 1e3),
    "MB": ("bytes", 1e6),
    "GB": ("bytes", 1e9),
    "KiB": ("bytes", 2.0**10),
    "MiB": ("bytes", 2.0**20),
    "GiB": ("bytes", 2.0**30),
    "packet": ("packets", 1.0),
    "packets": ("packets", 1.0),
    "BDP": ("bdp", 1.0),
    "limit": ("limits", 1.0),
}
_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z/]+)\s*")


def number_of(value: Any) -> tuple[str, float] | None:
    """Return the unit (such as `s`, `bps`, `packets`, `limits`) and the number of a quantity, or nothing.

    `30 ms` is `("s", 0.03)`.
    """
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None or found[2] not in _UNITS:
        return None
    unit, factor = _UNITS[found[2]]
    # The number as it is written, without the digits of binary fractions.
    number = float(f"{float(found[1]) * factor:.15g}")
    return (unit, number) if math.isfinite(number) else None


def part_of(text: str) -> float | None:
    """Return the number of a part such as `0.1%` or `0.001`, or nothing."""
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        part = float(number) / (100 if percent else 1)
    except ValueError:
        return None
    # The number as it is written, without the digits of binary fractions.
    return float(f"{part:.12g}")


def with_numbers(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with a number after each quantity, its unit at the end of its key.

    `topology.rate = "5 Mbit/s"` is followed by `topology.rate_bps = 5000000.0`.
    """
    row: dict[str, Any] = {}
    for key, value in settings.items():
        row[key] = value
        if (number := number_of(value)) is not None:
            row[f"{key}_{number[0]}"] = number[1]
    return row
