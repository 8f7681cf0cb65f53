"""The environment of the suites that is most similar to a network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ackclock.attacks.networks import Network
from ackclock.evaluation.suite import Suite
from ackclock.metrics.quantities import number_of
from ackclock.scenario import Scenario

#: Suites whose environments are dumbbells with algorithms over TCP.
_SUITES = ("core", "wireless", "shallow", "bufferbloat", "random-loss", "coexist", "satellite", "policed")
#: Parts of a scenario whose kind counts, with their names in words.
_KINDS = {
    "varies": "capacity over time",
    "delay_varies": "delay over time",
    "loss": "losses",
    "queue": "queue",
    "jitter": "jitter",
}
#: The size of a packet for limits in packets.
_PACKET_BYTES = 1500
#: The parts of the path of ACKs that count.
_OF_ACKS = ("aggregation", "ack_thinning", "loss", "jitter", "varies", "queue")


@dataclass(frozen=True)
class Features:
    """The properties of a network that are compared."""

    #: The rate in bit/s, the RTT in seconds, and the buffer in BDP, by their names in words.
    sizes: Mapping[str, float]
    #: The kind of each part of the path, and the kinds of traffic.
    kinds: Mapping[str, str]
    #: The parameters of each part, as text.
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class Nearest:
    """The most similar environment."""

    suite: str
    environment: str
    #: Doublings of sizes, plus 1 for each kind that differs and 0.5 for other parameters of the same kind.
    distance: float
    #: The properties that differ, the largest difference first.
    differences: tuple[str, ...]


def nearest(network: Network) -> Nearest:
    """Return the environment with the least distance."""
    own = features_of(Scenario.from_dict(network.tree))
    assert own is not None, "a network is a dumbbell"
    found = [(*_compared(own, other), suite, name) for suite, name, other in _environments()]
    distance, differences, suite, name = min(found, key=lambda each: each[0])
    return Nearest(suite, name, distance, tuple(differences))


@cache
def _environments() -> tuple[tuple[str, str, Features], ...]:
    pairs = ((name, each) for name in _SUITES for each in Suite.load(name).environments)
    found = ((name, each.id, features_of(each.base)) for name, each in pairs)
    return tuple((suite, name, features) for suite, name, features in found if features is not None)


def features_of(scenario: Scenario) -> Features | None:
    """Return the properties of a dumbbell, or None for another topology."""
    tree = scenario.resolved
    topology = tree.get("topology", {})
    if topology.get("kind") != "dumbbell":
        return None
    rate, delay = _size(topology["rate"]), _size(topology["delay"])
    limit = str(topology["queue"].get("limit", ""))
    return Features(
        {
            "rate": rate,
            "RTT": max(1e-6, 2 * delay),
            "buffer": _bdp(limit, rate, 2 * delay),
        },
        {
            **{words: _kind(topology.get(key)) for key, words in _KINDS.items()},
            "path of ACKs": _acks(topology.get("reverse")),
            "traffic": " ".join(sorted({flow["traffic"]["kind"] for flow in tree["flows"]})),
            "algorithms": str(len({str(flow.get("cc")) for flow in tree["flows"]})),
        },
        {words: _parameters(topology.get(key)) for key, words in _KINDS.items()},
    )


def _compared(one: Features, other: Features) -> tuple[float, list[str]]:
    """Return the distance of two networks, and the properties that differ."""
    parts = {name: _doublings(value, other.sizes[name]) for name, value in one.sizes.items()}
    for name, kind in one.kinds.items():
        changed = one.parameters.get(name) != other.parameters.get(name)
        parts[name] = 1.0 if kind != other.kinds[name] else 0.5 * changed
    ordered = sorted((part, name) for name, part in parts.items() if part >= 0.1)
    return sum(parts.values()), [name for _, name in reversed(ordered)]


def _doublings(one: float, other: float) -> float:
    """Return how often a size doubles from one network to the other, and 1 if only one has the size."""
    if not one or not other:
        return float(bool(one) != bool(other))
    return abs(math.log2(one / other))


def _kind(value: Any) -> str:
    """Return the kind of a part, `given` for a part without kinds, or nothing for its default."""
    if value in (None, "none", "0 s", 0):
        return ""
    if isinstance(value, dict):
        return str(value.get("kind", "given")).replace("none", "")
    return "given"


def _parameters(value: Any) -> str:
    """Return the parameters of a part without its limit, which is a size."""
    if not isinstance(value, dict):
        return str(value)
    return str(sorted((key, str(item)) for key, item in value.items() if key != "limit"))


def _acks(reverse: Mapping[str, Any] | None) -> str:
    """Return the parts of the path of ACKs that are not the defaults."""
    kinds = {name: _kind((reverse or {}).get(name)) for name in _OF_ACKS}
    return " ".join(name for name, kind in kinds.items() if kind not in ("", "drop-tail"))


def _size(text: str) -> float:
    """Return the number of a rate in bit/s or of a time in seconds."""
    found = number_of(text)
    assert found is not None, "a resolved scenario has quantities with units"
    return found[1]


def _bdp(limit: str, rate_bps: float, rtt_s: float) -> float:
    """Return a limit in BDP, or 0 if it has no size."""
    found = number_of(limit)
    if found is None or rtt_s == 0:
        return 0.0
    unit, number = found
    bdp_bits = rate_bps * rtt_s
    sizes = {
        "bdp": 1.0,
        "s": 1 / rtt_s,
        "packets": 8 * _PACKET_BYTES / bdp_bits,
        "bytes": 8 / bdp_bits,
    }
    return number * sizes.get(unit, 0.0)
