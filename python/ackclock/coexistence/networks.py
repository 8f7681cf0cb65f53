"""The networks of a coexistence matrix: a bottleneck with flows of a first and a second algorithm."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ackclock import _core
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.subject import Algorithms
from ackclock.scenario import SCHEMA, Scenario

#: The names of both groups of flows.
FIRST, SECOND = "first", "second"
_SUBJECT = Algorithms((FIRST, SECOND))
RATE_MBPS = 20
#: The length of a run, and the beginning of its measurement.
DURATION_S, WARMUP_S = 120, 30
#: The time in which the effect of a flow that starts late is measured.
LATE_S = 5
#: A transfer of the second algorithm arrives whenever the mean load reaches this share of the rate.
SHORT_LOAD = 0.2
#: Families whose algorithms need AccECN.
_SCALABLE = "Scalable, for L4S and data centres"


@dataclass(frozen=True)
class Network:
    """A bottleneck of 20 Mbit/s with flows of two algorithms."""

    id: str
    title: str
    #: The limit of a drop-tail queue. Other queues have their defaults.
    buffer_bdp: float = 1.0
    queue: str = "drop-tail"
    #: The base RTTs of the first and of the second algorithm.
    rtts_ms: tuple[float, float] = (40, 40)
    #: The numbers of flows of the first and of the second algorithm.
    counts: tuple[int, int] = (1, 1)
    #: The size of transfers of the second algorithm. None for bulk flows.
    size: str | None = None
    #: Whether the first algorithm starts when the measurement begins.
    is_late: bool = False

    @property
    def is_symmetric(self) -> bool:
        """Whether a run of two algorithms shows the harm in both directions."""
        (one, other), (ours, theirs) = self.rtts_ms, self.counts
        return one == other and ours == theirs and self.size is None and not self.is_late

    def scenario(self, first: Candidate | None, second: Candidate, sets: Iterable[str] = ()) -> Scenario:
        """Return a scenario with flows of both algorithms, or of the second one alone.

        Raises `ScenarioError` if an algorithm does not fit, and `ArgumentValueError` if `sets` change one.
        """
        if first is None:
            # Changes may name the first flows, or a group by its number.
            tree = self.scenario(second, second, sets).written
            flows = [flow for flow in tree["flows"] if flow["name"] != FIRST]
            return Scenario.from_dict({**tree, "name": self._name(f"{second.label} alone"), "flows": flows})
        end = WARMUP_S + LATE_S if self.is_late else DURATION_S
        pair = Scenario.from_dict(
            {
                "schema": SCHEMA,
                "name": self._name(f"{first.label} against {second.label}"),
                "duration": f"{end} s",
                "warmup": f"{WARMUP_S} s",
                "replicates": {"rtt": 0.05, "rate": 0.02},
                "topology": {
                    "kind": "dumbbell",
                    "rate": f"{RATE_MBPS} Mbit/s",
                    "delay": f"{min(self.rtts_ms) / 2:g} ms",
                    "queue": self._queue,
                },
                "transport": {"send_jitter": "1 packet"},
                "flows": [self._group(FIRST, first, 0), self._group(SECOND, second, 1)],
            }
        )
        return _SUBJECT.changed(pair, sets)

    @property
    def own_warnings(self) -> frozenset[str]:
        """The warnings about the network, which a classic and a scalable algorithm get as well."""
        known = [Candidate.parse(name) for name in ("reno", "prague")]
        pairs = ((first, second) for first in (None, *known) for second in known)
        return frozenset(text for pair in pairs for text in self.scenario(*pair).warnings)

    def _name(self, flows: str) -> str:
        return f"{flows}: {self.title}"[:200]

    @property
    def _queue(self) -> dict[str, Any]:
        if self.queue != "drop-tail":
            return {"kind": self.queue}
        return {"kind": self.queue, "limit": f"{self.buffer_bdp:g} BDP"}

    def _group(self, name: str, candidate: Candidate, place: int) -> dict[str, Any]:
        group: dict[str, Any] = {
            "name": name,
            "count": self.counts[place],
            "cc": candidate.written,
            "rtt": f"{self.rtts_ms[place]:g} ms",
            "ecn": "accecn" if candidate.kind in scalable() else "classic",
            "start": {"uniform": ["0 s", "5 s"]},
        }
        if place == 0 and self.is_late:
            group["start"] = f"{WARMUP_S} s"
        if place == 1 and self.size is not None:
            size_bits = 8e3 * float(self.size.removesuffix(" kB"))
            every_s = size_bits / (SHORT_LOAD * RATE_MBPS * 1e6)
            group["count"] = 200
            group["traffic"] = {"kind": "arrivals", "every": f"{1e3 * every_s:g} ms", "size": self.size}
            del group["start"]
        return group


@cache
def scalable() -> frozenset[str]:
    """Return the algorithms that need AccECN."""
    return frozenset(
        entry["name"] for entry in json.loads(_core.list_json("cc")) if entry.get("family") == _SCALABLE
    )


def _buffers(depths: Iterable[float], rtt_ms: float, counts: tuple[int, int] = (1, 1)) -> list[Network]:
    ours, theirs = counts
    shape = "" if counts == (1, 1) else f"{ours}-to-{theirs}-"
    words = "" if counts == (1, 1) else f", {ours} to {theirs} flows"
    return [
        Network(
            f"{shape}{depth:g}-bdp-{rtt_ms:g}-ms",
            f"{depth:g} BDP, {rtt_ms:g} ms{words}",
            depth,
            rtts_ms=(rtt_ms, rtt_ms),
            counts=counts,
        )
        for depth in depths
    ]


def _aqm(queue: str, title: str, rtt_ms: float) -> Network:
    return Network(f"{queue}-{rtt_ms:g}-ms", f"{title}, {rtt_ms:g} ms", queue=queue, rtts_ms=(rtt_ms, rtt_ms))


def _short(size_kb: int, depth: float) -> Network:
    return Network(
        f"{size_kb}-kb-{depth:g}-bdp",
        f"transfers of {size_kb} kB, {depth:g} BDP",
        depth,
        size=f"{size_kb} kB",
    )


def series(networks: Iterable[Network]) -> dict[float, list[Network]]:
    """Return networks that differ in the depth of a drop-tail buffer alone, by RTT in ms.

    A series contains at least `LEAST_DEPTHS` depths.
    """
    found: dict[float, list[Network]] = {}
    for network in networks:
        if network.is_symmetric and network.queue == "drop-tail":
            found.setdefault(network.rtts_ms[0], []).append(network)
    return {rtt: found[rtt] for rtt in sorted(found) if len(found[rtt]) >= LEAST_DEPTHS}


#: The smallest number of depths of a chart.
LEAST_DEPTHS = 4
#: The depths of the buffer in the full grid.
DEPTHS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 16)
#: The networks of all pairs: a shallow and a deep buffer, unequal numbers, short transfers, two AQMs.
SIX = (
    *_buffers((0.25, 4), 40),
    *_buffers((1,), 40, (1, 10)),
    _short(100, 1),
    _aqm("fq-codel", "FQ-CoDel", 40),
    _aqm("dualpi2", "DualPI2", 40),
)
#: The networks of the full grid.
FULL = (
    *(network for rtt in (10, 40, 100, 200) for network in _buffers(DEPTHS, rtt)),
    *(network for counts in ((1, 10), (10, 1)) for network in _buffers((0.25, 1, 4), 40, counts)),
    *(_short(size, depth) for size in (10, 100, 1000) for depth in (0.25, 1, 4)),
    *(_aqm("fq-codel", "FQ-CoDel", rtt) for rtt in (10, 40, 100, 200)),
    *(_aqm("dualpi2", "DualPI2", rtt) for rtt in (10, 40, 100, 200)),
    *(
        Network(f"rtt-{ours}-to-{theirs}-ms", f"RTT {ours} ms against {theirs} ms", rtts_ms=(ours, theirs))
        for ours, theirs in ((10, 40), (10, 100), (40, 10), (100, 10))
    ),
    *(
        Network(f"start-{depth:g}-bdp", f"start-up of the first, {depth:g} BDP", depth, is_late=True)
        for depth in (0.25, 1, 4)
    ),
)
