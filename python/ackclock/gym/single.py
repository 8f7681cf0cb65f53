"""One run as an environment: `FlowEnv`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy
from gymnasium.error import ResetNeeded

from ackclock.gym.setting import Array, ScenarioLike, Setting, Vary, begin, step
from ackclock.gym.terms import OBSERVATION, REWARD

#: What a step without a run under way is answered with.
NO_EPISODE = "no episode is under way: call reset() before the first step, and after an episode has ended"


class FlowEnv(gymnasium.Env[Array, Array]):
    """A run of a scenario, in which an agent steers one flow, or several.

    `scenario`: a `Scenario`, the path of its file, or its tree as a dict. `agents`: the groups of flows that
    are steered, by default the flows `test`, or all that have an algorithm if none are called so. `step_s`:
    seconds of a step. `action`: a name in `ACTIONS`. `observation`: names in `TERMS`. `reward`: weights of
    names in `TERMS`; the reward is their weighted sum after each step, of several flows the mean. `vary`: a
    function that is given the environment's random generator at each reset, and returns changes of the
    scenario for the episode, as `["topology.rate=20 Mbit/s"]`.

    An action has a number for each flow, and is clipped to its bounds. With one flow an observation has a
    number for each name, with several it is a row for each flow. An episode is terminated when the transfers
    of all steered flows are complete, and truncated at the end of the run. `info` of a reset has the `seed`
    of the run, and `sets` where the scenario was changed: `options={"sets": [...]}` of a reset does so, too.
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
        """Take an action and go on by a step; what it returns is Gymnasium's.

        Raises `ResetNeeded` where no episode is under way.
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
