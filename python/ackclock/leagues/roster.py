"""The algorithms and suites of a league."""

from __future__ import annotations

import json
from dataclasses import replace

from ackclock import _core
from ackclock.evaluation.suite import Environment, Suite
from ackclock.metrics.quantities import number_of

#: The algorithms of a quick league.
TEN = (
    "reno", "cubic", "bbr1", "bbr3", "vegas", "copa", "westwood", "illinois", "compound", "ledbat",
)  # fmt: skip
#: Families that need a transport for media, or code of the user.
_OTHERS = frozenset({"For media", "Your own"})
#: The suites whose candidates are algorithms over TCP.
SUITES = (
    "core", "environments", "coexist", "random-loss", "shallow", "bufferbloat", "policed", "l4s", "ecn-bulk",
    "datacentre", "wireless", "satellite", "call", "app-limited", "video", "web", "found",
    "tcpeval",
)  # fmt: skip
#: The environments of a suite, and the largest rate, in a quick league.
_QUICK_ENVIRONMENTS, _QUICK_RATE_BPS = 3, 100e6
#: The folders of response functions and traces, and of all pairs on a bottleneck. Suites have other names.
PROFILES, COEXISTENCE = "profiles", "coexistence"
#: The replicates of each suite.
REPLICATES, QUICK_REPLICATES = 5, 2


def everyone() -> list[str]:
    """Return all algorithms of the package that run over TCP without code of the user."""
    return [
        entry["name"] for entry in json.loads(_core.list_json("cc")) if entry.get("family") not in _OTHERS
    ]


def shortened(suite: Suite) -> Suite:
    """Return the first, the middle and the last environment of a suite, with rates of at most 100 Mbit/s."""
    last = len(suite.environments) - 1
    places = sorted({round(last * step / (_QUICK_ENVIRONMENTS - 1)) for step in range(_QUICK_ENVIRONMENTS)})
    return replace(suite, environments=tuple(_slowed(suite.environments[place]) for place in places))


def _slowed(environment: Environment) -> Environment:
    rate = number_of(str(environment.base.resolved.get("topology", {}).get("rate", "")))
    if rate is None or rate[1] <= _QUICK_RATE_BPS:
        return environment
    return replace(environment, sets=(*environment.sets, f"topology.rate={_QUICK_RATE_BPS / 1e6:g} Mbit/s"))
