"""Gymnasium environments: agents that steer flows of a scenario, step by step.

`FlowEnv` steps one run, and `FlowVectorEnv` steps many at the same time on all processors.
`ackclock.gym.parallel` contains a PettingZoo environment, in which each flow is an agent.
"""

from __future__ import annotations

try:
    import gymnasium
except ImportError:
    raise ImportError(
        "ackclock.gym needs the package gymnasium: python -m pip install gymnasium", name="gymnasium"
    ) from None

from ackclock.gym.single import FlowEnv
from ackclock.gym.terms import ACTIONS, OBSERVATION, REWARD, TERMS, Term
from ackclock.gym.vector import FlowVectorEnv

__all__ = ["ACTIONS", "OBSERVATION", "REWARD", "TERMS", "FlowEnv", "FlowVectorEnv", "Term"]

#: `gymnasium.make("ackclock.gym:ackclock/Flow-v0", scenario=...)`.
_ID = "ackclock/Flow-v0"

gymnasium.register(
    id=_ID,
    entry_point="ackclock.gym.single:FlowEnv",
    vector_entry_point="ackclock.gym.vector:FlowVectorEnv",
)
