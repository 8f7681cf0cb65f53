"""Turns a sender of ns-2 into a flow of a scenario."""

import math
from collections.abc import Sequence
from typing import Any

from features import RECOVERY, NotTranslatable
from quantities import HEADER_BYTES, nanoseconds
from setups import Sender, Setup


def flow(setup: Setup, sender: Sender, path: Sequence[str], clock: float) -> dict[str, Any]:
    """A flow. Each line says which option of ns-2 becomes which key."""
    has = sender.options
    kind = sender.kind.removeprefix("Agent/TCP")
    # Without useHeaders_ the header is part of the packet.
    payload = has["packetSize_"] - (0 if has["useHeaders_"] else HEADER_BYTES)
    start, traffic, stop = application(setup, sender, payload)
    keys: dict[str, Any] = {
        "name": f"tcp{sender.flow}",
        "path": list(path),
        "profile": "ns-2",
        "cc": algorithm(has),
        "recovery": RECOVERY[kind],
        "peer_sack": "Sack1" in sender.sink,
        "mss": f"{payload:.0f} B",
        "header": f"{HEADER_BYTES} B",
        "start": nanoseconds(start),
        "traffic": traffic,
        "initial_window": 1 if lost_syn(setup, sender) else initial_window(has),
        "max_window": int(has["window_"]),
        "min_rto": nanoseconds(max(has["minrto_"], 1e-9)),
        "initial_rto": nanoseconds(has["rtxcur_init_"]),
        "clock_tick": nanoseconds(has["tcpTick_"]),
        "clock_offset": nanoseconds(clock),
        "limited_transmit": bool(has["singledup_"]),
        "cut_window": "capped" if has["precisionReduce_"] else "whole",
        "second_loss": second_loss(has),
        "timestamps": bool(has["timestamps_"]),
        "ecn": "classic" if has["ecn_"] else "off",
        "frto": bool(has["frto_enabled_"]),
    }
    if kind == "/Newreno":
        keys["partial_ack"] = "deflate" if has["partial_window_deflation_"] else "reset"
        keys["partial_ack_timer"] = "first" if has["newreno_changes1_"] else "each"
        keys["exit_window"] = "flight" if has["exit_recovery_fix_"] else "ssthresh"
    if has["syn_"] and not lost_syn(setup, sender):
        # ns-2 measures the round trip of the SYN, too.
        keys["handshake_rtt"] = nanoseconds(start - sender.commands[0].time_s)
    if has["maxburst_"]:
        keys["max_burst"] = int(has["maxburst_"])
    if stop is not None:
        keys["stop"] = nanoseconds(stop)
    if has.get("partial_ack_"):
        keys["sack_sender"] = "pair-on-partial-ack"
    if sender.sink.endswith("/DelAck"):
        keys["delayed_ack"] = nanoseconds(has["interval_"])
        keys["delayed_ack_for"] = "last-segment" if has["RFC2581_immediate_ack_"] else "gaps"
    return keys


def algorithm(has: dict[str, float]) -> dict[str, Any]:
    """AIMD, or a control of the binomial family."""
    match has.get("windowOption_", 1):
        case 1:
            return {"kind": "aimd", "increase": has["increase_num_"], "remaining": has["decrease_num_"]}
        case 6:
            return {
                "kind": "binomial",
                "increase": has["increase_num_"],
                "decrease": 1.0 - has["decrease_num_"],
                "k": has["k_parameter_"],
                "l": has["l_parameter_"],
            }
        case other:
            raise NotTranslatable(f"`windowOption_` {other:g}")


def lost_syn(setup: Setup, sender: Sender) -> bool:
    """True if the SYN is sent again.

    RFC 5681 §3.1 then begins with one segment, and RFC 6298 §3 measures nothing.
    """
    sent = {
        event.packet
        for event in setup.trace
        if event.kind == "+"
        and event.link[0] == sender.source
        and event.flow == sender.flow
        and event.number == 0
        and not event.is_ack
    }
    return bool(sender.options["syn_"]) and len(sent) > 1


def initial_window(has: dict[str, float]) -> int:
    """In segments, as the option says, or by RFC 3390."""
    if has["windowInitOption_"] == 1:
        return int(has["windowInit_"])
    for largest, segments in ((1095, 4), (2189, 3)):
        if has["packetSize_"] <= largest:
            return segments
    return 2


def second_loss(has: dict[str, float]) -> str:
    """The effect of three duplicate ACKs in a window that was cut."""
    if not has["bugFix_"]:
        return "always"
    variants = {
        "lessCareful_": "less-careful",
        "bugFix_ack_": "ack-heuristic",
        "bugFix_ts_": "timestamp-heuristic",
    }
    return next((value for option, value in variants.items() if has[option]), "careful")


def application(setup: Setup, sender: Sender, payload: float) -> tuple[float, Any, float | None]:
    """Start, kind and end of the data.

    After a SYN the data start with its answer, whose time is in the trace.
    """
    if not sender.commands:
        raise NotTranslatable("a sender without an application")
    begin, *rest = sender.commands
    match begin.words:
        case ("start",):
            traffic: Any = "bulk"
        case ("produce", count):
            traffic = {"kind": "transfer", "size": f"{int(count) * payload:.0f} B"}
        case ("send", count):
            packets = math.ceil(int(count) / sender.options["packetSize_"])
            traffic = {"kind": "transfer", "size": f"{packets * payload:.0f} B"}
        case _:
            raise NotTranslatable(f"an application that does `{begin.words[0]}`")
    stop = None
    for command in rest:
        if command.words != ("stop",) or stop is not None:
            raise NotTranslatable("an application that writes again")
        stop = command.time_s
    return opened(setup, sender, begin.time_s), traffic, stop


def opened(setup: Setup, sender: Sender, begin: float) -> float:
    """When the connection is open."""
    if not sender.options["syn_"]:
        return begin
    for event in setup.trace:
        arrives = event.kind == "r" and event.link[1] == sender.source
        if arrives and event.flow == sender.flow and event.is_ack and event.number == 0:
            return event.time_s
    raise NotTranslatable("a connection that does not open")
