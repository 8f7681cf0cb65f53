"""Shrinks a network to the smallest one that still shows most of the regret."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from ackclock.attacks.networks import Network, Trial

#: The part of the regret that a smaller network must still show.
KEPT = 0.8
#: The shortest run.
_SHORTEST_S = 4.0


def shrunk(first: Trial, run: Callable[[Network], Trial | None], most: int) -> tuple[Trial, int]:
    """Return the smallest trial that keeps `KEPT` of the regret, and the number of networks that were tried.

    It removes settings, then rounds numbers, then shortens the run, until nothing of this is possible. At
    most `most` networks are run. `run` returns None for a network that cannot be a scenario. If the first run
    fails, the others must fail with the same message.
    """
    best, tried, goal = first, 0, KEPT * first.regret

    def accepts(trial: Trial) -> bool:
        if first.failure:
            return trial.failure == first.failure
        return not trial.failure and trial.regret >= goal

    is_smaller = True
    while is_smaller and tried < most:
        is_smaller = False
        for network in _smaller(best.network):
            if tried >= most:
                break
            tried += 1
            trial = run(network)
            if trial is not None and accepts(trial):
                best, is_smaller = trial, True
                break
    return best, tried


def _smaller(network: Network) -> Iterator[Network]:
    """Give smaller networks, those with the largest steps first."""
    for name, _ in network.settings:
        yield network.without(name)
    if network.duration_s > _SHORTEST_S:
        for part in (0.5, 0.75):
            yield replace(network, duration_s=_duration(network.duration_s * part))
    for digits in (1, 2):
        for name, value in network.settings:
            rounder = float(f"{value:.{digits}g}")
            if rounder != value and _digits(rounder) < _digits(value) and _is_within(network, name, rounder):
                yield network.with_value(name, rounder)


def _duration(seconds: float) -> float:
    return max(_SHORTEST_S, float(math.ceil(seconds)))


def _digits(value: float) -> int:
    return len(f"{value:g}".replace("-", "").replace(".", "").strip("0"))


def _is_within(network: Network, name: str, value: float) -> bool:
    axes = (setting.axis for family in network.families for setting in family.settings)
    return any(axis.name == name and axis.low <= value <= axis.high for axis in axes)
