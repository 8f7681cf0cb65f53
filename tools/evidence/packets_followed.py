"""Follows every packet of a trace from link to link.

A row of a trace names a flow, a position in its data and a link, and no packet. A packet is told from others by
its position, its length and whether it was sent before; where several that are equal in all of this are in one
link at the same time, they leave in the order in which they came. Where a queue or a wire does not keep that
order, which one it was cannot be told, and the packets say so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import polars

from network import DROPS_LAST, Link, Network

Key = tuple[str, str, int, int, int, bool]


@dataclass
class Visit:
    """A packet at a link."""

    link: Link
    enter_ns: int
    #: When its transmission began; known of shared links.
    transmit_ns: int | None = None
    leave_ns: int | None = None


@dataclass
class Packet:
    """A packet, or the copy of one from the time on at which a link made it."""

    flow: str
    #: `data`, `ack` or `request`.
    kind: str
    seq: int
    len: int
    wire_bytes: int
    retransmission: bool
    visits: list[Visit] = field(default_factory=list)
    #: When a link made it; none of what was sent.
    copied_ns: int | None = None
    #: What became of it: `arrived`, `discarded`, `dropped`, `lost`; empty while it is under way.
    fate: str = ""
    fate_ns: int = 0
    #: Another one may have been meant.
    uncertain: bool = False

    @property
    def since_ns(self) -> int:
        """When it came into being."""
        return self.visits[0].enter_ns if self.copied_ns is None else self.copied_ns

    def copy(self, now: int) -> Packet:
        """A second one of it."""
        return replace(self, visits=[replace(visit) for visit in self.visits], copied_ns=now)


class _Links:
    """What is in the links while a trace is read."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.packets: list[Packet] = []
        #: Packets that wait or, at private links, are under way.
        self.inside: dict[Key, list[Packet]] = defaultdict(list)
        #: Packets that a shared link has begun to transmit.
        self.sent: dict[Key, list[Packet]] = defaultdict(list)
        #: Packets between two links, or at the end of their path.
        self.outside: dict[Key, list[Packet]] = defaultdict(list)

    def read(self, now: int, event: str, key: Key) -> None:
        link = self.network.links[key[0]]
        if event == "enter":
            self._enter(now, link, key)
        elif event == "transmit":
            packet = _take(self.inside[key], 0, keeps_order=link.queue != "sfq")
            packet.visits[-1].transmit_ns = now
            self.sent[key].append(packet)
        elif event == "drop":
            last = link.queue in DROPS_LAST
            packet = _take(self.inside[key], -1 if last else 0, keeps_order=link.queue != "sfq")
            packet.fate, packet.fate_ns = "dropped", now
        elif event == "copy":
            self._copy(now, link, key)
        elif event == "discard":
            ended = self.outside[key]
            packet = _take(ended, next(i for i, one in enumerate(ended) if one.fate_ns == now))
            packet.fate = "discarded"
        elif event in ("leave", "lose"):
            self._leave(now, event, link, key)

    def _enter(self, now: int, link: Link, key: Key) -> None:
        name, flow, *rest = key
        seq, length, wire_bytes, retransmission = rest
        path, kind = self._path(flow, name, length)
        place = path.index(name)
        if place == 0:
            packet = Packet(flow, kind, seq, length, wire_bytes, retransmission)
            self.packets.append(packet)
        else:
            before: Key = (path[place - 1], flow, seq, length, wire_bytes, retransmission)
            packet = self.outside[before].pop(0)
        packet.visits.append(Visit(link, now))
        self.inside[key].append(packet)

    def _path(self, flow: str, link: str, length: int) -> tuple[tuple[str, ...], str]:
        found = self.network.flows[flow]
        if link in found.path:
            return found.path, "data"
        return found.reverse_path, "request" if length else "ack"

    def _copy(self, now: int, link: Link, key: Key) -> None:
        # The one whose transmission has just begun.
        among = self.inside[key] if link.private else self.sent[key]
        place = 0 if link.private else -1
        if link.private and len(among) > 1:
            _doubt(among)
        second = among[place].copy(now)
        among.insert(len(among) + 1 + place if place < 0 else place + 1, second)
        self.packets.append(second)

    def _leave(self, now: int, event: str, link: Link, key: Key) -> None:
        among = self.inside[key] if link.private else self.sent[key]
        packet = _take(among, 0, keeps_order=not link.adds_delay)
        if event == "lose":
            packet.fate, packet.fate_ns = "lost", now
            return
        packet.visits[-1].leave_ns = now
        path, _ = self._path(packet.flow, link.name, packet.len)
        if link.name == path[-1]:
            packet.fate, packet.fate_ns = "arrived", now
        self.outside[key].append(packet)


def _take(among: list[Packet], place: int, *, keeps_order: bool = True) -> Packet:
    if len(among) > 1 and not keeps_order:
        _doubt(among)
    return among.pop(place)


def _doubt(among: list[Packet]) -> None:
    for packet in among:
        packet.uncertain = True


def follow(trace: polars.DataFrame, network: Network) -> list[Packet]:
    """Every packet of a trace, in the order in which they came into being."""
    links = _Links(network)
    for now, event, key in _rows(trace):
        links.read(now, event, key)
    return links.packets


def _rows(trace: polars.DataFrame) -> Iterator[tuple[int, str, Key]]:
    columns = ("time_ns", "event", "link", "flow", "seq", "len", "wire_bytes", "retransmission")
    rows = trace.filter(~polars.col("event").is_in(["window", "mark"])).select(columns)
    for now, event, *key in rows.iter_rows():
        link, flow, seq, length, wire_bytes, retransmission = key
        yield now, event, (link, flow, seq, length, wire_bytes, retransmission)
