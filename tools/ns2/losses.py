"""Packets that ns-2 drops, delays and marks, as scripts of the links of a scenario."""

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
    """Which packets of a link are lost, late and marked, from 1."""

    lost: set[int] = dataclasses.field(default_factory=set)
    late: set[int] = dataclasses.field(default_factory=set)
    late_by_s: float = 0.0
    marked: set[int] = dataclasses.field(default_factory=set)

    def delay(self, errors: Sequence[Errors], end_s: float) -> None:
        """Add the packets that error models delay. A delay beyond the end counts as a loss.

        The latest model comes first, and its drops do not reach the next model.

        Raises:
            NotTranslatable: if two of them delay by different times.
        """
        dropped: list[int] = []
        for error in reversed(errors):
            last = max(error.packets, default=-1) + len(dropped)
            seen = [number for number in range(last + 1) if number not in dropped]
            numbers = {seen[packet] + 1 for packet in error.packets}
            if error.delay_s == 0:
                dropped.extend(seen[packet] for packet in error.packets)
            elif error.delay_s >= end_s:
                self.lost |= numbers
            elif self.late and self.late_by_s != error.delay_s:
                raise NotTranslatable("packets late by different times on a link")
            else:
                self.late |= numbers
                self.late_by_s = error.delay_s

    def behind(self, skipped: int) -> "Script":
        """The same without the first packets, which are not simulated."""

        def shifted(numbers: set[int]) -> set[int]:
            return {number - skipped for number in numbers if number > skipped}

        return Script(shifted(self.lost), shifted(self.late), self.late_by_s, shifted(self.marked))

    def keys(self) -> dict[str, Any]:
        """The loss of a link."""
        if not (self.lost or self.late or self.marked):
            return {"kind": "none"}
        found: dict[str, Any] = {"kind": "scripted", "packets": sorted(self.lost)}
        if self.late:
            found |= {"late_packets": sorted(self.late), "late_by": nanoseconds(self.late_by_s)}
        if self.marked:
            found["marked_packets"] = sorted(self.marked)
        return found


def scripted(setup: Setup, routes: Sequence[Route], same_drops: bool) -> dict[str, Script]:
    """Impairments of each link, by its name.

    Packets that ns-2 drops, delays or marks at a link are lost, late or marked after the previous link. The
    trace contains the outcome of error models and of RED with ns-2's random numbers. Drop-tail queues
    decide their own drops, unless `same_drops` is set. The error model gives the delay of a packet.
    """
    found: dict[str, Script] = {}
    for forward, sender in zip(routes, setup.senders, strict=True):
        for way in (forward, forward.turned()):
            for link in way.links:
                queue_drops = same_drops or setup.links[link].queue != DROP_TAIL
                script = read(packets_of(setup.trace, way), way, link, queue_drops)
                errors = [error for error in setup.errors if (error.link, error.flow) == (link, way.flow)]
                script.delay(errors, setup.end_s)
                script = script.behind(int(sender.options["syn_"]))
                if script != Script(late_by_s=script.late_by_s):
                    found[way.name_before(link)] = script
    users = collections.Counter(name_of(link, False) for way in routes for link in way.links)
    if any(users[name.removesuffix(".reverse")] > 1 for name in found):
        raise NotTranslatable("a script for a link that flows share")
    return found


def packets_of(trace: Sequence[Event], way: Route) -> list[Event]:
    """Impairments of the data of a flow, or of its ACKs."""
    return [event for event in trace if (event.flow, event.is_ack) == (way.flow, way.backward)]


def read(trace: Sequence[Event], way: Route, link: Ends, queue_drops: bool) -> Script:
    """Packets lost and marked at a link, by the trace of the packets of this direction."""
    here = [event for event in trace if event.link == link]
    numbers = {packet: number for number, packet in enumerate(arrivals(trace, way, link), start=1)}
    queued = {event.packet for event in here if event.kind == "+"}
    lost = {
        event.packet for event in here if event.kind == "d" and (queue_drops or event.packet not in queued)
    }
    before = [event.packet for event in trace if event.link == previous(way, link) and event.marked]
    marked = {event.packet for event in here if event.marked and event.kind != "d"} - set(before)
    return Script(
        lost={numbers[packet] for packet in lost}, marked={numbers[packet] for packet in marked - lost}
    )


def previous(way: Route, link: Ends) -> Ends | None:
    """The link before this one."""
    place = way.links.index(link)
    return way.links[place - 1] if place else None


def arrivals(trace: Sequence[Event], way: Route, link: Ends) -> list[int]:
    """Packets in the order of arrival at a link. At the first link it is the order of transmission."""
    before = previous(way, link)
    if before is None:
        return sorted({event.packet for event in trace if event.link == link})
    return [event.packet for event in trace if event.link == before and event.kind == "r"]
