"""One run as an environment of PettingZoo: `ParallelFlowEnv`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding

try:
    from pettingzoo import ParallelEnv
except ImportError:
    raise ImportError(
        "ackclock.gym.parallel needs the package pettingzoo: python -m pip install pettingzoo",
        name="pettingzoo",
    ) from None

from ackclock.errors import ArgumentValueError
from ackclock.gym.setting import Array, ScenarioLike, Setting, Vary, begin, step
from ackclock.gym.single import NO_EPISODE
from ackclock.gym.terms import OBSERVATION, REWARD

Truths = dict[str, bool]


class ParallelFlowEnv(ParallelEnv):  # type: ignore[misc]
    """A run of a scenario, in which each steered flow is an agent with its own observation and reward.

    The arguments are the same as for `ackclock.gym.FlowEnv`. Agents bear the names of their flows.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "ackclock_flow_v0", "render_modes": []}
    render_mode = None

    def __init__(
        self,
        scenario: ScenarioLike,
        agents: str | Iterable[str] | None = None,
        *,
        step_s: float = 0.01,
        action: str = "factor",
        observation: Sequence[str] = OBSERVATION,
        reward: Mapping[str, float] = REWARD,
        vary: Vary | None = None,
    ) -> None:
        self._setting = Setting.of(scenario, agents, step_s, action, observation, reward, vary)
        self._episodes = self._setting.episodes(1, 1)
        self.possible_agents = self._episodes.agents
        self.agents: list[str] = []
        self.observation_spaces = {name: self._setting.observation_space() for name in self.possible_agents}
        self.action_spaces = {name: self._setting.action_space(1) for name in self.possible_agents}
        self._random: numpy.random.Generator | None = None
        self._shape = (len(self.possible_agents), len(self._setting.observation))

    def observation_space(self, agent: str) -> spaces.Box:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Box:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """Begin a run."""
        if self._random is None or seed is not None:
            self._random = seeding.np_random(seed)[0]
        run_seed, scenario, info = self._setting.draw(self._random, options)
        rows = numpy.empty(self._shape, numpy.float32)
        begin(self._episodes, [(0, run_seed, scenario, rows)])
        self.agents = list(self.possible_agents)
        return dict(zip(self.agents, rows, strict=True)), {name: dict(info) for name in self.agents}

    def step(
        self, actions: Mapping[str, Array]
    ) -> tuple[dict[str, Array], dict[str, float], Truths, Truths, dict[str, dict[str, Any]]]:
        """Apply the actions of all agents and advance by one step."""
        names = self.agents
        if not names:
            raise ResetNeeded(NO_EPISODE)
        if missing := [name for name in names if name not in actions]:
            raise ArgumentValueError("actions", f"has none for {', '.join(missing)}")
        rows, rewards = numpy.empty(self._shape, numpy.float32), numpy.empty(len(names))
        taken = numpy.stack([numpy.reshape(actions[name], -1) for name in names])
        (is_done,), (has_ended,) = step(self._episodes, taken, rows, rewards)
        self.agents = [] if has_ended else names
        return (
            dict(zip(names, rows, strict=True)),
            dict(zip(names, map(float, rewards), strict=True)),
            dict.fromkeys(names, is_done),
            dict.fromkeys(names, has_ended and not is_done),
            {name: {} for name in names},
        )
