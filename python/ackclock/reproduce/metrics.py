"""Numbers of a run in the units that papers print, and series by the second.

`docs/reference/metrics.md` defines the underlying metrics. 1 kB is 1000 bytes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ackclock._core import UnderTest
from ackclock.reproduce.runs import Run

if TYPE_CHECKING:
    import polars

#: The interval over which a series averages.
_SECOND_NS = 1_000_000_000


def payload_share(run: Run) -> float:
    """Return payload over bytes on the wire at the senders: 1460/1538 for full Ethernet frames."""
    summary = run.summary
    sent_bps = summary["goodput_bps"] / summary["delivery_ratio"] if summary["delivery_ratio"] else 0.0
    return float(sent_bps / summary["throughput_bps"]) if summary["throughput_bps"] else 0.0


def _kb(run: Run, rate_bps: float) -> float:
    """Return a rate as kB over the measured part of the run."""
    return rate_bps * float(run.document["duration_s"] - run.warmup_s) / 8e3


def _goodput_kb(run: Run) -> float:
    return _kb(run, run.summary["goodput_bps"])


def _sent_kb(run: Run) -> float:
    return _kb(run, run.summary["throughput_bps"] * payload_share(run))


def _flows(run: Run) -> int:
    return len(run.document["flows"])


def _undelivered_ratio(run: Run) -> float:
    """Return bytes sent and not acknowledged over bytes sent, in payload.

    Every transmission counts as sent. Only data first sent in the window count as acknowledged. A
    retransmission therefore counts as a loss, and so do data in flight at the end.
    Source: jasem-efficiency-fairness, table 1.
    """
    sent = sum(flow["sent_bytes"] for flow in run.document["flows"])
    acknowledged = sum(flow["acknowledged_bytes"] for flow in run.document["flows"])
    return max(sent - acknowledged, 0) / sent if sent else 0.0


def _first_goodput_kb(run: Run) -> float:
    """Return the goodput of the first flow times the number of flows."""
    return _kb(run, run.document["flows"][0]["goodput_bps"])


def _drops(run: Run) -> float:
    queues = sum(link["drops"] for link in run.document["links"])
    return float(queues + sum(flow["access_drops"] for flow in run.document["flows"]))


def _per_round_trip(run: Run) -> float:
    """Return retransmissions per flow and round trip, queueing included."""
    measured_s = run.document["duration_s"] - run.warmup_s
    rates = [flow["retransmits"] * (flow["rtt_mean_s"] or 0.0) / measured_s for flow in run.document["flows"]]
    return math.fsum(rates) / len(rates)


def _utilization_percent(run: Run) -> float:
    return 100 * float(run.summary["utilization"]) * payload_share(run)


def _deviation_points(run: Run) -> float:
    """Return the standard deviation, over the seconds after the warm-up, of the link's utilisation."""
    series = [value for time, value in zip(*link_series(run), strict=True) if time > run.warmup_s]
    mean = math.fsum(series) / len(series)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in series) / (len(series) - 1))


def _alpha_mean(run: Run) -> float:
    """Return the mean over time, and over the flows that are sampled, of MR-AIMD's alpha."""
    import polars

    samples = run.flow_samples.filter(polars.col("time_ns") > run.warmup_s * _SECOND_NS)
    return float(samples["alpha_segments"].mean())  # type: ignore[arg-type]


def _under_test(run: Run) -> UnderTest:
    """Return the flows of the group `test`."""
    return UnderTest(run.outcome.result_json, ["test"])


def _goodput_fraction(run: Run, taken: str = "offered_bps") -> float:
    """Return goodput over the capacity that others leave, or NaN if the bottleneck has no rate."""
    fraction = _under_test(run).goodput_fraction(taken)
    return math.nan if fraction is None else fraction


def _dropped_percent(run: Run) -> float:
    """Return drops over arrivals of all packets at the bottleneck, and 0 without arrivals."""
    return 100 * float(run.summary["drop_rate"] or 0.0)


#: Metrics by the names that `paper.toml` and `claims.toml` use.
METRICS: dict[str, Callable[[Run], float]] = {
    "efficiency_percent": lambda run: 100 * float(run.summary["efficiency"]),
    "delivery_percent": lambda run: 100 * float(run.summary["delivery_ratio"]),
    "undelivered_percent": lambda run: 100 * _undelivered_ratio(run),
    "loss_percent": lambda run: 100 * float(run.summary["loss_rate"]),
    "drop_percent": _dropped_percent,
    "fairness_percent": lambda run: 100 * float(run.summary["jain_index"]),
    "wire_utilization_percent": lambda run: 100 * float(run.summary["utilization"]),
    "utilization_percent": _utilization_percent,
    "utilization_deviation_points": _deviation_points,
    "drops": _drops,
    "marks": lambda run: float(sum(link["marks"] for link in run.document["links"])),
    "retransmits": lambda run: float(sum(flow["retransmits"] for flow in run.document["flows"])),
    "alpha_mean_segments": _alpha_mean,
    "timeouts": lambda run: float(sum(flow["timeouts"] for flow in run.document["flows"])),
    "retransmits_per_round_trip": _per_round_trip,
    "sent_per_flow_kb": lambda run: _sent_kb(run) / _flows(run),
    "goodput_per_flow_kb": lambda run: _goodput_kb(run) / _flows(run),
    "lost_per_flow_kb": lambda run: (_sent_kb(run) - _goodput_kb(run)) / _flows(run),
    "sent_first_kb": lambda run: run.document["flows"][0]["sent_bytes"] / 1e3,
    "goodput_first_times_flows_kb": lambda run: _first_goodput_kb(run) * _flows(run),
    # Relative to the planned capacity: above one if other traffic loses packets. The second is cut at one.
    "goodput_fraction": lambda run: _goodput_fraction(run),
    "goodput_capped_fraction": lambda run: min(1.0, _goodput_fraction(run)),
    # Relative to the free capacity. Packets sent before the window can be delivered in it, hence the bound.
    "goodput_of_delivered_fraction": lambda run: min(1.0, _goodput_fraction(run, "delivered_bps")),
    "test_loss_percent": lambda run: 100 * _under_test(run).loss_rate,
    "test_jain_percent": lambda run: 100 * _under_test(run).jain_index,
    "test_spread_fraction": lambda run: _under_test(run).spread,
    "test_queue_delay_ms": lambda run: 1e3 * _under_test(run).queue_delay_mean_s,
    "queue_delay_ms": lambda run: 1e3 * float(run.summary["queue_delay_mean_s"]),
    "goodput_total_kb": _goodput_kb,
    "goodput_total_kbytes_per_s": lambda run: float(run.summary["goodput_bps"]) / 8e3,
}


#: Metrics computed from samples over time.
OF_SAMPLES = ("utilization_deviation_points", "alpha_mean_segments")


def link_series(run: Run) -> tuple[list[float], list[float]]:
    """Return ends of seconds, and the payload that the bottleneck carried in each, percent of its rate."""
    samples = _first_link(run)
    rate_bps = run.summary["capacity_bps"]
    times, carried = _by_second(samples["time_ns"].to_list(), samples["forwarded_bytes"].to_list())
    return times, [800 * payload_share(run) * size / rate_bps for size in carried]


def flow_series(run: Run, column: str) -> tuple[list[float], list[float]]:
    """Return the ends of seconds, and the rate of the first flow in each, in Mbit/s of payload.

    `column`: `sent_bytes` or `delivered_bytes` of the samples.
    """
    samples = _first_flow(run)
    scale = 8e-6 * (payload_share(run) if column == "sent_bytes" else 1.0)
    times, sizes = _by_second(samples["time_ns"].to_list(), samples[column].to_list())
    return times, [scale * size for size in sizes]


def state_series(run: Run, column: str) -> tuple[list[float], list[float]]:
    """Return times in seconds, and a column of the samples of the first flow, as it was then."""
    samples = _first_flow(run)
    return [time_ns / _SECOND_NS for time_ns in samples["time_ns"]], samples[column].to_list()


def available_series(run: Run) -> tuple[list[float], list[float]]:
    """Return times in seconds, and the capacity of the bottleneck since the previous sample in Mbit/s."""
    samples = _first_link(run)
    times = [time_ns / _SECOND_NS for time_ns in samples["time_ns"]]
    return times, [1e-6 * rate_bps for rate_bps in samples["capacity_bps"]]


def carried_series(run: Run) -> tuple[list[float], list[float]]:
    """Return times in seconds, and the traffic of the bottleneck since the previous sample in Mbit/s."""
    samples = _first_link(run)
    points = list(zip(samples["time_ns"], samples["forwarded_bytes"], strict=True))
    pairs = list(itertools.pairwise(points))
    return [end / _SECOND_NS for _, (end, _) in pairs], [
        8e3 * (after - before) / (end - begin) for (begin, before), (end, after) in pairs
    ]


def _first_link(run: Run) -> polars.DataFrame:
    import polars

    samples = run.link_samples
    return samples.filter(polars.col("link") == samples["link"][0])


def _first_flow(run: Run) -> polars.DataFrame:
    import polars

    samples = run.flow_samples
    return samples.filter(polars.col("flow") == samples["flow"][0])


def _by_second(times_ns: Sequence[int], counts: Sequence[int]) -> tuple[list[float], list[float]]:
    """Return the ends of whole seconds and the growth of a counter in each, from 0 at the start."""
    at = {
        time_ns: count for time_ns, count in zip(times_ns, counts, strict=True) if time_ns % _SECOND_NS == 0
    }
    last = max(at, default=0) // _SECOND_NS
    values = [at.get(second * _SECOND_NS) for second in range(last + 1)]
    values[0] = values[0] or 0
    ends, grown = [], []
    for second, (before, after) in enumerate(itertools.pairwise(values), 1):
        if before is not None and after is not None:
            ends.append(float(second))
            grown.append(float(after - before))
    return ends, grown
