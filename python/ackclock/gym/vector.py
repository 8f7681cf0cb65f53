"""Many runs at the same time as an environment: `FlowVectorEnv`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ackclock.arguments import whole_number
from ackclock.errors import ArgumentValueError
from ackclock.gym.setting import Array, ScenarioLike, Setting, Vary, begin, step
from ackclock.gym.single import NO_EPISODE
from ackclock.gym.terms import OBSERVATION, REWARD
from ackclock.running.executor import default_workers

Bools = NDArray[numpy.bool_]


class FlowVectorEnv(VectorEnv[Array, Array, NDArray[Any]]):
    """`num_envs` runs of a scenario, stepped in parallel in Rust with the GIL released.

    The other arguments are the same as for `FlowEnv`. Each run draws from its own random generator. The
    results equal a `gymnasium.vector.SyncVectorEnv` of as many `FlowEnv`. `workers` is the number of
    threads, by default one per core. `autoreset_mode` is Gymnasium's.
    """

    def __init__(
        self,
        num_envs: int,
        scenario: ScenarioLike,
        agents: str | Iterable[str] | None = None,
        *,
        step_s: float = 0.01,
        action: str = "factor",
        observation: Sequence[str] = OBSERVATION,
        reward: Mapping[str, float] = REWARD,
        vary: Vary | None = None,
        workers: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        self.num_envs = whole_number("num_envs", num_envs, least=1)
        threads = default_workers() if workers is None else whole_number("workers", workers, least=1)
        try:
            self._mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(mode.value for mode in AutoresetMode)
            raise ArgumentValueError(
                "autoreset_mode", f"is {autoreset_mode!r}, but must be one of {modes}"
            ) from None
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self._setting = Setting.of(scenario, agents, step_s, action, observation, reward, vary)
        self._episodes = self._setting.episodes(self.num_envs, threads)
        self._flows = len(self._episodes.agents)
        self.single_action_space = self._setting.action_space(self._flows)
        self.single_observation_space = self._setting.observation_space(
            *((self._flows,) if self._flows > 1 else ())
        )
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._generators: list[numpy.random.Generator | None] = [None] * self.num_envs
        self._observations: Array = numpy.zeros(self.observation_space.shape, numpy.float32)  # type: ignore[arg-type]
        self._rewards = numpy.zeros((self.num_envs, self._flows))
        #: Environments without an episode under way.
        self._ended: Bools = numpy.ones(self.num_envs, numpy.bool_)
        self._was_reset = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin all runs, or the runs that `options["reset_mask"]` selects.

        A seed `s` gives the runs the seeds `s`, `s + 1` and so on.
        """
        options = dict(options or {})
        mask: Bools = numpy.asarray(options.pop("reset_mask", numpy.ones(self.num_envs)), numpy.bool_)
        if mask.shape != (self.num_envs,):
            raise ArgumentValueError(
                "reset_mask", f"must have {self.num_envs} truth values, one for each environment"
            )
        for place, each in enumerate(self._seeds(seed)):
            if mask[place] and (each is not None or self._generators[place] is None):
                self._generators[place] = seeding.np_random(each)[0]
        infos: dict[str, Any] = {}
        self._begin(numpy.flatnonzero(mask), infos, options)
        self._was_reset = True
        return self._observations.copy(), infos

    def step(self, actions: Array) -> tuple[Array, NDArray[Any], Bools, Bools, dict[str, Any]]:
        """Apply an action in each run, advance by one step, and return Gymnasium's five values.

        Raises `ResetNeeded` before the first reset, and after an episode if there are no automatic resets.
        """
        is_automatic = self._mode != AutoresetMode.DISABLED
        if not self._was_reset or (self._ended.any() and not is_automatic):
            raise ResetNeeded(NO_EPISODE)
        infos: dict[str, Any] = {}
        again = self._ended
        done, ended = map(numpy.asarray, step(self._episodes, actions, self._observations, self._rewards))
        rewards = self._rewards.mean(axis=1)
        self._ended = ended & ~again
        terminated, truncated = done & self._ended, self._ended & ~done
        if again.any():
            self._begin(numpy.flatnonzero(again), infos, {})
        if self._mode == AutoresetMode.SAME_STEP and self._ended.any():
            for place in map(int, numpy.flatnonzero(self._ended)):
                final = {"final_obs": self._observations[place].copy(), "final_info": {}}
                infos = self._add_info(infos, final, place)
            self._begin(numpy.flatnonzero(self._ended), infos, {})
        return self._observations.copy(), rewards, terminated, truncated, infos

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | numpy.integer):
            return [int(seed) + place for place in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ArgumentValueError("seed", f"has {len(seed)} seeds, but must have {self.num_envs}")
        return seed

    def _begin(self, places: NDArray[Any], infos: dict[str, Any], options: dict[str, Any]) -> None:
        """Begin the runs at these places."""
        drawn = []
        for place in map(int, places):
            generator = self._generators[place]
            assert generator is not None, "there was a reset"
            seed, scenario, info = self._setting.draw(generator, options)
            drawn.append((place, seed, scenario, self._observations[place]))
            self._add_info(infos, info, place)
        begin(self._episodes, drawn)
        self._ended = self._ended.copy()
        self._ended[places] = False
