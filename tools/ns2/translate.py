"""Turns the configuration of a case of ns-2 into a scenario of ackclock."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import features
from features import NotTranslatable
from flows import flow
from losses import DROP_TAIL, Script, scripted
from quantities import nanoseconds
from routes import Ends, Route, name_of, route
from setups import Setup

# A queue, in packets, that never overflows.
AMPLE = 10_000


@dataclasses.dataclass(frozen=True)
class Variant:
    """A change of a case that shows that a known difference is the only one.

    Options `ns2` give ns-2's senders the other rule, and `keys` give it to all flows of ackclock.
    `keys_of_stopped` apply to flows whose application stops. With `same_drops` ackclock loses the packets
    that ns-2's queues drop.
    """

    ns2: Mapping[str, object] = dataclasses.field(default_factory=dict)
    keys: Mapping[str, object] = dataclasses.field(default_factory=dict)
    keys_of_stopped: Mapping[str, object] = dataclasses.field(default_factory=dict)
    same_drops: bool = False


UNCHANGED = Variant()


@dataclasses.dataclass(frozen=True)
class Translation:
    """A scenario, with the ways of the flows."""

    scenario: dict[str, Any]
    routes: list[Route]


def translate(setup: Setup, clocks: Sequence[float], variant: Variant = UNCHANGED) -> Translation:
    """The scenario of a case. `clocks` are the offsets of the senders' clocks in seconds.

    Raises:
        NotTranslatable: if something in the case has no counterpart.
    """
    features.check(setup)
    routes = [route(setup, sender) for sender in setup.senders]
    links = network(setup, routes, variant.same_drops)
    flows = []
    for sender, way, clock in zip(setup.senders, routes, clocks, strict=True):
        path = [name for name in way.names() if name in links]
        keys = flow(setup, sender, path, clock)
        flows.append({**keys, **variant.keys, **(variant.keys_of_stopped if "stop" in keys else {})})
    scenario = {
        "schema": 1,
        # Long enough for all that set out by the end to arrive.
        "duration": nanoseconds(setup.end_s + 2.0),
        "sampling": {"interval": "none", "packets": True},
        "links": links,
        "flows": flows,
    }
    return Translation(scenario, routes)


def network(setup: Setup, routes: Sequence[Route], same_drops: bool) -> dict[str, Any]:
    """The links that data cross, and links of zero length that carry scripts before a flow's first link."""
    used = list(dict.fromkeys(link for way in routes for link in way.links))
    if any((to, since) in used for since, to in used):
        raise NotTranslatable("data in both directions of a link")
    scripts = scripted(setup, routes, same_drops)

    def one_way(ends: Ends, backward: bool) -> dict[str, Any]:
        link = setup.links[ends]
        # In the limit of ns-2's drop-tail queue the packet that arrives counts. What others drop is scripted.
        limit = AMPLE if same_drops or link.queue != DROP_TAIL else link.limit - 1
        return {
            "rate": f"{link.bits_per_s:.0f} bit/s",
            "delay": nanoseconds(link.delay_s),
            "queue": {"kind": "drop-tail", "limit": f"{limit} packets"},
            "loss": scripts.get(name_of(ends, backward), Script()).keys(),
        }

    links: dict[str, Any] = {
        name_of(ends, False): {**one_way(ends, False), "reverse": one_way(ends[::-1], True)} for ends in used
    }
    for name, script in scripts.items():
        if name.startswith("source-"):
            links[name] = {"loss": script.keys()}
        elif name.startswith("sink-"):
            links[name.removesuffix(".reverse")] = {"reverse": {"loss": script.keys()}}
    return links
