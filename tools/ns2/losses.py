"""What ns-2 drops and delays, as scripts of the links of a scenario."""

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any

from features import NotTranslatable
from quantities import nanoseconds
from routes import Ends, Route, name_of
from setups import Errors, Event, Setup

DROP_TAIL = "Queue/DropTail"


@dataclasses.dataclass
class Script:
    """Which packets of a link are lost, and which are late, from 1."""

    lost: set[int] = dataclasses.field(default_factory=set)
    late: set[int] = dataclasses.field(default_factory=set)
    late_by_s: float = 0.0

    def add(self, errors: Sequence[Errors], first: int) -> None:
        """Adds what error models do.

        The model that was made last comes first, and the next one does not see what it drops. Where the first
        packet is the SYN, number 1 follows it.
        """
        dropped: list[int] = []
        for error in reversed(errors):
            seen = [
                number
                for number in range(max(error.packets, default=-1) + len(dropped) + 1)
                if number not in dropped
            ]
            packets = {seen[packet] for packet in error.packets}
            numbers = {packet + 1 - first for packet in packets if packet >= first}
            if error.delay_s > 0:
                self.late |= numbers
                self.late_by_s = error.delay_s
            else:
                dropped.extend(packets)
                self.lost |= numbers

    def keys(self) -> dict[str, Any]:
        """The loss of a link."""
        if not self.lost and not self.late:
            return {"kind": "none"}
        found: dict[str, Any] = {"kind": "scripted", "packets": sorted(self.lost)}
        if self.late:
            found |= {"late_packets": sorted(self.late), "late_by": nanoseconds(self.late_by_s)}
        return found


def scripted(setup: Setup, routes: Sequence[Route], same_drops: bool) -> dict[str, Script]:
    """What goes wrong at each link, by its name.

    What ns-2 drops or delays in front of a queue is lost or late behind the link before. RED's drops, which
    come by ns-2's random numbers, are read from the trace; with `same_drops` those of every queue are.
    """
    found: dict[str, Script] = {}
    for forward in routes:
        first = first_packet(setup, forward.flow)
        for way in (forward, forward.turned()):
            for link in way.links:
                errors = [error for error in setup.errors if (error.link, error.flow) == (link, way.flow)]
                reads = not way.backward and (same_drops or setup.links[link].queue != DROP_TAIL)
                if errors:
                    found.setdefault(way.name_before(link), Script()).add(errors, first)
                if reads and (lost := dropped(setup.trace, link, way.flow, first)):
                    found.setdefault(way.name_before(link), Script()).lost |= lost
    users = collections.Counter(name_of(link, False) for way in routes for link in way.links)
    if any(users[name.removesuffix(".reverse")] > 1 for name in found):
        raise NotTranslatable("a script for a link that flows share")
    return found


def dropped(trace: Sequence[Event], link: Ends, number: int, first: int) -> set[int]:
    """Which packets of a flow are dropped in front of a link, counted from 1 without the SYN."""
    order: dict[int, int] = {}
    found = set()
    for event in trace:
        if event.link == link and event.flow == number and event.kind in "+d" and not event.is_ack:
            place = order.setdefault(event.packet, len(order) + 1)
            if event.kind == "d":
                found.add(place - first)
    return found


def first_packet(setup: Setup, number: int) -> int:
    """The number of the first packet of data: 1 behind a SYN."""
    sender = next(sender for sender in setup.senders if sender.flow == number)
    return int(sender.options["syn_"])
