"""The resolved scenarios of suites: their links by name, and the links that each group of flows uses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ackclock.evaluation.suite import Environment
from spans import Quantity

_REVERSE = ".reverse"
_BOTTLENECK = "bottleneck"

Table = Mapping[str, Any]


def opposite(link: str) -> str:
    """Return the name of the link in the other direction."""
    return base(link) if link.endswith(_REVERSE) else link + _REVERSE


def base(link: str) -> str:
    """Return the name of a link without its direction."""
    return link.removesuffix(_REVERSE)


class Paths(NamedTuple):
    """The links and flows of an environment."""

    id: str
    #: The groups of flows by name.
    flows: Mapping[str, Table]
    #: Links by name. A link and its opposite have a table each.
    links: Mapping[str, Table]
    #: The links that the data of each group use.
    routes: Mapping[str, tuple[str, ...]]
    channels: Mapping[str, Table]
    #: `Scenario.describe` without random differences between replicates.
    described: Table

    @classmethod
    def read(cls, environment: Environment) -> Paths:
        """Return the paths of an environment."""
        document = json.loads(environment.base.resolved_json)
        # Replicates draw RTTs and rates around these.
        drawn = [f"replicates.{key}=0" for key in document.get("replicates") or ()]
        described = environment.base.with_sets(drawn).describe()
        links: dict[str, Table] = {}
        for name, table in (document.get("links") or {_BOTTLENECK: document["topology"]}).items():
            links[name] = table
            shared = {key: table[key] for key in ("rate", "delay", "channel") if key in table}
            links[opposite(name)] = shared | table["reverse"]
        flows = {flow["name"]: flow for flow in document["flows"]}
        paths = {flow["group"]: flow["path"] for flow in described["flows"]}
        routes = {name: tuple(link for link in paths[name] if link in links) for name in flows}
        return cls(environment.id, flows, links, routes, document.get("channels") or {}, described)

    def rate(self, link: str) -> Quantity:
        """Return the rate of a link, which a pattern with one rate replaces."""
        rates = self.links[link].get("varies", {}).get("rates", ())
        if len(rates) == 1:
            return Quantity.read(rates[0])
        (described,) = (one for one in self.described["links"] if one["name"] == link)
        return Quantity("bps", described["rate_bps"])

    def rtts(self, group: str) -> list[Quantity]:
        """Return the RTTs of a group without queueing, or their bounds. Datagrams have none."""
        rtt = self.flows[group].get("rtt")
        if rtt is None:
            values = {one["base_rtt_s"] for one in self.described["flows"] if one["group"] == group}
            return [Quantity("s", value) for value in values if value]
        return [*map(Quantity.read, rtt["uniform"] if isinstance(rtt, dict) else [rtt])]

    def has_drawn_rtts(self, group: str) -> bool:
        """Whether each flow of a group draws its RTT between bounds."""
        return isinstance(self.flows[group].get("rtt"), dict)

    def carries_data(self, link: str) -> bool:
        """Whether a link carries more than ACKs."""
        return any(link in route for route in self.routes.values())
