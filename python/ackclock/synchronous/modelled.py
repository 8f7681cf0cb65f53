"""The synchronous model of a scenario, with results in the form of a run's.

A step of the model is one RTT. Its length follows from the load: the base RTT, or the load divided by the
rate if that is longer. `X_goal` is the capacity of path and queue together.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ackclock.errors import InputError
from ackclock.metrics.declared import METRICS
from ackclock.metrics.quantities import number_of
from ackclock.scenario import Scenario
from ackclock.synchronous.model import trajectory

#: Mechanisms that the model omits in every scenario.
NEVER = "slow start, loss recovery and timeouts"
#: The greatest number of distinct times at which flows begin or end, because each restarts the model.
_MOST_TIMES = 64
#: Bytes that timestamps add to a header.
_TIMESTAMPS = 12


@dataclass(frozen=True)
class Modelled:
    """The results of the model for a scenario."""

    #: The keys of a run's document. `model.left_out` lists the parts of the scenario that the model omits.
    document: dict[str, Any]
    #: Of each flow times in seconds and windows in segments.
    windows: Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class _Path:
    """The bottleneck, in segments."""

    #: Segments a second.
    rate: float
    base_rtt_s: float
    x_goal: float
    #: Bytes of a segment on the wire, and of its payload.
    wire: float
    payload: float

    def rtt_s(self, load: float) -> float:
        """Return how long a round trip takes."""
        return max(self.base_rtt_s, min(load, self.x_goal) / self.rate)


@dataclass
class _Sums:
    """The sums of a flow between the warm-up and the end, and the time that it was active."""

    active_s: float = 0.0
    rounds: float = 0.0
    sent: float = 0.0
    delivered: float = 0.0
    window_s: float = 0.0
    delay_s: float = 0.0
    cuts: int = 0
    least_rtt_s: float = math.inf


@dataclass
class _Run:
    """The model with times in seconds."""

    sums: list[_Sums]
    windows: list[list[tuple[float, float]]]
    #: Queueing delay of each round trip, and the segments that had it.
    delays: list[tuple[float, float]] = field(default_factory=list)
    delivered: float = 0.0
    measured_s: float = 0.0


def modelled(scenario: Scenario) -> Modelled:
    """Return the results of the model. Raises `InputError` if it does not support an algorithm."""
    described = scenario.describe()
    resolved = {flow["name"]: flow for flow in json.loads(scenario.resolved_json)["flows"]}
    flows = [
        flow
        for flow in described["flows"]
        if flow["cc"] is not None and described["bottleneck"] in flow["path"]
    ]
    if not flows:
        raise InputError(f"{scenario.name}: the model needs a flow at the bottleneck")
    keys = [resolved[flow["group"]] for flow in flows]
    link = next(link for link in described["links"] if link["name"] == described["bottleneck"])
    if link["rate_bps"] is None:
        raise InputError(f"{scenario.name}: the model needs a bottleneck with a rate, which is its capacity")
    path = _path(link, flows, keys[0])
    run = _run(path, flows, keys, described["warmup_s"], described["duration_s"])
    document = {
        "scenario": described["name"],
        "scenario_hash": described["hash"],
        "backend": "model",
        "seed": described["seed"],
        "replicate": 0,
        "duration_s": described["duration_s"],
        "engine_cpu_s": 0.0,
        "packets_forwarded": 0,
        "events": 0,
        "summary": _summary(run, path, link["rate_bps"]),
        "flows": [
            _row(index, flow, run.sums[index], path, run.measured_s) for index, flow in enumerate(flows)
        ],
        "links": [],
        "model": {
            "x_goal_segments": path.x_goal,
            "base_rtt_s": path.base_rtt_s,
            "left_out": [NEVER, *_left_out(described, flows, link)],
        },
    }
    names = [flow["name"] for flow in flows]
    return Modelled(document, dict(zip(names, run.windows, strict=True)))


def _path(link: Mapping[str, Any], flows: Sequence[Mapping[str, Any]], keys: Mapping[str, Any]) -> _Path:
    payload = _bytes(keys["mss"])
    wire = payload + _bytes(keys["header"]) + _bytes(keys["framing"])
    wire += _TIMESTAMPS if keys["timestamps"] else 0
    rate = link["rate_bps"] / 8 / wire
    base_rtt_s = math.fsum(flow["base_rtt_s"] for flow in flows) / len(flows)
    limit = _limit(link["queue"], wire)
    return _Path(rate, base_rtt_s, rate * base_rtt_s + (limit or 0.0), wire, payload)


def _bytes(quantity: str) -> float:
    found = number_of(quantity)
    assert found is not None, "resolved scenarios have quantities"
    return found[1]


def _limit(queue: str, wire: float) -> float | None:
    """Return the limit of a drop-tail queue in segments, and None for another queue."""
    found = re.fullmatch(r"drop-tail, (\d+) (packets|B)", queue)
    if found is None:
        return None
    return int(found[1]) / (1 if found[2] == "packets" else wire)


def _run(
    path: _Path,
    flows: Sequence[Mapping[str, Any]],
    keys: Sequence[Mapping[str, Any]],
    warmup_s: float,
    end_s: float,
) -> _Run:
    """Run the model. Flows begin and end in the RTT that contains their time in seconds."""
    users: list[dict[str, Any]] = [
        {"cc": key["cc"], "window": float(key["initial_window"]), "start": None} for key in keys
    ]
    changes = sorted({flow["start_s"] for flow in flows} | {flow["stop_s"] or end_s for flow in flows})
    changes = [time for time in changes if time < end_s]
    if len(changes) > _MOST_TIMES:
        raise InputError(
            f"flows begin and end at {len(changes)} times; the model takes at most {_MOST_TIMES} "
            "(leave out --backend model)"
        )
    rounds = math.ceil(end_s / path.base_rtt_s) + 1
    answer, times = None, [0.0]
    for at in changes:
        # Later changes do not affect anything before this time.
        number = next((index for index, time in enumerate(times) if time >= at - 1e-9), rounds)
        if answer is None:
            number = math.ceil((at - 1e-9) / path.base_rtt_s)
        for user, flow in zip(users, flows, strict=True):
            if flow["start_s"] == at:
                user["start"] = float(number)
            if flow["stop_s"] == at and user["start"] is not None and number > user["start"]:
                user["stop"] = float(number)
        there = [user for user in users if user["start"] is not None]
        answer = _ask(there, path, rounds, flows, users)
        times = _times(answer["load"], path)
    assert answer is not None, "a flow begins before the end"
    present = [index for index, user in enumerate(users) if user["start"] is not None]
    return _measured(answer, times, path, (len(users), present), (warmup_s, end_s))


def _ask(
    there: Sequence[Mapping[str, Any]],
    path: _Path,
    rounds: int,
    flows: Sequence[Mapping[str, Any]],
    users: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    try:
        return trajectory(there, x_goal=path.x_goal, duration=float(rounds))
    except InputError as error:
        message = str(error).removeprefix("model: ")
        if found := re.match(r"users\.(\d+)\.cc: ", message):
            user = there[int(found[1])]
            name = next(flow["group"] for flow, other in zip(flows, users, strict=True) if other is user)
            message = message.removeprefix(found[0]).replace("; use another algorithm", "")
            raise InputError(f"flows.{name}.cc: {message}; leave out --backend model") from None
        raise


def _times(loads: Sequence[float], path: _Path) -> list[float]:
    """Return when each round trip begins."""
    times = [0.0]
    for load in loads:
        times.append(times[-1] + path.rtt_s(load))
    return times


def _measured(
    answer: Mapping[str, Any],
    times: Sequence[float],
    path: _Path,
    of_users: tuple[int, Sequence[int]],
    between: tuple[float, float],
) -> _Run:
    count, present = of_users
    run = _Run([_Sums() for _ in range(count)], [[] for _ in range(count)])
    rows = zip(times, answer["load"], answer["windows"], answer["congested"], strict=False)
    for begin, load, windows, congested in rows:
        if begin >= between[1]:
            break
        rtt = path.rtt_s(load)
        # The part of an RTT between warm-up and end, if one of them cuts it.
        inside = max(0.0, min(begin + rtt, between[1]) - max(begin, between[0]))
        arrived = min(1.0, path.x_goal / load) if load else 0.0
        run.measured_s += inside
        run.delivered += inside / rtt * load * arrived
        run.delays.append((rtt - path.base_rtt_s, inside / rtt * load * arrived))
        for index, window in zip(present, windows, strict=True):
            if window is None:
                continue
            run.windows[index].append((begin, window))
            if inside == 0.0:
                continue
            sums = run.sums[index]
            sums.active_s += inside
            sums.rounds += inside / rtt
            sums.sent += inside / rtt * window
            sums.delivered += inside / rtt * window * arrived
            sums.window_s += inside * window
            sums.delay_s += inside / rtt * window * arrived * (rtt - path.base_rtt_s)
            sums.cuts += congested
            sums.least_rtt_s = min(sums.least_rtt_s, rtt)
    return run


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _row(index: int, flow: Mapping[str, Any], sums: _Sums, path: _Path, measured_s: float) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(("id", "name", "group", "cc", *METRICS["flows"]))
    row.update(id=index, name=flow["name"], group=flow["group"], cc=flow["cc"])
    delay = _ratio(sums.delay_s, sums.delivered)
    row.update(
        goodput_bps=_ratio(8 * sums.delivered * path.payload, measured_s),
        throughput_bps=_ratio(8 * sums.delivered * path.wire, measured_s),
        delivered_bps=_ratio(8 * sums.delivered * path.payload, measured_s),
        loss_rate=_ratio(sums.sent - sums.delivered, sums.sent),
        congestion_events=sums.cuts,
        cwnd_mean_segments=_ratio(sums.window_s, sums.active_s),
        queue_delay_mean_s=delay,
        rtt_mean_s=None if delay is None else path.base_rtt_s + delay,
        rtt_min_s=sums.least_rtt_s if sums.active_s else None,
    )
    return row


def _summary(run: _Run, path: _Path, rate_bps: float) -> dict[str, float | None]:
    summary: dict[str, float | None] = dict.fromkeys(METRICS["summary"])
    goodputs = [sums.delivered for sums in run.sums]
    squares = math.fsum(value * value for value in goodputs)
    sent = math.fsum(sums.sent for sums in run.sums)
    goodput = _ratio(8 * run.delivered * path.payload, run.measured_s)
    throughput = _ratio(8 * run.delivered * path.wire, run.measured_s)
    delay = _ratio(math.fsum(delay * segments for delay, segments in run.delays), run.delivered)
    loss = _ratio(sent - math.fsum(goodputs), sent)
    high = _quantile(run.delays, 0.95)
    summary.update(
        capacity_bps=rate_bps,
        goodput_bps=goodput,
        throughput_bps=throughput,
        utilization=None if throughput is None else throughput / rate_bps,
        efficiency=None if goodput is None else goodput / rate_bps,
        delivery_ratio=None if loss is None else 1 - loss,
        loss_rate=loss,
        drop_rate=loss,
        jain_index=_ratio(math.fsum(goodputs) ** 2, len(goodputs) * squares),
        spread=_ratio(max(goodputs) - min(goodputs), math.fsum(goodputs) / len(goodputs)),
        queue_delay_mean_s=delay,
        queue_delay_p95_s=high,
        bottleneck_queue_delay_mean_s=delay,
        bottleneck_queue_delay_p95_s=high,
    )
    return summary


def _quantile(weighted: Sequence[tuple[float, float]], quantile: float) -> float | None:
    below, whole = 0.0, math.fsum(weight for _, weight in weighted)
    for value, weight in sorted(weighted):
        below += weight
        if weight and below >= quantile * whole:
            return value
    return None


def _left_out(
    described: Mapping[str, Any], flows: Sequence[Mapping[str, Any]], link: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the parts of the scenario that the model omits, in words."""
    if _limit(link["queue"], 1.0) is None:
        yield f"the queue ({link['queue']}): it signals where a queue begins"
    if "varies" in link:
        yield f"the rate that varies ({link['varies']}): it is {link['rate_bps'] / 1e6:g} Mbit/s"
    rtts = [flow["base_rtt_s"] for flow in flows]
    if max(rtts) > min(rtts):
        mean = math.fsum(rtts) / len(rtts)
        low, high = 1e3 * min(rtts), 1e3 * max(rtts)
        yield f"RTTs of {low:g} to {high:g} ms: they are {1e3 * mean:g} ms"
    others = [flow["name"] for flow in described["flows"] if flow not in flows]
    if others:
        yield f"{', '.join(others)}: without congestion control, or elsewhere"
    for flow in flows:
        if flow["traffic"] != "bulk":
            yield f"the traffic of {flow['name']} ({flow['traffic']}): it is bulk"
    crossed = {name for flow in flows for name in (*flow["path"], *flow["reverse_path"])}
    for other in described["links"]:
        if other["name"] not in crossed:
            continue
        impaired = [other["loss"]] if other["loss"] != "none" else []
        impaired += other["impairments"] + (["jitter"] if other["jitter_s"] else [])
        if impaired:
            yield f"impairments of {other['name']} ({'; '.join(impaired)})"
    for meter in described.get("meters", ()):
        yield f"the meter {meter}"
