"""One run as an environment: `FlowEnv`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy
from gymnasium.error import ResetNeeded

from ackclock.gym.setting import Array, ScenarioLike, Setting, Vary, begin, step
from ackclock.gym.terms import OBSERVATION, REWARD

#: The message of a step outside of an episode.
NO_EPISODE = "no episode is under way: call reset() before the first step, and after an episode has ended"


class FlowEnv(gymnasium.Env[Array, Array]):
    """A run of a scenario, in which an agent steers one flow, or several.

    `scenario` is a `Scenario`, the path of its file, or its tree as a dict. `agents` lists the steered
    groups of flows. By default it is `test`, or all flows with an algorithm if no group bears that name.
    `step_s` is the length of a step in seconds. `action` is a name in `ACTIONS`, and `observation` lists
    names in `TERMS`. `reward` maps names in `TERMS` to weights. The reward is the weighted sum after each
    step, averaged over the flows. `vary` is a function. At each reset it receives the environment's random
    generator and returns changes of the scenario, such as `["topology.rate=20 Mbit/s"]`.

    An action contains a number for each flow, and is clipped to its bounds. With one flow, an observation
    contains a number for each name. With several flows, it contains a row for each flow. An episode
    terminates when the transfers of all steered flows are complete. It is truncated at the end of the run.
    The `info` of a reset contains the `seed` of the run, and `sets` if the scenario was changed. The
    argument `options={"sets": [...]}` of a reset also changes the scenario.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it
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
        flows = len(self._episodes.agents)
        self.action_space = self._setting.action_space(flows)
        self.observation_space = self._setting.observation_space(*((flows,) if flows > 1 else ()))
        self._shape = self.observation_space.shape
        self._rewards = numpy.zeros(flows)
        self._is_running = False

    @property
    def flows(self) -> list[str]:
        """The flows that are steered, in the order of actions and rows."""
        return self._episodes.agents

    @property
    def now_s(self) -> float:
        """The time of the run, in seconds."""
        return self._episodes.now_s(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin a run, with a seed that the environment's random generator draws."""
        super().reset(seed=seed)
        run_seed, scenario, info = self._setting.draw(self.np_random, options)
        observation = self._empty()
        begin(self._episodes, [(0, run_seed, scenario, observation)])
        self._is_running = True
        return observation, info

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Apply an action, advance by one step, and return Gymnasium's five values.

        Raises `ResetNeeded` outside of an episode.
        """
        if not self._is_running:
            raise ResetNeeded(NO_EPISODE)
        observation = self._empty()
        (is_done,), (has_ended,) = step(self._episodes, action, observation, self._rewards)
        self._is_running = not has_ended
        # A mean of one number takes as long as the step of the run.
        reward = self._rewards.item() if self._rewards.size == 1 else float(self._rewards.mean())
        return observation, reward, is_done, has_ended and not is_done, {}

    def _empty(self) -> Array:
        return numpy.empty(self._shape, numpy.float32)
