"""`iperf3 --json`: one TCP stream of its document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ackclock.captures.measured import Measured, mean, number, tables, whole
from ackclock.errors import InputError

#: iperf3 measures RTTs in microseconds.
_US = 1e-6


def is_iperf3(document: Any) -> bool:
    """Whether a document of JSON is one of iperf3."""
    return (
        isinstance(document, Mapping)
        and "start" in document
        and {"end", "intervals"} & document.keys() != set()
    )


def streams(document: Mapping[str, Any]) -> list[str]:
    """Return the names of its streams. Raises `InputError` where it has none."""
    if isinstance(error := document.get("error"), str) and not tables(document, "intervals"):
        raise InputError(f"iperf3 reports an error: {' '.join(error.split())[:200]}")
    start = document.get("start")
    test = start.get("test_start") if isinstance(start, Mapping) else None
    protocol = test.get("protocol") if isinstance(test, Mapping) else None
    if isinstance(protocol, str) and protocol.upper() == "UDP":
        raise InputError("iperf3 measured UDP, which has no congestion control; leave out -u")
    connected = tables(start, "connected")
    names = [
        f"{each.get('local_host', '?')}:{each.get('local_port', '?')} > "
        f"{each.get('remote_host', '?')}:{each.get('remote_port', '?')}"
        for each in connected
    ]
    if not names:
        raise InputError("the iperf3 file contains no stream: was the test interrupted before it began?")
    return names


def read(document: Mapping[str, Any], index: int, name: str) -> Measured:
    """Return the figures of the stream with this number, from 0. Raises `InputError` where there are none."""
    start, end = document["start"], document.get("end")
    test = start.get("test_start", {})
    ends = tables(end, "streams")
    sent, received = _side(ends, index, "sender"), _side(ends, index, "receiver")
    every = [
        (streams[index], each)
        for each in tables(document, "intervals")
        if index < len(streams := tables(each, "streams"))
    ]
    intervals = [stream for stream, _ in every if stream.get("omitted") is not True]
    if not intervals and number(received, "bits_per_second") is None:
        raise InputError("the iperf3 file contains no interval: was the test interrupted at once?")
    first = min((number(each, "start") or 0.0 for each in intervals), default=0.0)
    points = [(at - first, each) for each in intervals if (at := number(each, "end")) is not None]

    def series(key: str, factor: float = 1.0) -> list[tuple[float, float]]:
        found = ((at, number(each, key)) for at, each in points)
        return [(at, factor * value) for at, value in found if value]

    goodput, said = _goodput(received, sent, intervals)
    again = whole(sent, "retransmits")
    if again is None and any("retransmits" in each for each in intervals):
        again = sum(whole(each, "retransmits") or 0 for each in intervals)
    remote = number(test, "reverse") == 1 and not series("rtt")
    if remote:
        said.append("a reversed test has neither RTT nor window of its sender; run --json at the other end")
    mss = whole(start, "tcp_mss", "tcp_mss_default") or None
    duration = number(received, "seconds") or number(sent, "seconds") or (points[-1][0] if points else 0.0)
    segments = None if goodput is None or not mss else round(goodput * duration / 8 / mss) + (again or 0)
    cc = end.get("sender_tcp_congestion") if isinstance(end, Mapping) else None
    return Measured(
        tool="iperf3",
        name=name,
        duration_s=duration,
        goodput_bps=goodput,
        retransmissions=again,
        segments=segments,
        mss=mss,
        cc=cc if isinstance(cc, str) else None,
        ipv6=name.count(":") > 2,
        least_rtt_s=_US * rtt if (rtt := number(sent, "min_rtt")) else None,
        rate=[] if remote else series("bits_per_second"),
        rtt=series("rtt", _US),
        window=series("snd_cwnd"),
        remarks=(*said, "RTTs are smoothed, one for each interval; the window is the value at its end"),
    )


def _side(ends: list[Mapping[str, Any]], index: int, side: str) -> Any:
    return ends[index].get(side) if index < len(ends) else None


def _goodput(received: Any, sent: Any, intervals: list[Mapping[str, Any]]) -> tuple[float | None, list[str]]:
    """Return the bytes that the receiver counted, or without its answer the bytes of the sender's socket."""
    bits, seconds = number(received, "bytes"), number(received, "end") or number(received, "seconds")
    if bits and seconds:
        return 8 * bits / seconds, []
    said = ["the receiver's figures are missing: goodput counts data that the socket accepted"]
    if (rate := number(sent, "bits_per_second")) is not None:
        return rate, said
    series = [(number(each, "end") or 0.0, number(each, "bits_per_second") or 0.0) for each in intervals]
    return mean(series), said
