"""The network of a scenario, as `ackclock check --json` describes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

NS = 1_000_000_000
#: Queues that drop at the front. Other queues drop the arriving packet.
DROPS_FIRST = ("drr", "sfq")


@dataclass(frozen=True)
class Link:
    """One direction of a link."""

    name: str
    rate_bps: int | None
    delay_ns: int
    private: bool
    #: Where its queue is full, the first packet of a flow is dropped and not the last.
    drops_first: bool
    #: Its queue keeps the order of the packets of a flow.
    keeps_order: bool
    #: Its rate changes over time.
    varies: bool
    #: It delays packets by more than their transmission and its delay.
    adds_delay: bool
    #: It makes second ones of packets.
    copies: bool
    #: It marks packets behind its queue, which a trace does not show.
    wire_marks: bool

    def transmission_ns(self, wire_bytes: int) -> int:
        """Nanoseconds that a packet takes at a rate that does not vary, rounded down."""
        return 8 * wire_bytes * NS // self.rate_bps if self.rate_bps else 0


@dataclass(frozen=True)
class Flow:
    """A flow of the trace: of TCP, a slot of arrivals, or a source of datagrams."""

    name: str
    #: Row of the results that it belongs to.
    group: str
    #: `flows`, `arrivals` or `datagrams`.
    kind: str
    #: `bulk`, `web` and so on.
    traffic: str
    path: tuple[str, ...]
    reverse_path: tuple[str, ...]
    start_ns: int


@dataclass(frozen=True)
class Network:
    """Links and flows by name."""

    links: dict[str, Link]
    flows: dict[str, Flow]
    bottleneck: str
    #: The window of measurement.
    begin_ns: int
    end_ns: int

    @property
    def seconds(self) -> float:
        """Length of the window."""
        return (self.end_ns - self.begin_ns) / NS


def network_of(description: dict[str, Any], counts: dict[str, int]) -> Network:
    """The network of a description. `counts` is the number of slots of each group of arrivals."""
    flows: dict[str, Flow] = {}
    for flow in description["flows"]:
        for single in _singles(flow, counts.get(flow["name"])):
            flows[single.name] = single
    return Network(
        links={link["name"]: _link(link) for link in description["links"]},
        flows=flows,
        bottleneck=description["bottleneck"],
        begin_ns=_ns(description["warmup_s"]),
        end_ns=_ns(description["duration_s"]),
    )


def _ns(seconds: float) -> int:
    return round(seconds * NS)


def _link(link: dict[str, Any]) -> Link:
    queue, impairments = link["queue"], " ".join(link["impairments"])
    return Link(
        name=link["name"],
        rate_bps=link["rate_bps"],
        delay_ns=_ns(link["delay_s"]),
        private=link["private"],
        drops_first=queue.startswith(DROPS_FIRST),
        keeps_order="hashed anew every" not in queue,
        varies="varies" in link,
        adds_delay=link["jitter_s"] > 0
        or any(word in impairments for word in ("reordering", "delay varies"))
        or " late" in link["loss"],
        copies="duplication" in impairments,
        wire_marks=" marked" in link["loss"],
    )


def _singles(flow: dict[str, Any], slots: int | None) -> list[Flow]:
    """A flow, or every slot of arrivals: the description has the links of the first one."""
    traffic = re.split(r"[ ,]", flow["traffic"])[0]
    kind = "datagrams" if flow["cc"] is None else "arrivals" if traffic == "arrivals" else "flows"
    group, first = flow["group"], f"{flow['name']}.0" if (slots or 1) > 1 else flow["name"]
    names = [flow["name"]] if slots in (None, 1) else [f"{flow['name']}.{slot}" for slot in range(slots)]
    return [
        Flow(
            name=name,
            group=group,
            kind=kind,
            traffic=traffic,
            path=_renamed(flow["path"], first, name),
            reverse_path=_renamed(flow["reverse_path"], first, name),
            start_ns=_ns(flow["start_s"]),
        )
        for name in names
    ]


def _renamed(path: list[str], first: str, name: str) -> tuple[str, ...]:
    """The path with the private links of the flow `first` replaced by links of the flow `name`."""
    own = f"{first}."
    return tuple(f"{name}.{link.removeprefix(own)}" if link.startswith(own) else link for link in path)
