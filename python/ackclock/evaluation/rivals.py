"""Compares a candidate with competing algorithms: scores, and the fair-share ratio of competing flows.

`docs/learn/how-algorithms-are-compared.md` defines starvation and names the environments that test it.
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
    "Competitor",
    "met",
    "rest_of",
    "rivals",
    "sentences",
    "share_text",
    "starves",
]

#: Flows below this fair-share ratio starve. Among as many other flows, each of those gets nine times as much.
STARVED = _core.STARVED
#: Flows at or above this fair-share ratio are treated fairly: as many other flows get at most twice as much.
FAIR = _core.FAIR
#: Whether flows starve: the interval of their fair-share ratio is below `STARVED`, contains it, or is above.
YES, MAYBE, NO = "yes", "maybe", "no"


@dataclass(frozen=True)
class Beside:
    """An environment in which competing flows share the link with the flows under test."""

    environment: Environment
    neighbours: Neighbours
    #: The fair-share ratio of the competing flows, by candidate of the scoreboard.
    shares: tuple[Estimate, ...]

    @property
    def theirs(self) -> Estimate:
        """The fair-share ratio of the competing flows against the first candidate."""
        return self.shares[0]

    @property
    def harm(self) -> float:
        """The lost part of the goodput that the competing flows achieve alone (Ware et al. 2019)."""
        return _core.harm(self.theirs.mean, self.neighbours.of_rival, self.neighbours.flows)

    @property
    def band(self) -> str:
        """The band of the ratio: `fair`, `maybe-harmed`, `harmed`, `maybe-starved` or `starved`."""
        return _core.band(self.theirs)

    @property
    def ours(self) -> Estimate:
        """The fair-share ratio of the first candidate. All ratios add up to the number of flows."""
        return rest_of(self.theirs, self.neighbours)


@dataclass(frozen=True)
class Competitor:
    """The comparison of the first candidate with a competing algorithm."""

    candidate: Candidate
    #: The candidate's score minus the competitor's, negative if the candidate is better. None for an
    #: algorithm outside the panel, and for a single random replicate.
    difference: Estimate | None
    #: The candidate's queueing delay over the competitor's, as a geometric mean over environments.
    delay_ratio: float | None
    #: The environments with flows of the competitor, sorted by their fair-share ratio.
    beside: tuple[Beside, ...]

    @property
    def judgement(self) -> str:
        """`better`, `worse`, or an empty text if the difference is not significant."""
        return "" if self.difference is None else self.difference.judgement

    @property
    def worst(self) -> Beside | None:
        """The environment in which the competing flows get least."""
        return self.beside[0] if self.beside else None

    @property
    def starved(self) -> str:
        """Whether the candidate starves it: `yes`, `maybe`, `no`, or an empty text if untested."""
        return starves(self.worst.theirs) if self.worst else ""

    @property
    def hardest(self) -> Beside | None:
        """The environment in which the candidate gets least."""
        return min(self.beside, key=lambda each: each.ours.mean, default=None)

    @property
    def starves_us(self) -> str:
        """Whether the competitor starves the candidate, in the same words."""
        return starves(self.hardest.ours) if self.hardest else ""


def rest_of(share: Estimate, neighbours: Neighbours) -> Estimate:
    """Return the mean fair-share ratio of all other flows."""
    return _core.rest_of(share, neighbours.of_rival, neighbours.flows)


def rivals(board: Scoreboard, ranking: Ranking) -> tuple[Competitor, ...]:
    """Return the panel and all other competitors of the best candidate, without that candidate."""
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
        Competitor(
            everyone[place],
            difference,
            delay_ratio,
            tuple(beside[board.results[at].environment.id] for at in where),
        )
        for place, difference, delay_ratio, where in found
    )


def met(board: Scoreboard) -> list[Beside]:
    """Return the environments that watch the share of another algorithm, sorted by that share."""
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


def sentences(found: Sequence[Competitor], objective: Objective) -> list[str]:
    """Compare the first candidate with competing algorithms, in sentences."""
    told = [
        (
            rival.candidate.label,
            rival.difference,
            [(beside.environment.title, beside.theirs, beside.ours, beside.harm) for beside in rival.beside],
        )
        for rival in found
    ]
    return _core.rival_sentences(told, objective.heading, objective.least_difference)
