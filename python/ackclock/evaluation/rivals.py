"""The rivals of a candidate: whether it is better than each of them, and whether it starves them.

`docs/learn/how-algorithms-are-compared.md` says which environments show that, and what starving means.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ackclock import _core
from ackclock._core import share_text, starves
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.ranking import Objective, Ranking
from ackclock.evaluation.score import WATCH, Scoreboard
from ackclock.evaluation.suite import Environment, Neighbours
from ackclock.statistics.estimates import Estimate

__all__ = [
    "FAIR",
    "MAYBE",
    "NO",
    "STARVED",
    "YES",
    "Beside",
    "Rival",
    "met",
    "rest_of",
    "rivals",
    "sentences",
    "share_text",
    "starves",
]

#: Flows with less than this part of a fair share starve: of as many others each has nine times as much.
STARVED = _core.STARVED
#: From this part of a fair share on a rival is treated fairly: as many others have at most twice as much.
FAIR = _core.FAIR
#: Whether flows starve: the interval of their share is below `STARVED`, contains it, or is above it.
YES, MAYBE, NO = "yes", "maybe", "no"


@dataclass(frozen=True)
class Beside:
    """An environment in which flows of a rival stand beside those under test."""

    environment: Environment
    neighbours: Neighbours
    #: The rival's share of a fair share, by candidate of the scoreboard.
    shares: tuple[Estimate, ...]

    @property
    def theirs(self) -> Estimate:
        """The rival's share beside the first candidate."""
        return self.shares[0]

    @property
    def harm(self) -> float:
        """The harm to the rival: the part of its goodput alone that it loses (Ware et al. 2019)."""
        return _core.harm(self.theirs.mean, self.neighbours.of_rival, self.neighbours.flows)

    @property
    def band(self) -> str:
        """What is left to the rival: `fair`, `maybe-harmed`, `harmed`, `maybe-starved` or `starved`."""
        return _core.band(self.theirs)

    @property
    def ours(self) -> Estimate:
        """The share of the first candidate: all shares together are as many as there are flows."""
        return rest_of(self.theirs, self.neighbours)


@dataclass(frozen=True)
class Rival:
    """How the first candidate compares with another algorithm, and what it leaves to it."""

    candidate: Candidate
    #: The score of the candidate less that of the rival, below zero if the candidate is better. None for an
    #: algorithm that is not in the panel, and where one replicate shows no difference.
    difference: Estimate | None
    #: The candidate's queueing delay over the rival's: the geometric mean over environments.
    delay_ratio: float | None
    #: The environments that have flows of the rival, the one with the least share first.
    beside: tuple[Beside, ...]

    @property
    def judgement(self) -> str:
        """`better` or `worse`: what the candidate is; nothing where replicates cannot tell."""
        return "" if self.difference is None else self.difference.judgement

    @property
    def worst(self) -> Beside | None:
        """Where the rival gets least."""
        return self.beside[0] if self.beside else None

    @property
    def starved(self) -> str:
        """Whether the candidate starves it: `yes`, `maybe`, `no`; nothing where nothing was run."""
        return starves(self.worst.theirs) if self.worst else ""

    @property
    def hardest(self) -> Beside | None:
        """Where the candidate itself gets least beside it."""
        return min(self.beside, key=lambda each: each.ours.mean, default=None)

    @property
    def starves_us(self) -> str:
        """Whether the rival starves the candidate, in the same words."""
        return starves(self.hardest.ours) if self.hardest else ""


def rest_of(share: Estimate, neighbours: Neighbours) -> Estimate:
    """Return the mean share of all other flows, where some flows have this one."""
    return _core.rest_of(share, neighbours.of_rival, neighbours.flows)


def rivals(board: Scoreboard, ranking: Ranking) -> tuple[Rival, ...]:
    """Return the panel, and what else the best candidate met, without that candidate itself."""
    best = ranking.best
    if best is None or best.score is None:
        return ()
    panel = [
        (entry.candidate, entry.score.values)
        for entry in sorted(ranking.panel, key=lambda entry: entry.index)
        if entry.score is not None
    ]
    neighbours = [
        result.environment.neighbours(board.suite.test_groups, board.sets) for result in board.results
    ]
    everyone = [
        *board.candidates,
        *(candidate for candidate, _ in panel),
        *(each.rival for each in neighbours if each is not None),
    ]
    places = {id(candidate): place for place, candidate in enumerate(everyone)}
    found = _core.rivals(
        board,
        [(each.label, json.dumps(each.resolved, sort_keys=True)) for each in everyone],
        best.score.values,
        [(places[id(candidate)], values) for candidate, values in panel],
        [
            None if each is None else (places[id(each.rival)], each.of_rival, each.flows)
            for each in neighbours
        ],
    )
    beside = {each.environment.id: each for each in met(board)}
    return tuple(
        Rival(
            everyone[place],
            difference,
            delay_ratio,
            tuple(beside[board.results[at].environment.id] for at in where),
        )
        for place, difference, delay_ratio, where in found
    )


def met(board: Scoreboard) -> list[Beside]:
    """Return the environments that watch the share of another algorithm, the least share first."""
    found = []
    for result in board.results:
        neighbours = result.environment.neighbours(board.suite.test_groups, board.sets)
        if neighbours is None:
            continue
        at = next(at for at, metric in enumerate(result.metrics) if metric.name == WATCH)
        found.append(
            Beside(result.environment, neighbours, tuple(scores[at].value for scores in result.scores))
        )
    return sorted(found, key=lambda each: each.theirs.mean)


def sentences(found: Sequence[Rival], objective: Objective) -> list[str]:
    """Answer in words: is it better than its rivals, what does it leave to them, and they to it?"""
    told = [
        (
            rival.candidate.label,
            rival.difference,
            [(beside.environment.title, beside.theirs, beside.ours, beside.harm) for beside in rival.beside],
        )
        for rival in found
    ]
    return _core.rival_sentences(told, objective.heading, objective.least_difference)
