"""Data of charts from the samples of a run: thinned, rounded, ready for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars

from ackclock.metrics.frames import samples_frame
from ackclock.running.job import Outcome

#: Flows drawn: more lines, or more colours, cannot be told apart.
MAX_FLOWS = 6
#: Runs whose charts a page draws, over all environments, and in one environment.
_DRAWN_RUNS = 130
_DRAWN_AT_MOST = 5
#: Points per line: more than a chart has pixels gains nothing.
_MAX_POINTS = 500
#: Fewer than this show no sawtooth any more.
_MIN_POINTS = 60
#: Intervals over which rates are taken: long enough that a hole in what arrived in order closes within one.
_MAX_BINS = 100
#: Numbers that a page may carry; one takes about six bytes, and a page is below 3 MB.
_PAGE_NUMBERS = 90_000

Series = list[float | None]


@dataclass(frozen=True)
class Drawn:
    """The environment of a run, as its charts need it."""

    #: The link whose queue is drawn.
    link: str
    #: Whether its capacity varies.
    varies: bool
    warmup_s: float
    #: Whether the flows are meant to get the same: Jain's index and the phase plot make sense.
    fairness: bool
    #: The group whose first flow is an axis of the phase plot, where there is one.
    watched: str | None
    #: Groups by flow.
    groups: dict[str, str]
    points: int


def lines_of(flows: int) -> int:
    """Return how many lines a run has: four of each flow that is drawn, and five of the run."""
    return 4 * min(flows, MAX_FLOWS) + 5


def points_per_line(lines: int) -> int:
    """Return how many points each of all the lines of a page may have."""
    return max(_MIN_POINTS, min(_MAX_POINTS, _PAGE_NUMBERS // max(1, lines)))


def runs_drawn(environments: int) -> int:
    """Return of how many algorithms each environment has charts over time."""
    return max(2, min(_DRAWN_AT_MOST, _DRAWN_RUNS // max(1, environments)))


def run_series(outcome: Outcome, drawn: Drawn) -> dict[str, Any] | None:
    """Return the lines of every chart of a run, or nothing where no samples are kept.

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
    """Return at most `points` values: the least and the greatest of every stretch, in the order of time.

    Peaks and troughs survive, whatever the length of a stretch.
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
    """Return the times at which `thin` puts its values: the same for every line, so that they align.

    A value is drawn at most half a stretch away from where it was.
    """
    if len(times) <= points:
        return list(times)
    return [
        times[index]
        for stretch in _stretches(len(times), points)
        for index in (stretch[0], stretch[len(stretch) // 2])
    ]


def choose_flows(names: Iterable[str], groups: dict[str, str]) -> list[str]:
    """Return up to `MAX_FLOWS` flows in their order: the first of every group goes before any second one."""
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
    """Return smoothed RTTs; none before the first sample."""
    return [
        None if value == 0 else value for value in _rounded(thin([1e-6 * ns for ns in column], points), 1)
    ]


def _edges(samples: int) -> list[tuple[int, int]]:
    """Return first and last sample of every interval over which a rate is taken."""
    step = max(1, math.ceil((samples - 1) / _MAX_BINS))
    return [(low, low + step) for low in range(0, samples - step, step)]


def _rates(counter: polars.Series, time_s: Sequence[float], edges: Sequence[tuple[int, int]]) -> list[float]:
    count = counter.to_list()
    return [8e-6 * (count[high] - count[low]) / (time_s[high] - time_s[low]) for low, high in edges]


def _capacity(link: polars.DataFrame, edges: Sequence[tuple[int, int]]) -> Series:
    """Mean available capacity of every interval; a sample has the mean since the one before it."""
    mbps = [bps / 1e6 for bps in link["capacity_bps"]]
    return _rounded([math.fsum(mbps[low + 1 : high + 1]) / (high - low) for low, high in edges], 3)


def _jain(
    frames: dict[str, polars.DataFrame], rates: dict[str, list[float]], edges: Sequence[tuple[int, int]]
) -> Series:
    """Jain's index of the goodputs of the flows that have started, interval by interval."""
    sent = {name: frame["sent_bytes"].to_list() for name, frame in frames.items()}
    index: Series = []
    for at, (low, _) in enumerate(edges):
        goodputs = [rates[name][at] for name in frames if sent[name][low] > 0]
        squares = math.fsum(rate * rate for rate in goodputs)
        index.append(math.fsum(goodputs) ** 2 / (len(goodputs) * squares) if squares else None)
    return index


def _phase(chosen: Sequence[str], rates: dict[str, list[float]], drawn: Drawn, flows: int) -> dict[str, Any]:
    """Goodput of one flow against that of another, one of which is of the group that is watched."""
    second = next((name for name in chosen if drawn.groups.get(name) == drawn.watched), chosen[1])
    first = next(name for name in chosen if name != second)
    return {
        "names": [first, second],
        "x": _rounded(rates[first], 3),
        "y": _rounded(rates[second], 3),
        # What two of so many flows may have of the link.
        "part": 2 / flows,
    }


def _timeouts(frame: polars.DataFrame, time_s: Sequence[float]) -> Series:
    """Times of the samples that are the first to see the retransmission timer backed off."""
    off = (frame["phase"].cast(polars.String) == "exponential-backoff").to_list()
    return _rounded([time_s[at] for at, now in enumerate(off) if now and not (at > 0 and off[at - 1])], 2)


def _rounded(values: Iterable[float | None], digits: int) -> Series:
    """Return rounded values; nothing for values that JSON does not have, such as an infinite ssthresh."""
    rounded: Series = []
    for value in values:
        if value is None or not math.isfinite(value):
            rounded.append(None)
        else:
            short = round(value, digits)
            rounded.append(int(short) if short == int(short) else short)
    return rounded
