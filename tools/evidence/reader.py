"""Recomputes the metrics of a run from its trace and its scenario alone.

docs/reference/metrics.md defines the metrics.

Nothing here comes from the package but the trace, the scenario and its description.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars
from polars import col

import formulas
from capacity import mean_capacity_bps
from meters import Coloured, colours
from network import NS, Flow, Network
from packets_followed import Packet, follow

#: Percentiles of results are from histograms.
PERCENTILE = 0.01
ROUNDING = 1e-9
#: A thousandth of a nanosecond.
SMALL_S = 1e-12
#: So many flows have a percentile of their own.
FLOWS_WITH_PERCENTILE = 8

NOT_SEEN = "an access link adds delays, which a trace does not tell from waiting"
UNCERTAIN = "equal packets were in one link at the same time, and it does not keep the order"
WIRE_MARKS = "a wire marks packets, which a trace does not show"
RANDOM_RATE = "the rate varies at random"
OWN_TIME = "the time of a transfer ends when its sender knows that all arrived"


@dataclass(frozen=True)
class Found:
    """The value that the reader computes from a trace, and the tolerance of the result."""

    value: float | None
    absolute: float = 0.0
    relative: float = 0.0


@dataclass(frozen=True)
class LeftOut:
    """A value that a trace does not show."""

    reason: str


Answer = Found | LeftOut
#: List of the results, name of the row, and metric. The summary has an empty name.
Place = tuple[str, str, str]


def read(trace: polars.DataFrame, network: Network, scenario: dict[str, Any]) -> dict[Place, Answer]:
    """Every metric of the summary, of flows, groups of arrivals, datagrams and links."""
    reader = _Reader(trace, network, scenario)
    answers: dict[Place, Answer] = {}
    rows = [("summary", "", reader.summary())]
    rows += [
        ("flows", flow.name, reader.flow(number, flow)) for number, flow in enumerate(reader.of("flows"))
    ]
    for group in dict.fromkeys(flow.group for flow in reader.of("arrivals")):
        rows.append(("transfers", group, reader.arrivals(group)))
    rows += [("datagrams", flow.name, reader.datagrams(flow)) for flow in reader.of("datagrams")]
    rows += [("meters", name, reader.meter(name)) for name in scenario.get("meters", {})]
    shared = [link for link in network.links.values() if not link.private]
    rows += [("links", link.name, reader.link(link.name)) for link in shared]
    for table, row, metrics in rows:
        answers.update({(table, row, metric): answer for metric, answer in metrics.items()})
    return answers


def _count(value: int) -> Found:
    return Found(value)


def _real(value: float | None) -> Found:
    return Found(value, relative=ROUNDING)


def _ratio(part: float, whole: float) -> Found:
    return _real(formulas.ratio(part, whole))


def _mean_s(nanos: Sequence[float], absolute: float) -> Found:
    mean = formulas.mean(nanos)
    return Found(None if mean is None else mean / NS, absolute, ROUNDING)


def _percentile_s(nanos: Sequence[int], percent: int, absolute: float = 0.0) -> Found:
    value = formulas.percentile(nanos, percent)
    return Found(None if value is None else value / NS, absolute, PERCENTILE)


class _Reader:
    def __init__(self, trace: polars.DataFrame, network: Network, scenario: dict[str, Any]) -> None:
        self.trace = trace.with_columns(col("link", "flow", "event").cast(polars.String))
        self.network, self.scenario = network, scenario
        followed = follow(self.trace, network)
        self.packets = polars.DataFrame([_row(packet) for packet in followed], schema=_SCHEMA)
        self.visits = polars.DataFrame(
            [
                (visit.link.name, visit.transmit_ns, visit.transmit_ns - visit.enter_ns)
                for packet in followed
                for visit in packet.visits[packet.visits_before :]
                if visit.transmit_ns is not None
            ],
            schema={"link": polars.String, "at": polars.Int64, "wait": polars.Int64},
            orient="row",
        )
        group_of = {flow.name: flow.group for flow in network.flows.values()}
        window = (network.begin_ns, network.end_ns)
        #: The colours that meters gave to the data of each flow.
        self.coloured = colours(followed, scenario, group_of, window)
        #: Links whose queues did not keep the order of equal packets.
        self.uncertain_queues = {
            link.name for packet in followed for link in packet.doubts if not link.keeps_order
        }

    def of(self, kind: str) -> list[Flow]:
        return [flow for flow in self.network.flows.values() if flow.kind == kind]

    def within(self, column: str) -> polars.Expr:
        """Whether a time is in the window: its beginning is, its end is not."""
        return (col(column) >= self.network.begin_ns) & (col(column) < self.network.end_ns)

    def data(self, flows: Sequence[Flow]) -> polars.DataFrame:
        return self._packets(flows, "data")

    def _packets(self, flows: Sequence[Flow], kind: str) -> polars.DataFrame:
        names = [flow.name for flow in flows]
        return self.packets.filter((col("kind") == kind) & col("flow").is_in(names))

    def rate(self, size: float) -> float:
        """Bits per second of so many bytes in the window."""
        return 8 * size / self.network.seconds

    def summary(self) -> dict[str, Answer]:
        flows = self.of("flows")
        data = self.data(flows)
        sums = self.sums(data)
        delivered = sum(self.delivered([flow]) for flow in flows)
        bottleneck = self.link(self.network.bottleneck)
        over = [flow for flow in flows if self.network.bottleneck in flow.path]
        capacity = mean_capacity_bps(self.scenario, self.network)
        metrics: dict[str, Answer] = {
            "goodput_bps": _real(self.rate(delivered) if flows else None),
            "throughput_bps": _real(self.rate(sums["wire_bytes"]) if flows else None),
            "utilization": bottleneck["utilization"],
            "delivery_ratio": _ratio(delivered, sums["bytes"]),
            "loss_rate": _ratio(sums["lost"], sums["sent"]),
            "retransmit_rate": _ratio(sums["retransmits"], sums["sent"]),
            "drop_rate": self.share(bottleneck, "drops"),
            "mark_rate": self.share(bottleneck, "marks"),
            "jain_index": self.of_goodputs(flows, formulas.jain_index),
            "spread": self.of_goodputs(flows, formulas.spread),
            **self.waits("queue_delay", flows, "data"),
            "delay_score": self.mean_delay_score(flows),
            **self.waits("reverse_queue_delay", flows, "ack"),
            "bottleneck_queue_delay_mean_s": bottleneck["queue_delay_mean_s"],
            "bottleneck_queue_delay_p95_s": bottleneck["queue_delay_p95_s"],
        }
        if capacity is None:
            metrics["capacity_bps"] = metrics["efficiency"] = LeftOut(RANDOM_RATE)
        else:
            has_rate = self.network.links[self.network.bottleneck].rate_bps is not None
            metrics["capacity_bps"] = _real(capacity if has_rate else None)
            over_bottleneck = self.rate(self.delivered(over))
            metrics["efficiency"] = _ratio(over_bottleneck, capacity if over else 0)
        return metrics

    def of_goodputs(self, flows: Sequence[Flow], formula: Callable[[Sequence[float]], float]) -> Answer:
        """A formula over the goodputs of the flows. The goodput of a transfer refers to its own time."""
        if any(flow.traffic == "transfer" for flow in flows):
            return LeftOut(OWN_TIME)
        return _real(formula([self.delivered([flow]) for flow in flows]) if flows else None)

    def share(self, link: dict[str, Answer], count: str) -> Answer:
        """The share of arrivals at a link with this outcome."""
        part, whole = link[count], link["arrivals"]
        assert isinstance(part, Found) and isinstance(whole, Found)
        return _ratio(part.value or 0, whole.value or 0)

    def sums(self, data: polars.DataFrame) -> dict[str, int]:
        """The counts and sums of data packets."""
        first = ~col("copied")
        sent = data.filter(first & self.within("since"))
        fates = data.filter(self.within("until"))
        fate = Counter(fates["fate"])
        return {
            "sent": sent.height,
            "bytes": int(sent["len"].sum()),
            "wire_bytes": int(sent["wire_bytes"].sum()),
            "retransmits": int(sent["retransmission"].sum()),
            "copies": data.filter(~first & self.within("since")).height,
            "arrived": fate["arrived"],
            "corrupted": fate["discarded"],
            "lost": fate["dropped"] + fate["lost"],
            "access_drops": fates.filter((col("fate") == "dropped") & col("access")).height,
            "in_flight_start": _in_flight(data, self.network.begin_ns),
            "in_flight_end": _in_flight(data, self.network.end_ns),
        }

    def flow(self, number: int, flow: Flow) -> dict[str, Answer]:
        sums, delivered = self.sums(self.data([flow])), self.delivered([flow])
        acks = self.sums(self._packets([flow], "ack"))
        counts = (
            "sent", "retransmits", "copies", "arrived", "corrupted", "lost", "access_drops",
            "in_flight_start", "in_flight_end",
        )  # fmt: skip
        waits = self.waits("queue_delay", [flow], "data")
        if number >= FLOWS_WITH_PERCENTILE:
            waits["queue_delay_p95_s"] = Found(None)
        return {
            **{name: _count(sums[name]) for name in counts},
            "delay_score": self.delay_score(number, flow),
            "sent_bytes": _count(sums["bytes"]),
            "acks_lost": _count(acks["lost"]),
            "acks_corrupted": _count(acks["corrupted"]),
            "goodput_bps": self.of_own_time(flow, delivered),
            "throughput_bps": self.of_own_time(flow, sums["wire_bytes"]),
            "delivered_bps": _real(self.rate(delivered)),
            "loss_rate": _ratio(sums["lost"], sums["sent"]),
            "retransmit_rate": _ratio(sums["retransmits"], sums["sent"]),
            "marks": self.marks(flow),
            **waits,
            **self.colours(flow),
        }

    def of_own_time(self, flow: Flow, size: int) -> Answer:
        """A rate over the time of a flow, which ends with a transfer."""
        return LeftOut(OWN_TIME) if flow.traffic == "transfer" else _real(self.rate(size))

    def meter_of(self, group: str) -> str | None:
        """The meter of a group of flows."""
        named = (flow.get("meter") for flow in self.scenario["flows"] if flow["name"] == group)
        return next(named, None)

    def colours(self, flow: Flow) -> dict[str, Answer]:
        """Packets of a flow by colour, or nothing for a flow without a meter."""
        if self.meter_of(flow.group) is None:
            return {}
        coloured = self.coloured.get(flow.name, Coloured())
        counts: dict[str, Answer] = {name: _count(count) for name, count in coloured.packets.items()}
        return {**counts, "policed": _count(coloured.policed)}

    def meter(self, name: str) -> dict[str, Answer]:
        flows = [flow for flow in self.network.flows.values() if self.meter_of(flow.group) == name]
        found = [self.coloured.get(flow.name, Coloured()) for flow in flows]
        metrics: dict[str, Answer] = {"policed": _count(sum(one.policed for one in found))}
        for colour in ("green", "yellow", "red"):
            metrics[colour] = _count(sum(one.packets[colour] for one in found))
            metrics[f"{colour}_bps"] = _real(self.rate(sum(one.bytes[colour] for one in found)))
        return metrics

    def marks(self, flow: Flow) -> Answer:
        """How many data packets came to the receiver with a mark."""
        data = self.data([flow])
        if any(self.network.links[link].wire_marks for link in flow.path):
            return LeftOut(WIRE_MARKS)
        if not self.is_certain(data):
            return LeftOut(UNCERTAIN)
        came = data.filter(col("fate") == "arrived").sort("until", maintain_order=True)
        news = polars.Series(formulas.are_news(_pieces(came)), dtype=polars.Boolean)
        # RFC 3168 §6.1.5: marks of data that came before are ignored.
        return _count(came.filter(news & col("marked") & self.within("until")).height)

    def arrivals(self, group: str) -> dict[str, Answer]:
        slots = [flow for flow in self.of("arrivals") if flow.group == group]
        sums = self.sums(self.data(slots))
        return {
            **{name: _count(sums[name]) for name in ("sent", "retransmits", "lost")},
            "goodput_bps": _real(self.rate(self.delivered(slots))),
            "throughput_bps": _real(self.rate(sums["wire_bytes"])),
            "loss_rate": _ratio(sums["lost"], sums["sent"]),
            "retransmit_rate": _ratio(sums["retransmits"], sums["sent"]),
            **self.waits("queue_delay", slots, "data"),
        }

    def datagrams(self, flow: Flow) -> dict[str, Answer]:
        data = self.data([flow])
        sums = self.sums(data)
        came = data.filter(col("fate") == "arrived").sort("until", maintain_order=True)
        # What comes a second time does not count.
        came = came.unique("seq", keep="first", maintain_order=True)
        transits = (came["until"] - came["sent"]).to_list()
        measured = came.select(self.within("until"))["until"].to_list()
        delays = [transit for transit, is_in in zip(transits, measured, strict=True) if is_in]
        jitters = [jitter for jitter, is_in in zip(formulas.jitter(transits), measured, strict=True) if is_in]
        arrived_bytes = int(came.filter(self.within("until"))["wire_bytes"].sum())
        uncertain = bool(data["uncertain"].any())
        delay: dict[str, Answer] = {
            "delay_mean_s": _mean_s(delays, 0.0),
            "delay_p50_s": _percentile_s(delays, 50),
            "delay_p99_s": _percentile_s(delays, 99),
            "jitter_s": _mean_s(jitters, SMALL_S),
        }
        return {
            **{name: _count(sums[name]) for name in ("sent", "lost", "corrupted")},
            "delivered": _count(len(delays)),
            "offered_bps": _real(self.rate(sums["wire_bytes"])),
            "delivered_bps": _real(self.rate(arrived_bytes)),
            "loss_rate": _ratio(sums["lost"], sums["sent"]),
            **({name: LeftOut(UNCERTAIN) for name in delay} if uncertain else delay),
            **self.colours(flow),
        }

    def link(self, name: str) -> dict[str, Answer]:
        rows = self.trace.filter((col("link") == name) & self.within("time_ns"))
        events = dict(rows["event"].value_counts().iter_rows())
        begun = self.visits.filter((col("link") == name) & self.within("at"))
        waits = begun["wait"].to_list()
        delays: dict[str, Answer] = {
            "queue_delay_mean_s": _mean_s(waits, SMALL_S),
            "queue_delay_p95_s": _percentile_s(waits, 95),
        }
        transmitted = rows.filter(col("event") == "transmit")
        names = {"arrivals": "enter", "forwarded": "transmit", "drops": "drop", "marks": "mark"}
        counts: dict[str, Answer] = {metric: _count(events.get(event, 0)) for metric, event in names.items()}
        # What a meter drops does not come to the queue.
        counts["arrivals"] = _count(events.get("enter", 0) - events.get("police", 0))
        if self.network.links[name].copies:
            counts["duplicates"] = _count(events.get("copy", 0))
        capacity = mean_capacity_bps(self.scenario, self.network, name)
        sent_bps = self.rate(int(transmitted["wire_bytes"].sum()))
        return {
            **counts,
            "utilization": LeftOut(RANDOM_RATE) if capacity is None else _ratio(sent_bps, capacity),
            **(
                {metric: LeftOut(UNCERTAIN) for metric in delays} if name in self.uncertain_queues else delays
            ),
        }

    def waits(self, name: str, flows: Sequence[Flow], kind: str) -> dict[str, Answer]:
        """Mean and 95th percentile of the queueing delays of packets that arrived in the window."""
        packets = self._packets(flows, kind)
        mean, p95 = f"{name}_mean_s", f"{name}_p95_s"
        if not self.is_certain(packets):
            return {mean: LeftOut(UNCERTAIN), p95: LeftOut(UNCERTAIN)}
        arrived = packets.filter(self.arrived)
        if arrived["wait"].null_count():
            return {mean: LeftOut(NOT_SEEN), p95: LeftOut(NOT_SEEN)}
        waits = arrived["wait"].to_list()
        slack = max((self.rounding_ns(flow, kind) for flow in flows), default=0)
        return {
            mean: _mean_s(waits, SMALL_S + slack / NS),
            p95: LeftOut(UNCERTAIN) if packets["uncertain"].any() else _percentile_s(waits, 95, slack / NS),
        }

    def delay_score(self, number: int, flow: Flow) -> Answer:
        """The delay score of a flow. Flows without an own percentile share the percentiles of their group."""
        later = self.of("flows")[FLOWS_WITH_PERCENTILE:]
        members = (
            [flow] if number < FLOWS_WITH_PERCENTILE else [each for each in later if each.group == flow.group]
        )
        packets = self.data(members)
        if not self.is_certain(packets) or packets["uncertain"].any():
            return LeftOut(UNCERTAIN)
        waits = packets.filter(self.arrived)["wait"]
        if waits.null_count():
            return LeftOut(NOT_SEEN)
        base_ns = sum(self.network.links[name].delay_ns for name in (*flow.path, *flow.reverse_path))
        slack = max(self.rounding_ns(each, "data") for each in members) / max(base_ns, 1)
        return Found(formulas.delay_score(base_ns, waits.to_list()), slack, PERCENTILE)

    def mean_delay_score(self, flows: Sequence[Flow]) -> Answer:
        """The mean delay score of flows, weighted by the packets that arrived."""
        scores = [self.delay_score(number, flow) for number, flow in enumerate(flows)]
        counts = [self.sums(self.data([flow]))["arrived"] for flow in flows]
        total = weighted = slack = 0.0
        for score, count in zip(scores, counts, strict=True):
            if isinstance(score, LeftOut):
                return score
            if score.value is not None:
                total, weighted = total + count, weighted + score.value * count
                slack = max(slack, score.absolute)
        return Found(formulas.ratio(weighted, total), slack, PERCENTILE)

    def rounding_ns(self, flow: Flow, kind: str) -> int:
        """How far a wait may be off: access links round transmissions to a nanosecond more or less."""
        links = (self.network.links[name] for name in (flow.path if kind == "data" else flow.reverse_path))
        return sum(link.private and link.rate_bps is not None for link in links)

    @property
    def arrived(self) -> polars.Expr:
        """Whether a packet came to the end of its path in the window, with right bits."""
        return (col("fate") == "arrived") & self.within("until").fill_null(False)

    def is_certain(self, packets: polars.DataFrame) -> bool:
        """Whether it makes no difference to a sum which one of equal packets was which."""
        equal = ("flow", "kind", "seq", "len", "wire_bytes", "retransmission")
        doubtful = packets.filter("uncertain").select(*equal, "copied_in_doubt", arrived=self.arrived)
        groups = doubtful.group_by(equal).agg(col("arrived").n_unique(), col("copied_in_doubt").any())
        return groups.filter((col("arrived") > 1) | col("copied_in_doubt")).is_empty()

    def delivered(self, flows: Sequence[Flow]) -> int:
        """Payload that came in order in the window."""
        total = 0
        for flow in flows:
            data = self.data([flow])
            came = data.filter(col("fate") == "arrived")
            before = came.filter(col("until") < self.network.begin_ns)
            sent = _pieces(data)
            total += formulas.in_order(sent, _pieces(came)) - formulas.in_order(sent, _pieces(before))
        return total


_SCHEMA = {
    "flow": polars.String,
    "kind": polars.String,
    "seq": polars.Int64,
    "len": polars.Int64,
    "wire_bytes": polars.Int64,
    "retransmission": polars.Boolean,
    #: Made by a link, and not sent.
    "copied": polars.Boolean,
    #: When it was sent or made.
    "since": polars.Int64,
    #: The time at which it, or the original of a copy, was sent.
    "sent": polars.Int64,
    "fate": polars.String,
    "until": polars.Int64,
    #: Its queueing delay on the path in nanoseconds, or `None` if the trace does not show it.
    "wait": polars.Int64,
    #: It was dropped before the first shared link.
    "access": polars.Boolean,
    "marked": polars.Boolean,
    #: It may have been another one that is equal to it.
    "uncertain": polars.Boolean,
    #: A copy whose original has this property, and whose earlier queueing delay has it as well.
    "copied_in_doubt": polars.Boolean,
}


def _row(packet: Packet) -> dict[str, Any]:
    return {
        "flow": packet.flow,
        "kind": packet.kind,
        "seq": packet.seq,
        "len": packet.len,
        "wire_bytes": packet.wire_bytes,
        "retransmission": packet.retransmission,
        "copied": packet.copied_ns is not None,
        "since": packet.since_ns,
        "sent": packet.visits[0].enter_ns,
        "fate": packet.fate,
        "until": packet.fate_ns if packet.fate else None,
        "wait": _wait(packet),
        "access": all(visit.link.private for visit in packet.visits),
        "marked": packet.marked,
        "uncertain": bool(packet.doubts),
        "copied_in_doubt": packet.copied_in_doubt,
    }


def _wait(packet: Packet) -> int | None:
    """The queueing delay of a packet by link. At a shared link it ends with the start of transmission."""
    waited = 0
    for visit in packet.visits:
        link = visit.link
        if visit.transmit_ns is not None:
            waited += visit.transmit_ns - visit.enter_ns
        elif visit.leave_ns is None or link.adds_delay:
            return None
        else:
            took = visit.leave_ns - visit.enter_ns
            waited += took - link.delay_ns - link.transmission_ns(packet.wire_bytes)
    return waited


def _in_flight(packets: polars.DataFrame, at: int) -> int:
    there = (col("since") < at) & (col("until").is_null() | (col("until") >= at))
    return packets.filter(there).height


def _pieces(data: polars.DataFrame) -> list[formulas.Piece]:
    return list(data.select("seq", "len").iter_rows())
