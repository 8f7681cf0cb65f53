"""A capture file, its connections, and the figures of their senders."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.errors import ArgumentValueError, InputError
from ackclock.files.reading import CAPTURE, open_regular

#: The first bytes of pcap (both byte orders, microseconds and nanoseconds), pcapng and gzip.
_MAGIC = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
    b"\x1f\x8b",
)
#: Connections that a message lists.
_LISTED = 8
#: Descriptions of a file that continues after its last whole packet.
_ENDS = {
    "cut": "it ends in the middle of a packet",
    "damaged": "the file is damaged after the last packet read",
}


@dataclass(frozen=True)
class Connection:
    """One of the TCP connections of a file."""

    #: From 1, in the order of the file.
    number: int
    #: Address and port of the end that sends more.
    sender: str
    receiver: str
    ipv6: bool
    packets: int
    #: Payload from the sender, retransmissions too, and from the other end.
    bytes: int
    reverse_bytes: int
    start_s: float
    duration_s: float

    @property
    def name(self) -> str:
        """Both ends."""
        return f"{self.sender} > {self.receiver}"


class CaptureFile:
    """A file of pcap or pcapng."""

    def __init__(self, core: _core.CaptureFile, name: str) -> None:
        self._core = core
        self.name = name
        summary = json.loads(core.summary_json())
        self.packets: int = summary["packets"]
        self._left_out: list[tuple[str, int]] = summary["left_out"]
        self._end: str = summary["end"]
        self.connections = tuple(
            Connection(number, **flow) for number, flow in enumerate(summary["flows"], 1)
        )

    @classmethod
    def from_file(cls, path: Path) -> CaptureFile:
        """Read a file. Raises `InputError` if it is not a capture."""
        try:
            return cls(_core.CaptureFile(path=str(path)), str(path))
        except ValueError as error:
            raise InputError(f"{path}: {error}") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None

    @classmethod
    def from_bytes(cls, content: bytes, name: str) -> CaptureFile:
        """Read the capture of a run."""
        return cls(_core.CaptureFile(content=content), name)

    @property
    def left_out(self) -> list[str]:
        """A sentence for each ignored part of the file."""
        parts = [f"{count} of {self.packets} packets {reason}" for reason, count in self._left_out]
        told = [f"left out: {', '.join(parts)}"] if parts else []
        return told + ([_ENDS[self._end]] if self._end in _ENDS else [])

    def choose(self, wanted: str | None, option: str = "flow") -> Connection:
        """Return the connection with this number or this end. By default return the one with most data.

        `option` is the name of the choice in messages.
        Raises `InputError` without connections, `ArgumentError` if none or several match.
        """
        if not self.connections:
            told = "; ".join(
                ["it has no packets", *self._end_of_empty()] if not self.packets else self.left_out
            )
            raise InputError(f"{self.name}: has no TCP connection: {told}")
        if wanted is None:
            return max(self.connections, key=lambda flow: (flow.bytes, -flow.number))
        if wanted.isdecimal() and 1 <= int(wanted) <= len(self.connections):
            return self.connections[int(wanted) - 1]
        found = [flow for flow in self.connections if wanted in (flow.name, flow.sender, flow.receiver)]
        if len(found) == 1:
            return found[0]
        what = f"names {len(found)} connections" if found else "names no connection"
        raise ArgumentValueError(option, f"{what}: {wanted!r}; there are {self.listed(found)}")

    def _end_of_empty(self) -> list[str]:
        return [_ENDS[self._end]] if self._end in _ENDS else []

    def listed(self, flows: list[Connection] | None = None) -> str:
        """Return the largest connections with their numbers."""
        largest = sorted(flows or self.connections, key=lambda flow: (-flow.bytes, flow.number))
        shown = [f"{flow.number} ({flow.name}, {flow.bytes / 1e6:.3g} MB)" for flow in largest[:_LISTED]]
        more = len(largest) - _LISTED
        return ", ".join([*shown, *([f"and {more} more"] if more > 0 else [])])

    def observe(self, flow: Connection) -> dict[str, Any]:
        """Return the figures of a connection in the form of the core. Raises `InputError`."""
        try:
            observed: dict[str, Any] = json.loads(self._core.observe_json(flow.number - 1))
        except ValueError as error:
            raise InputError(f"{self.name}: {flow.name} {error}") from None
        return observed

    def sequence(self, flow: Connection, from_ns: int, to_ns: int) -> dict[str, Any]:
        """Return the time-sequence plot of a connection within a time from its first packet on.

        Raises `InputError` where it has no data.
        """
        try:
            plot: dict[str, Any] = json.loads(self._core.sequence_json(flow.number - 1, from_ns, to_ns))
        except ValueError as error:
            raise InputError(f"{self.name}: {flow.name} {error}") from None
        return {**plot, "flow": flow.name}


def is_capture(path: Path) -> bool:
    """Return whether a file begins like pcap, pcapng or gzip. False if it cannot be read."""
    try:
        with open_regular(path, CAPTURE) as file:
            return file.read(4).startswith(_MAGIC)
    except OSError:
        return False


def remarks(observed: dict[str, Any]) -> list[str]:
    """Return remarks on a comparison, a sentence each."""
    place = observed["place"]
    told = [_PLACES[place["vantage"]].format(1e3 * place["to_sender_s"])]
    if (step := observed["clock_step"]) is not None:
        told.append(
            f"the clock was set by {step['step_s']:+.6g} s during the capture. The comparison uses "
            f"{step['used']} of {step['packets']} packets, the most between two settings"
        )
    if observed["not_looked_at"]:
        told.append(
            f"{observed['not_looked_at']} packets at the end are not used: the connection is too long"
        )
    if not observed["handshake"]:
        told.append(
            "without a handshake, the MSS is the largest segment, and the receiver's window is unknown"
        )
    if observed["not_captured"]:
        told.append(f"{observed['not_captured']} segments were acknowledged, but are not in the capture")
    if observed["reordered"]:
        told.append(f"{observed['reordered']} segments are out of order")
    if (observed["receiver_limited"] or 0) > _MUCH:
        told.append(
            f"the receiver's window is full for {observed['receiver_limited']:.0%} of the time: "
            "it limits the rate instead of congestion control"
        )
    if observed["idle"] > _MUCH:
        told.append(f"nothing is in flight for {observed['idle']:.0%} of the time: no bulk transfer")
    return told


#: A part of the time that is worth a remark.
_MUCH = 0.05
_PLACES = {
    "sender": "captured at the sender",
    "path": "captured on the path, {:.3g} ms from the sender and back: data in flight are estimated",
    "receiver": "captured at the receiver, {:.3g} ms from the sender and back: data in flight are estimated, "
    "and losses are gaps",
    "unknown": "assumed to be captured at the sender, as it has neither a handshake nor timestamps",
}
