"""A text of `ss -tin`, again and again with a time before each: one connection of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from ackclock.captures.measured import Measured
from ackclock.errors import InputError

#: A line of its own with the time, as `date +%s.%N` and `date -Is` print it.
_EPOCH = re.compile(r"\s*(\d{9,11}(?:[.,]\d{1,9})?)\s*")
_ISO = re.compile(r"\s*(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)\s*")
#: State, two queues, both ends.
_HEAD = re.compile(r"\s*(?:ESTAB|CLOSE-WAIT|FIN-WAIT-[12]|LAST-ACK|CLOSING)\s+\d+\s+\d+\s+(\S+)\s+(\S+)")
_FIELD = re.compile(r"(\w+):([\d.]+)(?:/([\d.]+))?")
_ALGORITHMS = re.compile(r"\s*(?:ts |sack |ecn |ecnseen |fastopen |cwr )*([a-z][a-z0-9_]*)\b(?!:)")
#: Values of a connection that are kept.
_MOST = 1_000_000
_MS = 1e-3


@dataclass
class _Connection:
    name: str
    times: list[float] = field(default_factory=list)
    fields: list[dict[str, float]] = field(default_factory=list)
    cc: str | None = None

    @property
    def moved(self) -> float:
        return _acked(self.fields[-1]) - _acked(self.fields[0])


def is_ss(text: str) -> bool:
    """Whether a text is of `ss -tin`."""
    return "cwnd:" in text and _HEAD.search(text) is not None


def connections(text: str) -> list[_Connection]:
    """Return the connections with their samples, those with most data acknowledged first.

    Raises `InputError` where there is no time before a sample, or too few of them.
    """
    found: dict[str, _Connection] = {}
    now, current, samples = None, None, 0
    for line in text.splitlines():
        if (time := _time(line)) is not None:
            now, current = time, None
        elif head := _HEAD.match(line):
            name = f"{head[1]} > {head[2]}"
            current = found.setdefault(name, _Connection(name))
            samples += 1
            line = line[head.end() :]
        if current is not None and "cwnd:" in line:
            if now is None:
                raise InputError(
                    "ss has no time before its first sample; record with: "
                    "while :; do date +%s.%N; ss -tin; sleep 0.1; done"
                )
            if samples > _MOST:
                raise InputError(f"ss has more than {_MOST} samples; record fewer connections")
            if not current.times or now > current.times[-1]:
                current.times.append(now)
                current.fields.append(_fields(line))
                current.cc = algorithm[1] if (algorithm := _ALGORITHMS.match(line)) else current.cc
            current = None
    several = [each for each in found.values() if len(each.times) > 1]
    if not several:
        raise InputError("ss has no connection with two samples at different times")
    return sorted(several, key=lambda each: -each.moved)


def read(connection: _Connection) -> Measured:
    """Return the figures of a connection, from its first sample to its last."""
    start, first, last = connection.times[0], connection.fields[0], connection.fields[-1]
    duration = connection.times[-1] - start
    samples = [
        (time - start, fields) for time, fields in zip(connection.times, connection.fields, strict=True)
    ]
    pairs = list(pairwise(samples))
    rate = [
        (after[0], 8 * (_acked(after[1]) - _acked(before[1])) / (after[0] - before[0]))
        for before, after in pairs
    ]
    said = ["RTTs are smoothed; the window and the RTT are values at the time of each sample"]
    if "bytes_acked" not in last:
        said.append("this ss reports no bytes_acked: goodput is unknown")
    return Measured(
        tool="ss",
        name=connection.name,
        duration_s=duration,
        goodput_bps=8 * connection.moved / duration if "bytes_acked" in last else None,
        retransmissions=int(last.get("retrans_total", 0.0) - first.get("retrans_total", 0.0)),
        segments=int(last["data_segs_out"] - first.get("data_segs_out", 0.0))
        if "data_segs_out" in last
        else None,
        mss=int(last["mss"]) if last.get("mss") else None,
        cc=connection.cc,
        ipv6=connection.name.count(":") > 2,
        least_rtt_s=_MS * last["minrtt"] if last.get("minrtt") else None,
        rate=[(time, max(value, 0.0)) for time, value in rate] if "bytes_acked" in last else [],
        rtt=[(time, _MS * fields["rtt"]) for time, fields in samples if fields.get("rtt")],
        window=[
            (time, fields["cwnd"] * fields["mss"])
            for time, fields in samples
            if {"cwnd", "mss"} <= fields.keys()
        ],
        remarks=tuple(said),
    )


def _time(line: str) -> float | None:
    if found := _EPOCH.fullmatch(line):
        return float(found[1].replace(",", "."))
    if found := _ISO.fullmatch(line):
        try:
            return datetime.fromisoformat(found[1].replace(",", ".")).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    return None


def _fields(line: str) -> dict[str, float]:
    """Return `name:value` fields. `retrans:now/all` has the sum as `retrans_total`."""
    found: dict[str, float] = {}
    for name, value, after in _FIELD.findall(line):
        try:
            found[name] = float(value)
            if name == "retrans" and after:
                found["retrans_total"] = float(after)
        except ValueError:
            continue
    return found


def _acked(fields: dict[str, float]) -> float:
    return fields.get("bytes_acked", 0.0)
