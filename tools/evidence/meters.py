"""Colours of the packets of a trace by the meters of a scenario, by RFC 2697 and RFC 2698.

Tokens are fractions of a byte, counted without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from capacity import bps, size_bytes
from network import NS
from packets_followed import Packet


@dataclass
class Coloured:
    """The colours of some packets."""

    #: Packets and bytes in the window, by colour.
    packets: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("green", "yellow", "red"), 0))
    bytes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("green", "yellow", "red"), 0))
    #: Of the red ones, those that were dropped.
    policed: int = 0


class _Meter:
    def __init__(self, keys: dict[str, Any]) -> None:
        self.single = keys["kind"] == "srtcm"
        self.rate = Fraction(round(bps(keys["committed_rate"])), 8 * NS)
        self.other_rate = None if self.single else Fraction(round(bps(keys["peak_rate"])), 8 * NS)
        self.depth = size_bytes(keys["committed_burst"])
        self.other_depth = size_bytes(keys.get("excess_burst", "0 B") if self.single else keys["peak_burst"])
        self.tokens, self.other = Fraction(self.depth), Fraction(self.other_depth)
        self.at = 0

    def colour(self, now: int, size: int, was: str) -> str:
        passed, self.at = now - self.at, now
        self.tokens += passed * self.rate
        spilt = max(Fraction(0), self.tokens - self.depth)
        self.tokens -= spilt
        gained = spilt if self.other_rate is None else passed * self.other_rate
        self.other = min(Fraction(self.other_depth), self.other + gained)
        if self.single:
            if was == "green" and self.tokens >= size:
                self.tokens -= size
                return "green"
            if self.other >= size:
                self.other -= size
                return "yellow"
            return "red"
        if self.other < size:
            return "red"
        self.other -= size
        if was == "yellow" or self.tokens < size:
            return "yellow"
        self.tokens -= size
        return "green"


def colours(
    packets: list[Packet], scenario: dict[str, Any], group_of: dict[str, str], window: tuple[int, int]
) -> dict[str, Coloured]:
    """The colours of the data of each metered flow. `group_of` maps flows to groups."""
    groups = {flow["name"]: flow for flow in scenario["flows"]}
    found: dict[str, Coloured] = {}
    meters: dict[tuple[str, str], _Meter] = {}
    for packet, place in _in_order(packets):
        group = groups[group_of[packet.flow]]
        if "meter" not in group or packet.kind != "data":
            continue
        visit, keys = packet.visits[place], scenario["meters"][group["meter"]]
        if visit.link.name != keys["link"]:
            continue
        own = packet.flow if keys.get("per") == "flow" else ""
        meter = meters.setdefault((group["meter"], own), _Meter(keys))
        aware = keys.get("colour") == "aware"
        was = "yellow" if aware and not group.get("in_profile", False) else "green"
        colour = meter.colour(visit.enter_ns, packet.wire_bytes, was)
        if window[0] <= visit.enter_ns < window[1]:
            counted = found.setdefault(packet.flow, Coloured())
            counted.packets[colour] += 1
            counted.bytes[colour] += packet.wire_bytes
            counted.policed += colour == "red" and keys.get("red", "drop") == "drop"
    return found


def _in_order(packets: list[Packet]) -> list[tuple[Packet, int]]:
    """Each visit of each packet in the order of arrival. The visits of a copy begin with its creation."""
    visits = [
        (packet.visits[place].number, packet, place)
        for packet in packets
        for place in range(packet.visits_before, len(packet.visits))
    ]
    return [(packet, place) for _, packet, place in sorted(visits, key=lambda visit: visit[0])]
