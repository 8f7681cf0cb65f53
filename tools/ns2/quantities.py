"""Quantities of a scenario in the units of ns-2."""

from collections.abc import Mapping

# TCP and IP.
HEADER_BYTES = 40
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6}
BITS_PER_S = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}


def nanoseconds(seconds: float) -> str:
    """A duration in a scenario."""
    return f"{round(seconds * 1e9)} ns"


def quantity(text: str, units: Mapping[str, float]) -> float:
    """`"200 ms"` in seconds, `"1000 B"` in bytes."""
    number, unit = text.split()
    return float(number) * units[unit]
