"""Resolved scenarios, in which every flow has all keys of its transport, in a form whose keys can be set."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ackclock import _core
from ackclock.scenario import Scenario

Document = dict[str, Any]


def settable(resolved: Document) -> Document:
    """Return a scenario equivalent to a resolved one, with the common keys of its flows in `transport`.

    Keys with the value of their profile are left out. `transport.profile=rfc` or `transport.sack=true` then
    changes all flows, as in a file. In the resolved scenario each flow has its own keys. A scenario with
    flows of several profiles stays unchanged.
    """
    flows = [flow for flow in resolved["flows"] if "profile" in flow]
    profiles = {flow["profile"] for flow in flows}
    if len(profiles) != 1:
        return resolved
    profile = profiles.pop()
    names, defaults = _transport_keys(), _defaults(profile)
    shared = {
        name: flows[0][name]
        for name in names & flows[0].keys()
        if all(flow.get(name) == flows[0][name] for flow in flows)
    }

    def given(keys: Document) -> Document:
        """Return the keys that are not as the profile has them."""
        return {name: value for name, value in keys.items() if name not in names or value != defaults[name]}

    own = [{name: value for name, value in flow.items() if name not in shared} for flow in resolved["flows"]]
    return {
        **resolved,
        "transport": {"profile": profile, **dict(sorted(given(shared).items()))},
        "flows": [given(flow) for flow in own],
    }


@cache
def _transport_keys() -> frozenset[str]:
    return frozenset(json.loads(_core.schema_json())["$defs"]["TransportKeys"]["properties"])


@cache
def _defaults(profile: str) -> Document:
    """Return the keys of a flow that says nothing but its profile."""
    scenario = Scenario(
        name="defaults",
        duration="1 s",
        topology={"kind": "dumbbell", "rate": "1 Mbit/s", "delay": "1 ms"},
        transport={"profile": profile},
        flows=[{"name": "test", "cc": "reno"}],
    )
    flow: Document = scenario.resolved["flows"][0]
    return flow
