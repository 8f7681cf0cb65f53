"""The arguments that all environments share, checked once, with the values derived from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy
from gymnasium import spaces
from numpy.typing import NDArray

from ackclock import _core
from ackclock.arguments import texts
from ackclock.errors import ArgumentTypeError, ArgumentValueError, RunError
from ackclock.gym.terms import ACTIONS, TERMS
from ackclock.scenario import Scenario
from ackclock.text.suggest import hint

if TYPE_CHECKING:
    #: Of actions and of observations.
    Space = spaces.Box[numpy.float32]

Array = NDArray[numpy.float32]
#: A scenario, the path of its file, or its tree.
ScenarioLike = Scenario | str | PathLike[str] | Mapping[str, Any]
#: Draws changes of a scenario for an episode, as `KEY=VALUE` texts.
Vary = Callable[[numpy.random.Generator], Iterable[str]]

#: Seeds are below this.
_SEEDS = 2**63
_EXAMPLE = "topology.rate=20 Mbit/s"
_LONGEST_STEP_S = 1e6


@dataclass(frozen=True)
class Setting:
    """The checked arguments of an environment."""

    scenario: Scenario
    agents: list[str]
    step_s: float
    action: str
    observation: list[str]
    reward: dict[str, float]
    vary: Vary | None

    @classmethod
    def of(
        cls,
        scenario: ScenarioLike,
        agents: str | Iterable[str] | None,
        step_s: float,
        action: str,
        observation: Sequence[str],
        reward: Mapping[str, float],
        vary: Vary | None,
    ) -> Setting:
        """Check arguments. Raises `ScenarioError` and `ArgumentError`."""
        read = _scenario(scenario)
        if action not in ACTIONS:
            raise ArgumentValueError("action", _unknown(action, ACTIONS))
        if vary is not None and not callable(vary):
            raise ArgumentTypeError("vary", "must be a function that returns a list of KEY=VALUE texts")
        return cls(
            read,
            _agents(read, agents),
            _step(step_s),
            action,
            _observation(observation),
            _reward(reward),
            vary,
        )

    def episodes(self, runs: int, threads: int) -> _core.Episodes:
        """Return runs at their start."""
        try:
            return _core.Episodes(
                self.scenario._core,
                self.agents,
                self.step_s,
                self.action,
                [list(TERMS).index(name) for name in self.observation],
                [self.reward.get(name, 0.0) for name in TERMS],
                runs,
                threads,
            )
        except ValueError as error:
            raise ArgumentValueError("scenario", f"cannot be steered: {error}") from None

    def action_space(self, *shape: int) -> Space:
        """Return the space of so many actions."""
        term = ACTIONS[self.action]
        return spaces.Box(term.low, term.high, shape, numpy.float32)

    def observation_space(self, *shape: int) -> Space:
        """Return the space of so many observations."""
        terms = [TERMS[name] for name in self.observation]
        size = (*shape, len(terms))
        low = numpy.array([term.low for term in terms], numpy.float32)
        high = numpy.array([term.high for term in terms], numpy.float32)
        return spaces.Box(numpy.broadcast_to(low, size), numpy.broadcast_to(high, size), dtype=numpy.float32)

    def draw(
        self, random: numpy.random.Generator, options: Mapping[str, Any] | None
    ) -> tuple[int, _core.Scenario | None, dict[str, Any]]:
        """Draw the next episode: its seed, its scenario if it changed, and its `info`."""
        seed = int(random.integers(_SEEDS))
        sets = list(texts("vary", self.vary(random), _EXAMPLE)) if self.vary is not None else []
        sets += texts('options["sets"]', (options or {}).get("sets", ()), _EXAMPLE)
        if not sets:
            return seed, None, {"seed": seed}
        return seed, self.scenario.with_sets(sets)._core, {"seed": seed, "sets": tuple(sets)}


def begin(episodes: _core.Episodes, drawn: list[tuple[int, int, _core.Scenario | None, Array]]) -> None:
    """Begin runs: of each its place, seed, scenario, and where its observation goes."""
    try:
        episodes.reset(drawn)
    except ValueError as error:
        raise ArgumentValueError("sets", f"cannot be steered: {error}") from None


def step(
    episodes: _core.Episodes, actions: Any, observations: Array, rewards: NDArray[numpy.float64]
) -> tuple[list[bool], list[bool]]:
    """Step all runs. Return for each whether its transfers are complete, and whether it has ended."""
    values = numpy.ascontiguousarray(actions, dtype=numpy.float32)
    if values.size != rewards.size:
        raise ArgumentValueError("action", f"has {values.size} numbers, but must have {rewards.size}")
    try:
        return episodes.step(values, observations, rewards)
    except ValueError as error:
        raise ArgumentValueError("action", str(error)) from None
    except _core.RunError as error:
        raise RunError(str(error)) from None


def _scenario(given: ScenarioLike) -> Scenario:
    if isinstance(given, Scenario):
        return given
    return Scenario.from_dict(given) if isinstance(given, Mapping) else Scenario.from_file(given)


def _agents(scenario: Scenario, agents: str | Iterable[str] | None) -> list[str]:
    """Return the groups of flows that agents steer."""
    if agents is None:
        return scenario.groups_under_test
    chosen = [agents] if isinstance(agents, str) else list(texts("agents", agents, "test"))
    groups = scenario.groups
    for group in chosen:
        if group not in groups:
            raise ArgumentValueError("agents", _unknown(group, groups))
    if not chosen:
        raise ArgumentValueError("agents", f"is empty; there are the flows {', '.join(groups)}")
    return chosen


def _step(step_s: float) -> float:
    try:
        seconds = float(step_s)
    except (TypeError, ValueError):
        raise ArgumentTypeError("step_s", f"is {step_s!r}, but must be seconds, as in 0.01") from None
    if not 1e-9 <= seconds <= _LONGEST_STEP_S:
        raise ArgumentValueError(
            "step_s", f"is {seconds:g}, but must be seconds from 1e-9 to 1e6, as in 0.01"
        )
    return seconds


def _observation(observation: Sequence[str]) -> list[str]:
    names = list(texts("observation", observation, "srtt"))
    if not names:
        raise ArgumentValueError("observation", "is empty; ackclock.gym.TERMS has what can be observed")
    for name in names:
        if name not in TERMS:
            raise ArgumentValueError("observation", _unknown(name, TERMS))
    return names


def _reward(reward: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(reward, Mapping):
        raise ArgumentTypeError("reward", "must be a dict of weights by name, as in {'goodput': 1.0}")
    weights = {}
    for name, weight in reward.items():
        if name not in TERMS:
            raise ArgumentValueError("reward", _unknown(name, TERMS))
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not numpy.isfinite(weight):
            raise ArgumentValueError(
                "reward", f"has the weight {weight!r} for {name}; it must be a finite number"
            )
        weights[name] = float(weight)
    return weights


def _unknown(name: str, known: Iterable[str]) -> str:
    return f"has {name!r}, which does not exist; {hint(name, known)}"
