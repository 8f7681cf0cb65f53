"""A scenario that a measurement suggests: rate, base RTT, buffer and random loss, as estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from ackclock.captures.measured import Measured, Series
from ackclock.errors import InputError

#: Bytes of a packet beyond its payload: headers of IP and TCP or QUIC, with options of TCP.
_TCP_HEADER, _QUIC_HEADER, _IPV6 = 52, 38, 20
#: Payload of a full segment where the file does not tell it, and the most that Ethernet carries.
_USUAL_MSS = {False: 1448, True: 1252}
#: Values below which a part of a transfer says little.
_ENOUGH_RATES, _ENOUGH_SEGMENTS = 5, 50
#: The most packets of a replay. A longer transfer is replayed in part.
_MOST_PACKETS = 400_000
#: Names of Linux and others, and ours.
_ALGORITHMS = {
    "cubic": "cubic",
    "reno": "reno",
    "newreno": "reno",
    "bbr": "bbr1",
    "bbr1": "bbr1",
    "bbr2": "bbr3",
    "bbr3": "bbr3",
}
FLOW = "test"


class Path(NamedTuple):
    """The estimated path."""

    rate_bps: float
    #: Without the transmission of a packet.
    propagation_s: float
    packets: int
    loss: float
    #: Sentences: each estimate, how it came about, and its error.
    said: tuple[str, ...]


def algorithm(measured: Measured) -> tuple[str, list[str]]:
    """Return our name for the measured congestion control, and a sentence where it is a guess."""
    if measured.cc is None:
        return "cubic", [
            "the file does not name the congestion control: cubic is used, --cc sets another one"
        ]
    known = _ALGORITHMS.get(measured.cc.lower())
    if known is None:
        return "cubic", [f"ackclock has no algorithm {measured.cc}: cubic is used, --cc sets another one"]
    return known, []


def estimate(measured: Measured) -> Path:
    """Estimate the path. Raises `InputError` where the file tells no rate or no RTT."""
    figures = measured.figures()
    goodput, base = figures["goodput_bps"], figures["rtt_min_s"]
    if not goodput or not base:
        missing = "no goodput" if not goodput else "no RTT"
        raise InputError(f"the path cannot be estimated: the file has {missing}; give --scenario")
    if measured.segments is not None and measured.segments < _ENOUGH_SEGMENTS:
        has = f"{measured.segments} segments, and {_ENOUGH_SEGMENTS} are needed"
        raise InputError(f"the path cannot be estimated: the transfer has {has}; give --scenario")
    mss, full = sizes(measured)
    payload, spread, source = _rate(measured, goodput)
    rate = payload * full / mss
    propagation = max(base - 8 * full / rate, 1e-6)
    longest = figures["rtt_max_s"] or base
    packets = max(1, math.ceil((longest - base) * rate / 8 / full))
    loss = (measured.retransmissions or 0) / measured.segments if measured.segments else 0.0
    queueing = (longest - base) / base
    said = [
        f"rate {rate / 1e6:.4g} Mbit/s: {source}, with headers; error {spread:.0%}",
        f"base RTT {1e3 * base:.4g} ms: the smallest reported RTT, too long if samples are smoothed",
        f"buffer {packets} packets: the largest RTT is {queueing:.0%} longer, less than it was if smoothed",
    ]
    return Path(rate, propagation, packets, loss, tuple(said))


def sizes(measured: Measured) -> tuple[int, int]:
    """Return the payload of a full segment, and its bytes with headers."""
    mss = measured.mss or _USUAL_MSS[measured.quic]
    header = (_QUIC_HEADER if measured.quic else _TCP_HEADER) + _IPV6 * measured.ipv6
    return mss, mss + header


def _rate(measured: Measured, goodput: float) -> tuple[float, float, str]:
    """Return the rate of payload, its relative error, and its source.

    The fastest delivery over a second or 20 round trips, at most a quarter of the transfer, as for captures.
    The link may be faster where losses or the receiver kept the sender from filling it.
    """
    if len(measured.rate) < _ENOUGH_RATES or measured.tool == "iperf3":
        # The bytes that a socket of iperf3 accepts in an interval differ from the bytes that arrive.
        return goodput, 0.1, "the mean goodput, which slow start makes too low"
    base = measured.figures()["rtt_min_s"] or 0.0
    span = min(max(1.0, 20 * base), measured.duration_s / 4)
    rate = max(goodput, fastest(measured.rate, span))
    return rate, (rate - goodput) / rate, f"the fastest delivery over {span:.2g} s"


def fastest(rates: Series, span: float) -> float:
    """Return the highest mean over `span` seconds of rates, each over the time since the one before."""
    times, moved = [rates[0][0]], [0.0]
    for (before, _), (at, rate) in pairwise(rates):
        times.append(at)
        moved.append(moved[-1] + rate * (at - before))
    start, best = 0, 0.0
    for at in range(len(times)):
        while start + 1 < at and times[at] - times[start + 1] >= span:
            start += 1
        if times[at] - times[start] >= span:
            best = max(best, (moved[at] - moved[start]) / (times[at] - times[start]))
    return best


def bytes_of(quantity: str) -> int:
    """Return the bytes of a resolved quantity such as `1448 B`."""
    return int(quantity.split()[0])


def scenario(measured: Measured, path: Path, cc: str, loss: float, name: str) -> Mapping[str, Any]:
    """Return the scenario of a path and a loss probability, as long as the transfer where packets allow."""
    mss, full = sizes(measured)
    duration = min(measured.duration_s, _MOST_PACKETS * 8 * full / path.rate_bps)
    link: dict[str, Any] = {
        "rate": f"{round(path.rate_bps)} bit/s",
        "delay": f"{path.propagation_s / 2 * 1e6:.3f} us",
        "queue": {"kind": "drop-tail", "limit": f"{path.packets} packets"},
    }
    if loss:
        link["loss"] = {"kind": "bernoulli", "probability": float(f"{loss:.3g}")}
    flow: dict[str, Any] = {"name": FLOW, "cc": cc, "profile": "quic" if measured.quic else "linux"}
    flow |= {"mss": f"{mss} B", "header": f"{full - mss} B"}
    return {
        "schema": 2,
        "name": name,
        "duration": f"{max(duration, 0.001) * 1e3:.3f} ms",
        "warmup": "0 s",
        "links": {"path": link},
        "flows": [flow],
    }
