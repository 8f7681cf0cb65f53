"""Quantities of ns-2 in a scenario."""

# TCP and IP.
HEADER_BYTES = 40


def nanoseconds(seconds: float) -> str:
    """A duration in a scenario."""
    return f"{round(seconds * 1e9)} ns"
