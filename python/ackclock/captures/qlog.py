"""qlog of a QUIC stack, JSON or JSON-SEQ: drafts from 0.3 on, and the arrays of picoquic and mvfst."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ackclock.captures.measured import Measured, Series, number, tables, whole
from ackclock.captures.ranges import Ranges
from ackclock.errors import InputError

#: The most connections of a file, and the most packets of a connection without a known outcome.
_CONNECTIONS, _PACKETS = 1000, 2_000_000
#: Values of a series: beyond them every second one is dropped.
_VALUES = 1_000_000
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "ns": 1e-9}
#: References of the times of events.
_DELTA = ("delta", "relative_to_previous_event")
#: Separates the records of JSON-SEQ (RFC 7464).
SEPARATOR = "\x1e"


def is_qlog(document: Any) -> bool:
    """Whether a document of JSON, or the first record of JSON-SEQ, is one of qlog."""
    if not isinstance(document, Mapping):
        return False
    schema = document.get("file_schema")
    return "qlog_version" in document or (isinstance(schema, str) and "qlog" in schema)


@dataclass
class Connection:
    """The state that the events of a trace describe so far."""

    name: str
    is_delta: bool
    unit: float
    now: float = 0.0
    #: Streams that arrived: of this end's data by ACKs, and of the other end's data by packets.
    sent: dict[Any, Ranges] = field(default_factory=dict)
    received: dict[Any, Ranges] = field(default_factory=dict)
    #: Packets on the way, by space and number: frames as stream, offset and length, and the size.
    packets: dict[tuple[str, int], tuple[list[tuple[Any, int, int]], int]] = field(default_factory=dict)
    #: Their numbers in each space, in order.
    numbers: dict[str, list[int]] = field(default_factory=dict)
    data_packets: int = 0
    lost: int = 0
    #: The stack's own count of lost packets, which quiche logs instead of an event for each packet.
    counted_lost: int | None = None
    #: The largest packet number in each space that the other end acknowledged.
    largest_acked: dict[str, int] = field(default_factory=dict)
    sent_bytes: int = 0
    lost_bytes: int = 0
    acked_bytes: int = 0
    received_bytes: int = 0
    largest: int = 0
    first: float | None = None
    last: float = 0.0
    first_received: float | None = None
    last_received: float = 0.0
    least_rtt: float | None = None
    #: Whether the stack logged a sample of the RTT.
    has_sample: bool = False
    rtt: list[tuple[float, float]] = field(default_factory=list)
    window: list[tuple[float, float]] = field(default_factory=list)
    delivered: list[tuple[float, float]] = field(default_factory=list)
    events: int = 0
    title: str = ""
    #: Whether a connection of TCP is told as one of QUIC, as ackclock does.
    is_tcp: bool = False

    @property
    def moved(self) -> int:
        """Bytes of streams that arrived at either end."""
        return max(self.acked, self.received_bytes)

    @property
    def acked(self) -> int:
        """Bytes of streams that the other end acknowledged."""
        return sum(ranges.length for ranges in self.sent.values())

    @property
    def declared_lost(self) -> int | None:
        """Packets declared lost. None if the file names none, but some were never acknowledged."""
        if self.counted_lost is not None:
            return max(self.lost, self.counted_lost)
        return self.lost if self.lost or not self.unacknowledged else None

    @property
    def unacknowledged(self) -> int:
        """Packets with data that were never acknowledged, although later packets were."""
        return sum(
            bool(frames) and packet < self.largest_acked.get(space, 0)
            for (space, packet), (frames, _) in self.packets.items()
        )

    def take(self, time: float | None, name: str, data: Any) -> None:
        """Take an event."""
        if time is not None:
            self.now = self.now + time * self.unit if self.is_delta else time * self.unit
        self.events += 1
        event = name.rpartition(":")[2]
        if event in _EVENTS and isinstance(data, Mapping):
            _EVENTS[event](self, data)

    def on_sent(self, data: Mapping[str, Any]) -> None:
        """Note a packet with data of streams."""
        frames = [
            (frame.get("stream_id", frame.get("id", 0)), whole(frame, "offset") or 0, _length(frame))
            for frame in tables(data, "frames")
            if frame.get("frame_type") == "stream"
        ]
        length = sum(length for *_, length in frames)
        key, size = _packet(data), _size(data)
        if length:
            self.data_packets += 1
            self.largest = max(self.largest, length)
            self.first = self.now if self.first is None else self.first
        self.sent_bytes += length
        if key is not None and len(self.packets) < _PACKETS:
            if key not in self.packets:
                insort(self.numbers.setdefault(key[0], []), key[1])
            self.packets[key] = (
                [] if not length else [(str(name), at, count) for name, at, count in frames],
                size,
            )

    def on_received(self, data: Mapping[str, Any]) -> None:
        """Note data of the other end, and ACKs of one's own."""
        space = _space(data)
        for frame in tables(data, "frames"):
            if frame.get("frame_type") == "ack":
                self.on_acked(space, frame.get("acked_ranges"))
            elif frame.get("frame_type") == "stream" and (length := _length(frame)):
                ranges = self.received.setdefault(str(frame.get("stream_id", frame.get("id", 0))), Ranges())
                at = whole(frame, "offset") or 0
                self.received_bytes += ranges.add(at, at + length)
                self.first_received = self.now if self.first_received is None else self.first_received
                self.last_received = self.now

    def on_acked(self, space: str, ranges: Any) -> None:
        """Note ranges of packet numbers that an ACK has."""
        for each in ranges if isinstance(ranges, list) else []:
            ends = [whole({"n": end}, "n") for end in (each if isinstance(each, list) else [each])]
            low, high = (ends[0], ends[-1]) if ends else (None, None)
            if low is None or high is None:
                continue
            # Every ACK repeats old ranges, so only outstanding packet numbers are checked.
            self.largest_acked[space] = max(low, high, self.largest_acked.get(space, 0))
            numbers = self.numbers.get(space, [])
            first, last = bisect_left(numbers, min(low, high)), bisect_right(numbers, max(low, high))
            for packet in numbers[first:last]:
                self._acked((space, packet))
            del numbers[first:last]

    def _acked(self, key: tuple[str, int]) -> None:
        frames, size = self.packets.pop(key, ([], 0))
        new = 0
        for stream, at, length in frames:
            new += self.sent.setdefault(stream, Ranges()).add(at, at + length)
        self.acked_bytes += size
        if new:
            self.last = self.now
            total = self.delivered[-1][1] + new if self.delivered else float(new)
            _keep(self.delivered, self.now, total)

    def on_lost(self, data: Mapping[str, Any]) -> None:
        """Note a packet that was declared lost. An event of mvfst names several packets."""
        self.lost += whole(data, "lost_packets") or 1
        key = _packet(data)
        self.lost_bytes += whole(data, "lost_bytes") or (self.packets[key][1] if key in self.packets else 0)

    def on_metrics(self, data: Mapping[str, Any]) -> None:
        """Note RTTs and the congestion window."""
        smoothed, least = number(data, "smoothed_rtt"), number(data, "min_rtt")
        if not self.has_sample and number(data, "latest_rtt"):
            # Earlier values are the initial RTT of the stack (RFC 9002 section 6.2.2), and no measurement.
            self.has_sample, self.least_rtt = True, None
            self.rtt.clear()
        if (lost := whole(data.get("cf_lost_packets"), "total")) is not None:
            self.counted_lost = max(lost, self.counted_lost or 0)
        if smoothed:
            _keep(self.rtt, self.now, smoothed * self.unit)
        if least:
            self.least_rtt = min(least * self.unit, self.least_rtt or least * self.unit)
        if window := number(data, "congestion_window", "cwnd", "current_cwnd"):
            _keep(self.window, self.now, window)


_EVENTS = {
    "packet_sent": Connection.on_sent,
    "packet_received": Connection.on_received,
    "packet_lost": Connection.on_lost,
    "packets_lost": Connection.on_lost,
    "metrics_updated": Connection.on_metrics,
    "recovery_metrics_updated": Connection.on_metrics,
    "metric_update": Connection.on_metrics,
    "congestion_metric_update": Connection.on_metrics,
}


def of_document(document: Mapping[str, Any]) -> list[Connection]:
    """Return the connections of a document of JSON, those with most data first. Raises `InputError`."""
    traces = tables(document, "traces")
    if not traces:
        raise InputError("the qlog file contains no traces")
    found: list[Connection] = []
    for index, trace in enumerate(traces[:_CONNECTIONS], 1):
        every: dict[str, Connection] = {}
        fields = trace.get("event_fields")
        names = [str(name) for name in fields] if isinstance(fields, list) else []
        events = trace.get("events")
        for event in events if isinstance(events, list) else []:
            _take(every, trace, _as_table(event, names), str(index))
        found += every.values()
    return _largest_first(found)


def of_records(records: Iterable[str], name: str) -> list[Connection]:
    """Return the same for the records of JSON-SEQ. `name` is the file in messages. Raises `InputError`."""
    every: dict[str, Connection] = {}
    trace: Mapping[str, Any] = {}
    damaged = 0
    for number_of, record in enumerate(_texts(records)):
        try:
            event = json.loads(record)
        except (ValueError, RecursionError):
            # RFC 7464 section 2.3: a parser continues after a truncated record.
            damaged += 1
            if number_of == 0 or damaged > _CONNECTIONS:
                raise InputError(f"{name}: record {number_of + 1} of qlog is not JSON") from None
            continue
        if isinstance(event, Mapping) and "trace" in event:
            trace = event["trace"] if isinstance(event["trace"], Mapping) else {}
        elif isinstance(event, Mapping) and "name" in event:
            _take(every, trace, event, "1")
    return _largest_first(list(every.values()))


def read(connection: Connection) -> Measured:
    """Return the figures of a connection. Raises `InputError` where no data moved."""
    lost = connection.declared_lost
    said = [
        "RTTs are smoothed, as the stack logs them",
        "retransmissions are packets that were declared lost"
        if lost is not None
        else "the file names no lost packet: retransmissions are packets that were never acknowledged",
    ]
    goodput, duration, segments = None, 0.0, connection.data_packets
    series: tuple[Series, Series] = (connection.rtt, connection.window)
    is_receiver = connection.received_bytes > max(connection.sent_bytes, connection.acked)
    start = connection.first or 0.0
    if is_receiver:
        start = connection.first_received or 0.0
        duration = connection.last_received - start
        goodput, segments = 8 * connection.received_bytes / duration if duration > 0 else None, 0
        series = ([], [])
        said = ["this end received the data: RTT, window and losses at the other end are unknown"]
    elif connection.acked:
        duration = connection.last - start
        goodput = 8 * connection.acked / duration if duration > 0 else None
    elif connection.acked_bytes or connection.sent_bytes:
        times = [at for values in (connection.rtt, connection.window) for at, _ in values[-1:]]
        duration = max([connection.now, *times]) - start
        moved = connection.acked_bytes or connection.sent_bytes - connection.lost_bytes
        goodput = 8 * moved / duration if duration > 0 else None
        said.append("the file does not show which data were acknowledged: goodput counts whole packets")
    if goodput is None:
        raise InputError(f"qlog trace {connection.name} has no data of streams in packets that arrived")
    rtt, window = ([(max(at - start, 0.0), value) for at, value in each] for each in series)
    return Measured(
        tool="qlog",
        name=connection.title or connection.name,
        duration_s=duration,
        goodput_bps=goodput,
        retransmissions=None if is_receiver else (connection.unacknowledged if lost is None else lost),
        segments=segments or None,
        mss=connection.largest or None,
        quic=not connection.is_tcp,
        least_rtt_s=None if is_receiver else connection.least_rtt,
        rate=_rates([(at - start, total) for at, total in connection.delivered], duration),
        rtt=rtt,
        window=window,
        remarks=tuple(said),
    )


def _take(
    every: dict[str, Connection], trace: Mapping[str, Any], event: Mapping[str, Any] | None, name: str
) -> None:
    if event is None:
        return
    group = event.get("group_id")
    key = name if group is None else f"{name}/{str(group)[:40]}"
    if key not in every:
        if len(every) >= _CONNECTIONS:
            return
        common, configuration = trace.get("common_fields"), trace.get("configuration")
        common = common if isinstance(common, Mapping) else {}
        units = configuration.get("time_units") if isinstance(configuration, Mapping) else None
        title = trace.get("title")
        protocols = common.get("protocol_type", common.get("protocol_types"))
        every[key] = Connection(
            key,
            event.get("time_format", common.get("time_format")) in _DELTA,
            _UNITS.get(str(units), _UNITS["ms"]),
            is_tcp=protocols == ["TCP"],
            title=" ".join(title.split())[:80] if isinstance(title, str) else "",
        )
    every[key].take(number(event, "time"), str(event.get("name", "")), event.get("data"))


def _as_table(event: Any, names: list[str]) -> Mapping[str, Any] | None:
    """Return an event as a table. An array of older drafts contains its fields by position."""
    if isinstance(event, Mapping):
        return event
    if not isinstance(event, list):
        return None
    fields = dict(zip(names, event, strict=False))
    time = next((fields[name] for name in ("relative_time", "delta_time", "time") if name in fields), None)
    name = fields.get("event", fields.get("event_type", fields.get("name", "")))
    delta = {"time_format": "delta"} if "delta_time" in fields else {}
    return {"time": time, "name": name, "data": fields.get("data"), **delta}


def _texts(records: Iterable[str]) -> Iterator[str]:
    return (text for record in records if (text := record.strip().lstrip(SEPARATOR).strip()))


def _largest_first(found: list[Connection]) -> list[Connection]:
    if not found:
        raise InputError("the qlog file contains no events")
    return sorted(found, key=lambda each: (-max(each.moved, each.sent_bytes), -each.events))


def _rates(delivered: list[tuple[float, float]], duration: float) -> list[tuple[float, float]]:
    """Return the rate of delivery in each hundredth of the time."""
    parts = 100
    width = duration / parts
    if width <= 0 or len(delivered) < parts:
        return []
    totals, at, total = [0.0], 0, 0.0
    for part in range(1, parts + 1):
        while at < len(delivered) and delivered[at][0] <= part * width:
            total, at = delivered[at][1], at + 1
        totals.append(total)
    return [((n + 1) * width, 8 * (totals[n + 1] - totals[n]) / width) for n in range(parts)]


def _keep(series: list[tuple[float, float]], at: float, value: float) -> None:
    series.append((at, value))
    if len(series) > _VALUES:
        del series[1:-1:2]


def _header(data: Mapping[str, Any]) -> Mapping[str, Any]:
    header = data.get("header")
    return header if isinstance(header, Mapping) else {}


def _space(data: Mapping[str, Any]) -> str:
    """Return the packet-number space. Packets of 0-RTT and 1-RTT share one (RFC 9000 section 12.3)."""
    kind = str(_header(data).get("packet_type", data.get("packet_type", "1RTT"))).lower()
    return kind if kind in ("initial", "handshake") else "data"


def _packet(data: Mapping[str, Any]) -> tuple[str, int] | None:
    packet = whole(_header(data), "packet_number")
    packet = whole(data, "packet_number") if packet is None else packet
    return None if packet is None else (_space(data), packet)


def _size(data: Mapping[str, Any]) -> int:
    size = (
        whole(data.get("raw"), "length") or whole(_header(data), "packet_size") or whole(data, "packet_size")
    )
    return size or 0


def _length(frame: Mapping[str, Any]) -> int:
    length = whole(frame, "length", "len")
    return length if length is not None else whole(frame.get("raw"), "payload_length", "length") or 0
