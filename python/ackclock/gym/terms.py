"""What actions mean, and what observations and rewards may be made of."""

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


#: By name: what an action may be.
ACTIONS = {row[0]: Term(*row) for row in Episodes.actions()}
#: By name: what observations and rewards may be made of.
TERMS = {row[0]: Term(*row) for row in Episodes.terms()}

#: What is observed unless one says otherwise.
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
