"""From a resolved ackclock scenario to the arguments of `dumbbell.tcl`.

The scenario file is the only source of a comparison. All arguments of the Tcl script come from it. A scenario
with settings that the script lacks is rejected.
"""

import json
import re
from typing import Any

from ackclock import _core
from comparable import NotComparable
from controls import linux, window
from cross import Cross, cross
from quantities import BYTES, SECONDS, quantity

RECOVERY = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "Newreno", "sack": "Sack1"}
# Bytes of a header that timestamps add in ackclock, and in ns-2 (`ts_option_size_`).
TIMESTAMPS, OPTION = 12, 10
# ns-2's clock tick; its round-trip times are multiples of it.
TICK = 0.01
# "No maximum": more than any window of the comparison.
NO_MAXIMUM = 10_000
# Transport keys that dumbbell.tcl does not know, and the values without which there is no ns-2 counterpart.
# Of a linear control, half the window is the standard after a timeout.
FIXED = {
    "framing": ("0 B",),
    "byte_counting": (False,),
    "timeout_ssthresh": ("half-cwnd", "standard"),
    "peer_sack": (True,),
    "ecn": ("off", "classic"),
}
# Their values for Agent/TCP/Linux.
OF_LINUX = {"byte_counting": ("avoidance",), "timeout_ssthresh": ("rule",)}
# More queues of ns-2's DRR than any comparison has sources, so that none share one.
BUCKETS = 1024
# Without access links the ns-2 script puts the agents on the two routers.
NO_ACCESS = {"name": "access", "rate_bps": 0, "delay_s": 0, "queue": "drop-tail, 0 packets"}


def arguments(scenario: _core.Scenario) -> dict[str, object]:
    """The arguments of `dumbbell.tcl`, the seed left out.

    Raises:
        NotComparable: naming the key.
    """
    resolved: dict[str, Any] = json.loads(scenario.resolved_json())
    description: dict[str, Any] = json.loads(scenario.describe_json())
    if resolved.get("topology", {}).get("kind") != "dumbbell":
        raise NotComparable("topology: a dumbbell is needed")
    flow = flows(resolved)
    for key, values in (FIXED | OF_LINUX if is_linux(flow) else FIXED).items():
        if flow[key] not in values:
            raise NotComparable(f"flows.{flow['name']}.{key}: ns-2 has only {json.dumps(values[0])}")
    if flow["traffic"] != {"kind": "bulk"}:
        raise NotComparable(f"flows.{flow['name']}.traffic: only bulk flows are compared")
    links = {link["name"]: link for link in description["links"]}
    members = [member for member in description["flows"] if member["group"] == flow["name"]]
    # What a flow's own round-trip time lacks is in the links of its source.
    bottleneck, access = links["bottleneck"], links.get(f"{members[0]['name']}.destination", NO_ACCESS)
    if any(link["loss"] != "none" for name, link in links.items() if name != "bottleneck"):
        raise NotComparable("loss: ns-2's script has losses at the bottleneck only")
    if any(link["impairments"] for link in links.values()):
        raise NotComparable("reordering, duplication, corruption: not in the ns-2 script")
    payload, header = (round(quantity(flow[key], BYTES)) for key in ("mss", "header"))
    jitter = max(links[name]["jitter_s"] for name in members[0]["path"])
    if jitter * access["rate_bps"] > 1.000001 * 8 * (payload + header):
        raise NotComparable(
            "send_jitter: in ns-2 more than a packet time of the access link would reorder packets"
        )
    return {
        "flows": len(members),
        "duration": description["duration_s"],
        "warmup": description["warmup_s"],
        "rate": bottleneck["rate_bps"],
        "delay": bottleneck["delay_s"],
        **queue(bottleneck),
        "loss": loss(resolved["topology"]["loss"]),
        "reverse_limit": limit(links["bottleneck.reverse"]),
        "access_rate": access["rate_bps"],
        "access_delay": access["delay_s"],
        "access_limit": limit(access),
        **extra(flow, bottleneck["delay_s"] + 2 * access["delay_s"]),
        **start(flow["start"]),
        "jitter": jitter,
        "tcp": RECOVERY[flow["recovery"]],
        "payload": payload,
        "header": header + TIMESTAMPS - OPTION if flow["timestamps"] else header,
        "initial_window": flow["initial_window"],
        "max_window": NO_MAXIMUM if flow.get("max_window") in (None, "none") else flow["max_window"],
        **control(flow),
        "limited_transmit": int(flow["limited_transmit"]),
        "bug_fix": bug_fix(flow),
        "min_rto": quantity(flow["min_rto"], SECONDS),
        "tick": TICK,
        "delayed_ack": delayed_ack(flow["delayed_ack"]),
        "timestamps": int(flow["timestamps"]),
        "idle_restart": int(flow["idle_restart"]),
        "ecn": int(flow["ecn"] == "classic"),
        "handshake": 0,
        **cross_traffic(scenario).arguments,
    }


def control(flow: dict[str, Any]) -> dict[str, object]:
    """The congestion control, from Agent/TCP/Linux for a sender that resembles it."""
    place = f"flows.{flow['name']}.cc"
    return linux(place, flow) if is_linux(flow) else window(place, flow["cc"])


def is_linux(flow: dict[str, Any]) -> bool:
    """True for a sender that is made like Agent/TCP/Linux."""
    return bool(flow["sack_sender"] == "fack")


def cross_traffic(scenario: _core.Scenario) -> Cross:
    """The cross traffic of the compared flows.

    Raises:
        NotComparable: naming the key.
    """
    resolved: dict[str, Any] = json.loads(scenario.resolved_json())
    others = [group for group in resolved["flows"] if is_cross(group)]
    if len(others) > 1:
        raise NotComparable("flows: ns-2's script has one source of cross traffic")
    return cross(others[0], quantity(resolved["duration"], SECONDS)) if others else Cross()


def flows(resolved: dict[str, Any]) -> dict[str, Any]:
    """The group of flows that is compared."""
    groups: list[dict[str, Any]] = [group for group in resolved["flows"] if not is_cross(group)]
    if len(groups) != 1:
        raise NotComparable("flows: one group of flows is needed")
    return groups[0]


def is_cross(group: dict[str, Any]) -> bool:
    """True for traffic of constant rate."""
    return bool(group["traffic"]["kind"] == "cbr")


def bug_fix(flow: dict[str, Any]) -> int:
    """ns-2's bugFix_: without it a second loss in a window that was cut is a second event."""
    value = flow["second_loss"]
    if value in ("standard", "careful", "always"):
        return int(value == "careful" or (value == "standard" and flow["recovery"] != "reno"))
    raise NotComparable(f"flows.{flow['name']}.second_loss: not in the ns-2 script")


def extra(flow: dict[str, Any], one_way: float) -> dict[str, float]:
    """Bounds of the additional one-way delay of each flow's source, in seconds."""
    if flow.get("rtt") is None:
        return {}
    low, high = bounds(flow["rtt"])
    return {"extra_min": low / 2 - one_way, "extra_max": high / 2 - one_way}


def limit(link: dict[str, Any]) -> int:
    """ns-2's limit of a queue. It counts the packet that arrives: L leaves room for L - 1 that wait."""
    found = re.fullmatch(r"drop-tail, (\d+) packets?", link["queue"])
    if found is None:
        raise NotComparable(f"{link['name']}: only drop-tail queues with a limit in packets are compared")
    return int(found[1]) + 1


def queue(link: dict[str, Any]) -> dict[str, object]:
    """The queue of the bottleneck. The limit of ns-2's RED counts queued packets of mean size."""
    red = link["queue_parameters"]
    if link["queue"].startswith("drr, "):
        return drr(link)
    if red is None:
        return {"queue": "DropTail", "limit": limit(link)}
    in_bytes = red["mode"] == "bytes"
    unit = red["mean_packet"] if in_bytes else 1
    found = re.match(r"red, (\d+) (packets?|B),", link["queue"])
    if found is None or (found[2] == "B") != in_bytes:
        raise NotComparable(f"{link['name']}: ns-2 counts limit and average alike, in packets or in bytes")
    if red["gaps"] == "once" or not red["spares_short"]:
        raise NotComparable(f"{link['name']}: gaps drawn once are Linux's, not ns-2's")
    return {
        "queue": "RED",
        "limit": int(found[1]) / unit,
        "red_min": red["min"] / unit,
        "red_max": red["max"] / unit,
        "red_max_p": red["max_p"],
        "red_weight": red["weight"],
        "red_gentle": int(red["gentle"]),
        "red_bytes": int(in_bytes),
        "red_mean_packet": red["mean_packet"],
        "red_by_size": int(red["drop_by_size"]),
        "red_wait": int(red["gaps"] == "wait"),
        "red_adaptive": int(red["adaptive"] is not None),
        "red_ecn": int(red["ecn"]),
        "red_mark_below": red["mark_below"],
    }


def drr(link: dict[str, Any]) -> dict[str, object]:
    """DRR at the bottleneck. In ns-2 its limit is in bytes, and each source has a queue."""
    found = re.fullmatch(r"drr, (\d+) B, quantum (\d+) B(?:, a queue for each flow)?", link["queue"])
    if found is None:
        raise NotComparable(f"{link['name']}: of DRR a limit in bytes and a queue for each flow are compared")
    return {"queue": "DRR", "limit": int(found[1]), "drr_quantum": int(found[2]), "drr_buckets": BUCKETS}


def loss(value: dict[str, Any]) -> float:
    """The probability of a loss behind the queue."""
    if value["kind"] not in ("none", "bernoulli"):
        raise NotComparable("topology.loss: the ns-2 script knows independent losses only")
    return float(value.get("probability", 0.0))


def start(value: Any) -> dict[str, float]:
    """Bounds of the start times."""
    low, high = bounds(value)
    return {"start_min": low, "start_max": high}


def bounds(value: Any) -> tuple[float, float]:
    """Least and most of a duration that may be drawn, in seconds."""
    low, high = value["uniform"] if isinstance(value, dict) else (value, value)
    return quantity(low, SECONDS), quantity(high, SECONDS)


def delayed_ack(value: bool | str) -> float:
    """The longest delay in seconds, or 0."""
    if isinstance(value, bool):
        return 0.1 if value else 0.0
    return quantity(value, SECONDS)
