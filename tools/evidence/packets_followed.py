"""Follows every packet of a trace from link to link.

A row of a trace names a flow, a position in its data and a link. It does not name a packet. Position,
length and the number of transmissions identify a packet. Several equal packets can be in one link at the
same time. They leave in the order of their arrival. Some queues and wires do not keep that order. The
identity is then uncertain, and the packets are marked so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import polars

from network import Link, Network

Key = tuple[str, str, int, int, int, bool]


@dataclass
class Visit:
    """A packet at a link."""

    link: Link
    enter_ns: int
    #: How many visits of any packet began before.
    number: int
    #: The start of its transmission, known for shared links.
    transmit_ns: int | None = None
    leave_ns: int | None = None


@dataclass(eq=False)
class Packet:
    """A packet, or the copy of one from the time on at which a link made it."""

    flow: str
    #: `data`, `ack` or `request`.
    kind: str
    seq: int
    len: int
    wire_bytes: int
    retransmission: bool
    #: The links that it came to so far.
    visits: list[Visit] = field(default_factory=list)
    #: The time at which a link copied it, or `None` for a sent packet.
    copied_ns: int | None = None
    #: The number of first visits that belong to the original of a copy.
    visits_before: int = 0
    #: A queue has marked it.
    marked: bool = False
    #: The outcome: `arrived`, `discarded`, `dropped` or `lost`, and empty while it is in flight.
    fate: str = ""
    fate_ns: int = 0
    #: Links that did not keep the order of packets equal to it: another one may have come out.
    doubts: list[Link] = field(default_factory=list)
    #: It is a copy made after such a link.
    copied_in_doubt: bool = False

    @property
    def since_ns(self) -> int:
        """When it came into being."""
        return self.visits[0].enter_ns if self.copied_ns is None else self.copied_ns

    def copy(self, now: int) -> Packet:
        """A second one of it."""
        visits = [replace(visit) for visit in self.visits]
        return replace(
            self,
            visits=visits,
            copied_ns=now,
            visits_before=len(visits),
            doubts=[*self.doubts],
            copied_in_doubt=bool(self.doubts),
        )


class _Links:
    """The packets in the links while a trace is read."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.packets: list[Packet] = []
        #: How many visits there were so far.
        self.visits = 0
        #: Packets that wait or, at private links, are under way.
        self.inside: dict[Key, list[Packet]] = defaultdict(list)
        #: Packets that a shared link has begun to transmit.
        self.sent: dict[Key, list[Packet]] = defaultdict(list)
        #: Packets between two links, or at the end of their path.
        self.outside: dict[Key, list[Packet]] = defaultdict(list)
        #: The last packet that came to each link, and its copies made there.
        self.newest: dict[str, list[Packet]] = {}

    def read(self, now: int, event: str, key: Key) -> None:
        link = self.network.links[key[0]]
        match event:
            case "enter":
                self._enter(now, link, key)
            case "transmit":
                packet = _take(self.inside[key], 0, link, link.keeps_order)
                packet.visits[-1].transmit_ns = now
                self.sent[key].append(packet)
            case "drop":
                packet = _take(self.inside[key], 0 if link.drops_first else -1, link, link.keeps_order)
                packet.fate, packet.fate_ns = "dropped", now
            case "police":
                # It has just come.
                packet = self.inside[key].pop()
                packet.fate, packet.fate_ns = "dropped", now
            case "mark":
                for packet in self.newest[link.name]:
                    packet.marked = True
            case "copy":
                self._copy(now, link, key)
            case "lose":
                packet = self._out_of(link, key)
                packet.fate, packet.fate_ns = "lost", now
            case "leave":
                self._leave(now, link, key)
            case "discard":
                arrived = next(packet for packet in self.outside[key] if packet.fate_ns == now)
                self.outside[key].remove(arrived)
                arrived.fate = "discarded"

    def _enter(self, now: int, link: Link, key: Key) -> None:
        name, flow, seq, length, wire_bytes, retransmission = key
        path, kind = self._path(key)
        place = path.index(name)
        if place == 0:
            packet = Packet(flow, kind, seq, length, wire_bytes, retransmission)
            self.packets.append(packet)
        else:
            before: Key = (path[place - 1], *key[1:])
            packet = self.outside[before].pop(0)
        packet.visits.append(Visit(link, now, self.visits))
        self.visits += 1
        self.inside[key].append(packet)
        self.newest[name] = [packet]

    def _path(self, key: Key) -> tuple[tuple[str, ...], str]:
        """The path of a packet, and its kind."""
        flow = self.network.flows[key[1]]
        if key[0] in flow.path:
            return flow.path, "data"
        return flow.reverse_path, "request" if key[3] else "ack"

    def _copy(self, now: int, link: Link, key: Key) -> None:
        # Of the one whose transmission has just begun.
        among = self.inside[key] if link.private else self.sent[key]
        if link.private and len(among) > 1:
            _doubt(among, link)
        first = among[0] if link.private else among[-1]
        second = first.copy(now)
        among.insert(among.index(first) + 1, second)
        self.packets.append(second)
        if first in self.newest[link.name]:
            self.newest[link.name].append(second)

    def _out_of(self, link: Link, key: Key) -> Packet:
        """The packet that comes out of the link, or would if it were not lost."""
        among = self.inside[key] if link.private else self.sent[key]
        return _take(among, 0, link, not link.adds_delay)

    def _leave(self, now: int, link: Link, key: Key) -> None:
        packet = self._out_of(link, key)
        packet.visits[-1].leave_ns = now
        path, _ = self._path(key)
        if link.name == path[-1]:
            packet.fate, packet.fate_ns = "arrived", now
        self.outside[key].append(packet)


def _take(among: list[Packet], place: int, link: Link, keeps_order: bool) -> Packet:
    if len(among) > 1 and not keeps_order:
        _doubt(among, link)
    return among.pop(place)


def _doubt(among: list[Packet], link: Link) -> None:
    for packet in among:
        packet.doubts.append(link)


def follow(trace: polars.DataFrame, network: Network) -> list[Packet]:
    """Every packet of a trace, in the order in which they came into being."""
    links = _Links(network)
    for now, event, key in _rows(trace):
        links.read(now, event, key)
    return links.packets


def _rows(trace: polars.DataFrame) -> Iterator[tuple[int, str, Key]]:
    columns = ("time_ns", "event", "link", "flow", "seq", "len", "wire_bytes", "retransmission")
    rows = trace.filter(~polars.col("event").is_in(["window", "timer"])).select(columns)
    for now, event, *key in rows.iter_rows():
        link, flow, seq, length, wire_bytes, retransmission = key
        yield now, event, (link, flow, seq, length, wire_bytes, retransmission)
