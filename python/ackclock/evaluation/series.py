"""Prepares the samples of a run for charts: thinned, rounded, and in JSON types."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars

from ackclock.metrics.frames import samples_frame
from ackclock.running.job import Outcome

#: The largest number of drawn flows. More lines or colours are indistinguishable.
MAX_FLOWS = 6
#: The largest number of runs with charts, over all environments and in one environment.
_DRAWN_RUNS = 130
_DRAWN_AT_MOST = 5
#: The largest number of points per line, about the width of a chart in pixels.
_MAX_POINTS = 500
#: The smallest number of points per line that still shows a sawtooth.
_MIN_POINTS = 60
#: The largest number of intervals for rates. They are long enough to fill holes in the received data.
_MAX_BINS = 100
#: The largest count of numbers in a page of less than 3 MB. Each takes about six bytes.
_PAGE_NUMBERS = 90_000

Series = list[float | None]


@dataclass(frozen=True)
class Drawn:
    """The properties of a run that its charts need."""

    #: The link whose queue the charts show.
    link: str
    #: Whether the capacity of the link varies.
    varies: bool
    warmup_s: float
    #: Whether the flows should get equal goodput, so that Jain's index and the phase plot apply.
    fairness: bool
    #: The group whose first flow is an axis of the phase plot, if any.
    watched: str | None
    #: The group of each flow.
    groups: dict[str, str]
    points: int


def lines_of(flows: int) -> int:
    """Return the number of lines of a run: four per drawn flow, and five for the run."""
    return 4 * min(flows, MAX_FLOWS) + 5


def points_per_line(lines: int) -> int:
    """Return the largest number of points per line of a page."""
    return max(_MIN_POINTS, min(_MAX_POINTS, _PAGE_NUMBERS // max(1, lines)))


def runs_drawn(environments: int) -> int:
    """Return the number of algorithms with charts over time in each environment."""
    return max(2, min(_DRAWN_AT_MOST, _DRAWN_RUNS // max(1, environments)))


def run_series(outcome: Outcome, drawn: Drawn) -> dict[str, Any] | None:
    """Return the lines of every chart of a run, or None without samples.

    Times are in seconds, RTTs in ms, rates in Mbit/s, windows in segments, the queue in packets.
    """
    if outcome.flow_samples is None or outcome.link_samples is None:
        return None
    flows = samples_frame(outcome.flow_samples)
    links = samples_frame(outcome.link_samples)
    if flows.is_empty():
        return None
    frames = {str(name): frame for (name,), frame in flows.group_by("flow", maintain_order=True)}
    chosen = choose_flows(frames, drawn.groups)
    link = links.filter(polars.col("link").cast(polars.String) == drawn.link)
    time_s = [ns / 1e9 for ns in frames[chosen[0]]["time_ns"]]
    edges = _edges(len(time_s))
    rates = {name: _rates(frame["delivered_bytes"], time_s, edges) for name, frame in frames.items()}
    shared = drawn.fairness and len(frames) > 1
    return {
        "flows": chosen,
        "hidden": len(frames) - len(chosen),
        "x": _rounded(thin_times(time_s, drawn.points), 3),
        "cwnd": [_thin(frames[name]["cwnd_segments"], drawn.points) for name in chosen],
        "ssthresh": [_thin(frames[name]["ssthresh_segments"], drawn.points) for name in chosen],
        "queue": _thin(link["backlog_packets"], drawn.points),
        "rtt": [_rtt_ms(frames[name]["srtt_ns"], drawn.points) for name in chosen],
        "timeouts": [_timeouts(frames[name], time_s) for name in chosen],
        "bins": _rounded([(time_s[low] + time_s[high]) / 2 for low, high in edges], 3),
        "throughput": [_rounded(_rates(frames[name]["sent_bytes"], time_s, edges), 3) for name in chosen],
        "capacity": _capacity(link, edges) if drawn.varies else None,
        "jain": _rounded(_jain(frames, rates, edges), 3) if shared else None,
        "phase": _phase(chosen, rates, drawn, len(frames)) if shared else None,
    }


def thin(values: Sequence[float], points: int) -> list[float]:
    """Return at most `points` values: the minimum and maximum of every stretch, in the order of time.

    Peaks and troughs therefore survive.
    """
    if len(values) <= points:
        return list(values)
    kept: list[float] = []
    for stretch in _stretches(len(values), points):
        low = min(stretch, key=values.__getitem__)
        high = max(stretch, key=values.__getitem__)
        kept += [values[index] for index in sorted((low, high))]
    return kept


def thin_times(times: Sequence[float], points: int) -> list[float]:
    """Return the times for the values of `thin`, which are the same for every line.

    A value moves by at most half a stretch.
    """
    if len(times) <= points:
        return list(times)
    return [
        times[index]
        for stretch in _stretches(len(times), points)
        for index in (stretch[0], stretch[len(stretch) // 2])
    ]


def choose_flows(names: Iterable[str], groups: dict[str, str]) -> list[str]:
    """Return up to `MAX_FLOWS` flows. The first flow of every group precedes any second one."""
    order = list(names)
    rank: dict[str, int] = {}
    seen: dict[str, int] = {}
    for name in order:
        group = groups.get(name, name)
        rank[name] = seen.get(group, 0)
        seen[group] = rank[name] + 1
    chosen = sorted(order, key=lambda name: (rank[name], order.index(name)))[:MAX_FLOWS]
    return sorted(chosen, key=order.index)


def _stretches(length: int, points: int) -> list[range]:
    # Two points of every stretch are kept, so a stretch has at least two.
    size = math.ceil(length / (points // 2))
    stretches = [range(start, min(start + size, length)) for start in range(0, length, size)]
    if len(stretches) > 1 and len(stretches[-1]) < 2:
        last = stretches.pop()
        stretches[-1] = range(stretches[-1].start, last.stop)
    return stretches


def _thin(column: polars.Series, points: int) -> Series:
    return _rounded(thin([float(value) for value in column], points), 1)


def _rtt_ms(column: polars.Series, points: int) -> Series:
    """Return smoothed RTTs, which are None before the first sample."""
    return [
        None if value == 0 else value for value in _rounded(thin([1e-6 * ns for ns in column], points), 1)
    ]


def _edges(samples: int) -> list[tuple[int, int]]:
    """Return the first and the last sample of every interval for rates."""
    step = max(1, math.ceil((samples - 1) / _MAX_BINS))
    return [(low, low + step) for low in range(0, samples - step, step)]


def _rates(counter: polars.Series, time_s: Sequence[float], edges: Sequence[tuple[int, int]]) -> list[float]:
    count = counter.to_list()
    return [8e-6 * (count[high] - count[low]) / (time_s[high] - time_s[low]) for low, high in edges]


def _capacity(link: polars.DataFrame, edges: Sequence[tuple[int, int]]) -> Series:
    """Return the mean available capacity of every interval. A sample is the mean since its predecessor."""
    mbps = [bps / 1e6 for bps in link["capacity_bps"]]
    return _rounded([math.fsum(mbps[low + 1 : high + 1]) / (high - low) for low, high in edges], 3)


def _jain(
    frames: dict[str, polars.DataFrame], rates: dict[str, list[float]], edges: Sequence[tuple[int, int]]
) -> Series:
    """Return Jain's index over the goodputs of started flows in every interval."""
    sent = {name: frame["sent_bytes"].to_list() for name, frame in frames.items()}
    index: Series = []
    for at, (low, _) in enumerate(edges):
        goodputs = [rates[name][at] for name in frames if sent[name][low] > 0]
        squares = math.fsum(rate * rate for rate in goodputs)
        index.append(math.fsum(goodputs) ** 2 / (len(goodputs) * squares) if squares else None)
    return index


def _phase(chosen: Sequence[str], rates: dict[str, list[float]], drawn: Drawn, flows: int) -> dict[str, Any]:
    """Return the goodputs of two flows. One belongs to the watched group, if there is one."""
    second = next((name for name in chosen if drawn.groups.get(name) == drawn.watched), chosen[1])
    first = next(name for name in chosen if name != second)
    return {
        "names": [first, second],
        "x": _rounded(rates[first], 3),
        "y": _rounded(rates[second], 3),
        # The fair share of two flows.
        "part": 2 / flows,
    }


def _timeouts(frame: polars.DataFrame, time_s: Sequence[float]) -> Series:
    """Return the times of the first samples after each retransmission timeout."""
    off = (frame["phase"].cast(polars.String) == "exponential-backoff").to_list()
    return _rounded([time_s[at] for at, now in enumerate(off) if now and not (at > 0 and off[at - 1])], 2)


def _rounded(values: Iterable[float | None], digits: int) -> Series:
    """Return rounded values, with None for values outside JSON such as an infinite ssthresh."""
    rounded: Series = []
    for value in values:
        if value is None or not math.isfinite(value):
            rounded.append(None)
        else:
            short = round(value, digits)
            rounded.append(int(short) if short == int(short) else short)
    return rounded
