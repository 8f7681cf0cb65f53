"""A data file of Flent: one TCP stream of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ackclock.captures.measured import Measured, mean, number, tables, whole
from ackclock.errors import InputError

#: The versions of the format that are known (doc/data-format.rst of Flent).
_VERSIONS = (1, 2, 3, 4)
_STREAM = re.compile(r"TCP (?:upload|download)(?!.*\b(?:avg|sum)\b)[^:]*(?:::\d+)?")
_MS, _MBIT = 1e-3, 1e6
_ETHERNET = 1448


def is_flent(document: Any) -> bool:
    """Whether a document of JSON is one of Flent."""
    return isinstance(document, Mapping) and {"metadata", "results", "x_values"} <= document.keys()


def streams(document: Mapping[str, Any]) -> list[str]:
    """Return the names of its TCP streams, the fastest first. Raises `InputError` where it has none."""
    version = document.get("version", 1)
    if version not in _VERSIONS:
        raise InputError(
            f"version {str(version)[:20]!r} of Flent's format is not read, only 1 to {_VERSIONS[-1]}"
        )
    results = document["results"]
    names = [str(name) for name in results] if isinstance(results, Mapping) else []
    found = [name for name in names if _STREAM.fullmatch(name)]
    if not found:
        raise InputError(f"the Flent file contains no TCP stream, but {', '.join(names)[:200] or 'nothing'}")
    return sorted(found, key=lambda name: -(_mean_of(document, name) or 0.0))


def read(document: Mapping[str, Any], name: str) -> Measured:
    """Return the figures of a stream."""
    meta = _meta(document, name)
    rate = [(at, _MBIT * value) for at, value in _series(document, name)]
    pings = _pings(document)
    rtt = [(at, _MS * value) for at, value in _series(document, f"{name}::tcp_rtt")]
    mss = whole(meta, "TCP_MSS") or None
    window = [(at, value * (mss or _ETHERNET)) for at, value in _series(document, f"{name}::tcp_cwnd")]
    goodput = _mean_of(document, name)
    again = whole(meta, "TCP_RETRANSMIT")
    busy = [at for at, value in rate if value > 0]
    duration = number(meta, "ELAPSED_TIME") or (busy[-1] - busy[0] if len(busy) > 1 else 0.0)
    segments = None if goodput is None or not mss else round(goodput * duration / 8 / mss) + (again or 0)
    said = []
    if not rtt and pings:
        rtt = pings
        said.append("RTTs come from the test's pings and not from the stream")
    if not rtt:
        said.append("the file has neither RTTs of the stream (--socket-stats) nor pings")
    cc = meta.get("CONG_CONTROL")
    return Measured(
        tool="Flent",
        name=name,
        duration_s=duration,
        goodput_bps=goodput,
        retransmissions=again,
        segments=segments,
        mss=mss,
        cc=cc.split(",")[0] if isinstance(cc, str) else None,
        least_rtt_s=min((value for _, value in pings), default=None),
        rate=rate,
        rtt=rtt,
        window=window,
        remarks=tuple(said),
    )


def _meta(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    metadata = document["metadata"]
    every = metadata.get("SERIES_META") if isinstance(metadata, Mapping) else None
    meta = every.get(name) if isinstance(every, Mapping) else None
    return meta if isinstance(meta, Mapping) else {}


def _mean_of(document: Mapping[str, Any], name: str) -> float | None:
    """Return the mean that Flent prints, in bit/s. For older files, return the mean of the series."""
    told = number(_meta(document, name), "MEAN_VALUE")
    if told is not None:
        return _MBIT * told
    found = mean(_series(document, name))
    return None if found is None else _MBIT * found


def _series(document: Mapping[str, Any], name: str) -> list[tuple[float, float]]:
    """Return the values of a series at times from 0, raw values if the file contains them."""
    plain, _, key = name.partition("::tcp_")
    key = f"tcp_{key}" if key else "val"
    every = document.get("raw_values")
    raw = tables(every, plain)
    points = [(number(each, "t"), number(each, key)) for each in raw]
    found = sorted((at, value) for at, value in points if at is not None and value is not None)
    if found:
        first = _beginning(document)
        return [(max(at - first, 0.0), value) for at, value in found]
    results, times = document["results"], document["x_values"]
    values = results.get(name) if isinstance(results, Mapping) else None
    if not isinstance(values, list) or not isinstance(times, list):
        return []
    pairs = ((number({"x": at}, "x"), number({"y": y}, "y")) for at, y in zip(times, values, strict=False))
    return [(at, value) for at, value in pairs if at is not None and value is not None]


def _beginning(document: Mapping[str, Any]) -> float:
    every = document.get("raw_values")
    names = every if isinstance(every, Mapping) else {}
    times = (number(each, "t") for name in names for each in tables(names, name)[:1])
    return min((at for at in times if at is not None), default=0.0)


def _pings(document: Mapping[str, Any]) -> list[tuple[float, float]]:
    results = document["results"]
    names = [name for name in results if name.startswith("Ping") and not name.endswith("avg")]
    return [(at, _MS * value) for at, value in _series(document, names[0])] if names else []
