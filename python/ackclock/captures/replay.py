"""The scenario that repeats a captured connection: its path, its losses by position, a sender of ours."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ackclock.errors import InputError
from ackclock.scenario import Scenario

#: The flow of a scenario that is estimated, and the link on which packets are lost.
_FLOW, _LOSSES = "test", "capture-losses"
#: A queue that drops nothing.
_ENDLESS = {"kind": "drop-tail", "limit": "10000000 packets"}
_NOT_LOST = {"loss": {"kind": "none"}, "duplication": 0.0, "corruption": 0.0}
_IP, _IPV6, _TIMESTAMPS = 40, 60, 12
#: Segments from which a path can be estimated, and segments that a replay sends at most.
_ENOUGH, _MOST = 50, 50_000_000


def estimated(observed: Mapping[str, Any], ipv6: bool) -> tuple[dict[str, Any], str]:
    """Return a scenario with the path that a capture shows, and a sentence that describes the path.

    The rate is the fastest delivery over a second or more. The propagation delay is the least RTT. The queue
    is the difference between the largest and the least RTT. Raises `InputError` for too little data.
    """
    rtt, rate = observed["rtt_min_s"], observed["peak_bps"]
    if observed["segments"] < _ENOUGH:
        has = f"{observed['segments']} segments of data, and {_ENOUGH} are needed"
        raise InputError(f"the capture is too short to estimate the path: it has {has}; give --scenario")
    if not rtt or not rate:
        missing = "no RTT sample" if not rtt else "no ACKs over a quarter of its duration"
        raise InputError(f"the path cannot be estimated: the capture has {missing}; give --scenario")
    lasts = observed["acked_until_s"]
    if (bulk := rate * lasts / 8 / observed["mss"]) > _MOST:
        raise InputError(
            f"a replay of {lasts:.3g} s at {rate / 1e6:.3g} Mbit/s has {bulk:.2g} segments (limit "
            f"{_MOST:.0e}); cut it: editcap -A START -B END"
        )
    header = _IPV6 if ipv6 else _IP
    full = observed["mss"] + header + _TIMESTAMPS * observed["timestamps"]
    wire = rate * full / observed["mss"]
    # The transmission of a full packet is a part of every RTT.
    propagation = max(rtt - 8 * full / wire, 1e-6)
    packets = max(1, math.ceil((observed["rtt_max_s"] - rtt) * wire / 8 / full))
    path = {
        "rate": f"{round(wire)} bit/s",
        "delay": f"{propagation / 2 * 1e6:.3f} us",
        "queue": {"kind": "drop-tail", "limit": f"{packets} packets"},
    }
    flow = {"name": _FLOW, "cc": "cubic", "profile": "linux", "header": f"{header} B"}
    flow["timestamps"] = observed["timestamps"]
    tree = {"schema": 1, "name": "estimated", "duration": "1 s", "links": {"path": path}, "flows": [flow]}
    said = f"rate {wire / 1e6:.4g} Mbit/s, RTT {1e3 * rtt:.4g} ms, queue {packets} packets"
    return tree, f"estimated from the capture: {said}"


def with_sender(scenario: Scenario, cc: str | None, profile: str | None) -> Scenario:
    """Return a scenario of one flow with the algorithm and the profile of options.

    Raises `ScenarioError`, or `InputError` where the scenario has other flows.
    """
    flow, chosen = _flow_of(scenario), {"profile": profile, "cc": cc}
    return scenario.with_sets(
        f"flows.{flow}.{key}={value}" for key, value in chosen.items() if value is not None
    )


def _flow_of(scenario: Scenario) -> str:
    """Return the name of the only flow of a scenario. Raises `InputError` where it has others."""
    flows = json.loads(scenario.resolved_json)["flows"]
    if len(flows) != 1 or flows[0]["count"] != 1 or "cc" not in flows[0]:
        names = ", ".join(f"{flow['name']} x {flow['count']}" for flow in flows)
        raise InputError(
            f"{scenario.name}: a replay takes a scenario with one TCP flow, but this has {names}"
        )
    name: str = flows[0]["name"]
    return name


def _path(tree: dict[str, Any], flow: dict[str, Any]) -> list[str]:
    """Return the links of a flow. A dumbbell becomes links. Raises `InputError` for other topologies."""
    topology = tree.pop("topology", None)
    if topology is None:
        # A flow without a path crosses the only link.
        return list(flow.get("path") or tree["links"])
    if topology.pop("kind") != "dumbbell":
        raise InputError("a replay by position takes a scenario with links, or a dumbbell")
    access = topology.pop("access", None)
    sides = {} if access is None else {"source": access, "sink": access.copy()}
    tree["links"] = {"bottleneck": topology, **sides}
    return ["bottleneck"] if access is None else ["source", "bottleneck", "sink"]


def replay(scenario: Scenario, observed: Mapping[str, Any], *, own_losses: bool) -> Scenario:
    """Return the scenario with the size, the length and the losses of a capture.

    With `own_losses`, queues and links lose packets. Otherwise the transmissions that the capture shows as
    lost are dropped before the path, by their numbers.
    """
    tree = json.loads(scenario.resolved_json)
    (flow,) = tree["flows"]
    flow |= {"mss": f"{observed['mss']} B", "traffic": {"kind": "bulk"}, "start": "0 s"}
    flow.pop("stop", None)
    # The first data leave a round trip after the SYN.
    setup = (observed["rtt_min_s"] or 0) if flow["handshake"] else 0
    tree |= {"duration": f"{(observed['acked_until_s'] + setup) * 1e6:.3f} us", "warmup": "0 s"}
    if not own_losses:
        path = _path(tree, flow)
        for name in path:
            link = tree["links"][name]
            link |= _NOT_LOST
            link.pop("outages", None)
            if "rate" in link:
                link["queue"] = _ENDLESS
        # SYN and ACK go before data.
        before = 2 if flow["handshake"] else 0
        numbers = [number + before for number in observed["losses"]]
        tree["links"][_LOSSES] = {"delay": "0 s", "loss": {"kind": "scripted", "packets": numbers}}
        flow["path"] = [_LOSSES, *path]
    return Scenario.from_dict(tree, source=f"the replay of {scenario.name}")
