"""Finds: the networks of a search that remain after grouping, shrinking and runs with fresh seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ackclock.attacks.networks import Behaviour, Trial
from ackclock.statistics.estimates import Estimate

#: A link is idle below this efficiency.
_IDLE = 0.8
#: Losses are many above this ratio.
_MANY_LOSSES = 0.02
#: Queueing delay is large above this part of the base RTT.
_STANDING = 0.5
#: Flows are starved below this part of their fair share, as in the verdict of an evaluation.
_STARVED = 0.2
#: A find with fresh seeds must show this part of its regret.
_CONFIRMED = 0.5

#: The least regret of a find, in percent.
LEAST_REGRET = 2.0

#: Marks of a behaviour, in a fixed order.
Signature = tuple[bool, ...]


@dataclass(frozen=True)
class Find:
    """A network in which the algorithm is much worse than a reference."""

    #: The trial of the search.
    found: Trial
    #: The smallest network, with the seeds of the search.
    shrunk: Trial
    #: The same network with fresh seeds, and its mean regret in percent.
    checked: Trial
    regret: Estimate
    #: Networks with the same signature, this one included.
    similar: int
    #: A run of the smallest network in another backend, if wanted.
    there: Trial | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether fresh seeds also show it. A failed run must fail again."""
        if self.found.failure:
            return bool(self.checked.failure)
        low = self.regret.mean if self.regret.low is None else self.regret.low
        return low > 0 and self.regret.mean >= max(LEAST_REGRET, _CONFIRMED * self.shrunk.regret)

    @property
    def is_there(self) -> bool:
        """Whether the run in the other backend shows half of the regret."""
        there = self.there
        if there is None or there.failure or not there.references:
            return False
        return there.regret >= _CONFIRMED * self.shrunk.regret

    @property
    def question(self) -> str:
        """The network in words, as a question."""
        return f"How does it cope with {self.shrunk.network.text}?"


def signature(behaviour: Behaviour | None) -> Signature:
    """Return the marks of a behaviour. Networks with the same marks count as one find."""
    if behaviour is None:
        return ()
    return (
        behaviour.timeouts > 0,
        behaviour.loss > _MANY_LOSSES,
        behaviour.efficiency < _IDLE,
        behaviour.queue_delay_s > _STANDING * behaviour.base_rtt_s,
        behaviour.share < _STARVED,
    )


def described(behaviour: Behaviour | None) -> str:
    """Return a behaviour in words."""
    if behaviour is None:
        return "its run fails"
    timeouts, losses, idle, standing, starved = signature(behaviour)
    parts = []
    if timeouts:
        count = behaviour.timeouts
        parts.append(f"{count} retransmission timeout{'s' if count > 1 else ''}")
    if losses:
        parts.append(f"{100 * behaviour.loss:.2g} % of the packets lost")
    if idle:
        parts.append(f"{100 * (1 - behaviour.efficiency):.0f} % of the capacity unused")
    if standing:
        parts.append(f"{1e3 * behaviour.queue_delay_s:.3g} ms of queueing delay")
    if starved:
        parts.append(f"{behaviour.share:.2g} of a fair share")
    return (
        ", ".join(parts) or f"{100 * behaviour.efficiency:.0f} % of the capacity used without a large queue"
    )


def grouped(trials: Iterable[Trial], least: float, most: int) -> list[tuple[Trial, int]]:
    """Return the worst trial of each signature, at most `most`, and the number of trials with its signature.

    Trials below a regret of `least` are left out. Among nearly equal regrets, fewer settings win.
    """
    groups: dict[tuple[str, Signature, str], list[Trial]] = {}
    for trial in trials:
        if trial.regret >= least:
            key = (
                trial.failure.partition("\n")[0],
                signature(trial.behaviour),
                trial.best,
            )
            groups.setdefault(key, []).append(trial)
    worst = [(max(group, key=_rank), len(group)) for group in groups.values()]
    return sorted(worst, key=lambda pair: -_rank(pair[0]))[:most]


def _rank(trial: Trial) -> float:
    """Return the regret, less one percent of it for each setting: the cost of complexity."""
    return trial.regret * (1 - 0.01 * len(trial.network.settings))


def worst_of(finds: Sequence[Find]) -> Find | None:
    """Return the confirmed find with the largest regret."""
    confirmed = [find for find in finds if find.is_confirmed]
    return max(confirmed, key=lambda find: find.regret.mean, default=None)
