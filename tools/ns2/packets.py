"""Compares a run of ns-2 with one of ackclock, packet by packet, at every link."""

import dataclasses
import json
from collections.abc import Iterable, Sequence
from typing import Any

import polars

from ackclock import _core
from quantities import HEADER_BYTES
from routes import Ends, name_of
from setups import Setup
from translate import Translation


@dataclasses.dataclass(frozen=True)
class Point:
    """A packet at a moment: its time in seconds, its flow, and its number from 0 as ns-2 counts."""

    time_s: float
    flow: str
    number: int

    def __str__(self) -> str:
        return f"{self.number} of {self.flow} at {self.time_s:.5f}\u00a0s"


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first difference of two lists: their subject and link, the position, and the lists."""

    place: str
    link: Ends
    position: int
    theirs: Sequence[Point]
    ours: Sequence[Point]

    def __str__(self) -> str:
        def at(points: Sequence[Point]) -> str:
            return str(points[self.position]) if self.position < len(points) else "nothing more"

        return f"{self.place}, entry {self.position}: ns-2 has {at(self.theirs)}, ackclock {at(self.ours)}"


def run(scenario: dict[str, Any]) -> polars.DataFrame:
    """Every packet of a run."""
    compiled = _core.Scenario.from_json(json.dumps(scenario), source="verify")
    frame = polars.DataFrame(compiled.run().packets)
    return frame.with_columns(polars.col("link", "flow", "event").cast(polars.String))


def first_difference(setup: Setup, translation: Translation, packets: polars.DataFrame) -> Difference | None:
    """The first difference in the arrivals at each link and at the ends of the path."""
    found = [
        difference
        for what, theirs, ours in compared(setup, translation, packets)
        if (difference := first_of(what, theirs, ours, tolerance(setup, translation), setup.end_s))
    ]

    def when(difference: Difference) -> float:
        rest = (points[difference.position :] for points in (difference.theirs, difference.ours))
        return min(points[0].time_s for points in rest if points)

    return min(found, key=when, default=None)


def first_of(
    what: tuple[str, Ends], theirs: Sequence[Point], ours: Sequence[Point], tolerance_s: float, end_s: float
) -> Difference | None:
    """The first difference of two lists. Just before the end a point may be missing from either."""
    for position, (their, our) in enumerate(zip(theirs, ours, strict=False)):
        if (their.flow, their.number) != (our.flow, our.number) or abs(
            their.time_s - our.time_s
        ) > tolerance_s:
            return Difference(*what, position, theirs, ours)
    common = min(len(theirs), len(ours))
    if any(point.time_s <= end_s - tolerance_s for point in (*theirs[common:], *ours[common:])):
        return Difference(*what, common, theirs, ours)
    return None


def tolerance(setup: Setup, translation: Translation) -> float:
    """One transmission of the largest packet at the slowest link, in seconds, with six digits as in a
    trace."""
    slowest = min(setup.links[link].bits_per_s for way in translation.routes for link in way.links)
    largest = max(
        sender.options["packetSize_"] + HEADER_BYTES * sender.options["useHeaders_"]
        for sender in setup.senders
    )
    return largest * 8 / slowest + 1e-5


def compared(
    setup: Setup, translation: Translation, packets: polars.DataFrame
) -> Iterable[tuple[tuple[str, Ends], list[Point], list[Point]]]:
    """The lists of ns-2 and of ackclock: arrivals at each link and at each end."""
    for ways in (translation.routes, [way.turned() for way in translation.routes]):
        backward = ways[0].backward
        what = "ACKs" if backward else "packets"
        for link in dict.fromkeys(link for way in ways for link in way.links):
            ours = ours_at(setup, translation, packets, name_of(link, backward), "enter")
            yield (f"{what} to {name_of(link, False)}", link), theirs_at(setup, link, "+"), ours
        for link in dict.fromkeys(way.links[-1] for way in ways):
            ours = ours_at(setup, translation, packets, name_of(link, backward), "leave")
            yield (f"{what} from {name_of(link, False)}", link), theirs_at(setup, link, "r"), ours


def theirs_at(setup: Setup, link: Ends, kind: str) -> list[Point]:
    """ns-2's packets, or ACKs, without the handshake and without drops.

    Each SYN has the number 0. The first ACK of that number answers it.
    """
    with_syn = {sender.flow for sender in setup.senders if sender.options["syn_"]}
    to_skip = set(with_syn)
    dropped = {event.packet for event in setup.trace if (event.link, event.kind) == (link, "d")}
    points = []
    for event in setup.trace:
        if event.link != link or event.kind != kind or event.packet in dropped:
            continue
        if event.flow in to_skip or (event.flow in with_syn and event.number == 0 and not event.is_ack):
            to_skip.discard(event.flow)
        else:
            points.append(Point(event.time_s, f"tcp{event.flow}", event.number))
    return points


def ours_at(
    setup: Setup, translation: Translation, packets: polars.DataFrame, link: str, event: str
) -> list[Point]:
    """ackclock's packets without drops. ACKs carry the number of the last packet received, as in ns-2."""
    payload = {flow["name"]: float(flow["mss"].removesuffix(" B")) for flow in translation.scenario["flows"]}
    first = {f"tcp{sender.flow}": int(sender.options["syn_"]) for sender in setup.senders}
    is_ack = link.endswith(".reverse")
    points: list[Point] = []
    rows = packets.filter(polars.col("link") == link, polars.col("event").is_in([event, "drop"]))
    for time, flow, seq, kind in rows.select("time_ns", "flow", "seq", "event").iter_rows():
        number = round(seq / payload[flow]) + first[flow] - is_ack
        if kind == event:
            points.append(Point(time / 1e9, flow, number))
        elif event == "enter":
            # A drop comes right behind the arrival.
            points.pop()
    return [point for point in points if point.time_s <= setup.end_s]
