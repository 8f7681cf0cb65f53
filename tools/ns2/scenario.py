"""From a resolved ackclock scenario to the arguments of `dumbbell.tcl`.

The scenario file is the one source of a comparison: whatever the Tcl script can be told comes from it, and a
scenario that asks for more is refused.
"""

import json
import re
from typing import Any

from ackclock import _core

RECOVERY = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "Newreno", "sack": "Sack1"}
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6}
# ns-2's clock tick; its round-trip times are multiples of it.
TICK = 0.01
# "No maximum": more than any window of the comparison.
NO_MAXIMUM = 10_000
# Transport keys that dumbbell.tcl does not know, and the values without which there is no ns-2 counterpart.
# Only aimd is compared, whose standard after a timeout is half the window.
FIXED = {
    "framing": ("0 B",),
    "byte_counting": (False,),
    "timeout_ssthresh": ("half-cwnd", "standard"),
    "peer_sack": (True,),
    "ecn": ("off", "classic"),
}


# Without access links the ns-2 script puts the agents on the two routers.
NO_ACCESS = {"name": "access", "rate_bps": 0, "delay_s": 0, "queue": "drop-tail, 0 packets"}


class NotComparable(Exception):
    """The scenario holds something that the ns-2 script cannot do."""


def arguments(scenario: _core.Scenario) -> dict[str, object]:
    """The arguments of `dumbbell.tcl`, the seed left out.

    Raises:
        NotComparable: naming the key.
    """
    resolved: dict[str, Any] = json.loads(scenario.resolved_json())
    description: dict[str, Any] = json.loads(scenario.describe_json())
    if resolved.get("topology", {}).get("kind") != "dumbbell":
        raise NotComparable("topology: a dumbbell is needed")
    if len(resolved["flows"]) != 1:
        raise NotComparable("flows: one group of flows is needed")
    flow = resolved["flows"][0]
    for key, values in FIXED.items():
        if flow[key] not in values:
            raise NotComparable(f"flows.{flow['name']}.{key}: ns-2 has only {json.dumps(values[0])}")
    if flow["cc"]["kind"] != "aimd" or flow["traffic"] != {"kind": "bulk"}:
        raise NotComparable(f"flows.{flow['name']}: only bulk flows under aimd are compared")
    links = {link["name"]: link for link in description["links"]}
    first = description["flows"][0]["name"]
    bottleneck, access = links["bottleneck"], links.get(f"{first}.source", NO_ACCESS)
    if any(link["loss"] != "none" for name, link in links.items() if name != "bottleneck"):
        raise NotComparable("loss: ns-2's script has losses at the bottleneck only")
    if any(link["impairments"] for link in links.values()):
        raise NotComparable("reordering, duplication, corruption: not in the ns-2 script")
    payload, header = (round(quantity(flow[key], BYTES)) for key in ("mss", "header"))
    jitter = max(links[name]["jitter_s"] for name in description["flows"][0]["path"])
    if jitter * access["rate_bps"] > 1.000001 * 8 * (payload + header):
        raise NotComparable(
            "send_jitter: in ns-2 more than a packet time of the access link would reorder packets"
        )
    return {
        "flows": len(description["flows"]),
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
        **start(flow["start"]),
        "jitter": jitter,
        "tcp": RECOVERY[flow["recovery"]],
        "payload": payload,
        "header": header,
        "initial_window": flow["initial_window"],
        "max_window": NO_MAXIMUM if flow.get("max_window") in (None, "none") else flow["max_window"],
        "increase": flow["cc"]["increase"],
        "remaining": flow["cc"]["remaining"],
        "limited_transmit": int(flow["limited_transmit"]),
        "min_rto": quantity(flow["min_rto"], SECONDS),
        "tick": TICK,
        "delayed_ack": delayed_ack(flow["delayed_ack"]),
        "timestamps": int(flow["timestamps"]),
        "idle_restart": int(flow["idle_restart"]),
        "ecn": int(flow["ecn"] == "classic"),
        "handshake": 0,
    }


def quantity(text: str, units: dict[str, float]) -> float:
    """`"200 ms"` in seconds, `"1000 B"` in bytes."""
    number, unit = text.split()
    return float(number) * units[unit]


def limit(link: dict[str, Any]) -> int:
    """ns-2's limit of a queue. It counts the packet that arrives: L leaves room for L - 1 that wait."""
    found = re.fullmatch(r"drop-tail, (\d+) packets?", link["queue"])
    if found is None:
        raise NotComparable(f"{link['name']}: only drop-tail queues with a limit in packets are compared")
    return int(found[1]) + 1


def queue(link: dict[str, Any]) -> dict[str, object]:
    """The queue of the bottleneck. The limit of ns-2's RED counts what waits, in packets of mean size."""
    red = link["red"]
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


def loss(value: dict[str, Any]) -> float:
    """The probability of a loss behind the queue."""
    if value["kind"] not in ("none", "bernoulli"):
        raise NotComparable("topology.loss: the ns-2 script knows independent losses only")
    return float(value.get("probability", 0.0))


def start(value: Any) -> dict[str, float]:
    """Bounds of the start times."""
    low, high = value["uniform"] if isinstance(value, dict) else (value, value)
    return {"start_min": quantity(low, SECONDS), "start_max": quantity(high, SECONDS)}


def delayed_ack(value: bool | str) -> float:
    """Longest delay in seconds; 0 for none."""
    if isinstance(value, bool):
        return 0.1 if value else 0.0
    return quantity(value, SECONDS)
