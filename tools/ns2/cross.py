"""Cross traffic: one source of constant rate, or of a rate that leaves a square wave to the others."""

import dataclasses
import itertools
from typing import Any

from comparable import NotComparable
from quantities import BITS_PER_S, BYTES, SECONDS, quantity


@dataclasses.dataclass(frozen=True)
class Cross:
    """The rate of the source over time, as ns-2 receives it."""

    #: Times in seconds, ascending from 0, with the rate in bit/s from each time on.
    steps: tuple[tuple[float, float], ...] = ()
    #: Size of a packet on the wire.
    packet_bytes: int = 0

    @property
    def arguments(self) -> dict[str, object]:
        """The arguments of `dumbbell.tcl`."""
        if not self.steps:
            return {}
        words = (f"{time:g} {rate:.0f}" for time, rate in self.steps)
        return {"cbr": " ".join(words), "cbr_packet": self.packet_bytes}

    def mean_bps(self, since: float, until: float) -> float:
        """The mean rate between two times in seconds."""
        ends = [time for time, _ in self.steps[1:]] + [until]
        bits = (
            rate * max(0.0, min(end, until) - max(begin, since))
            for (begin, rate), end in zip(self.steps, ends, strict=True)
        )
        return sum(bits) / (until - since) if self.steps else 0.0


def cross(group: dict[str, Any], duration_s: float) -> Cross:
    """The cross traffic that a group of flows of a resolved scenario is.

    Raises:
        NotComparable: naming the key.
    """
    place, traffic = f"flows.{group['name']}", group["traffic"]
    if group.get("count", 1) != 1 or group.get("start", "0 s") != "0 s" or "stop" in group:
        raise NotComparable(f"{place}: cross traffic is one source, from the start to the end")
    rate, leaves = quantity(traffic["rate"], BITS_PER_S), traffic.get("leaves")
    if leaves is None:
        steps = [(0.0, rate)]
    elif leaves["kind"] == "square":
        interval = quantity(leaves["interval"], SECONDS)
        left = itertools.cycle(quantity(leaves[level], BITS_PER_S) for level in ("high", "low"))
        times = (index * interval for index in itertools.count())
        begins = itertools.takewhile(lambda time: time < duration_s, times)
        steps = [(begin, max(0.0, rate - level)) for begin, level in zip(begins, left, strict=False)]
    else:
        raise NotComparable(f"{place}.traffic.leaves: only a square is compared")
    return Cross(tuple(steps), round(quantity(traffic["packet"], BYTES)))
