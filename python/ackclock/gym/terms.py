"""The meanings of actions, and the terms of observations and rewards."""

from __future__ import annotations

from typing import NamedTuple

from ackclock._core import Episodes


class Term(NamedTuple):
    """A number with its unit, its meaning and its bounds, to which it is clipped."""

    name: str
    unit: str
    meaning: str
    low: float
    high: float


#: The kinds of actions, by name.
ACTIONS = {row[0]: Term(*row) for row in Episodes.actions()}
#: The terms of observations and rewards, by name.
TERMS = {row[0]: Term(*row) for row in Episodes.terms()}

#: The default terms of an observation.
OBSERVATION = (
    "cwnd",
    "in_flight",
    "srtt",
    "min_rtt",
    "queue_delay",
    "rtt_gradient",
    "send_rate",
    "goodput",
    "retransmits",
    "congestion",
)
#: The weights of the reward unless one says otherwise.
REWARD = {"goodput": 1.0, "queue_delay": -0.5, "retransmits": -1.0}
