"""Comparisons of a candidate with competing algorithms: scores, and the fair-share ratio of competing flows.

`docs/learn/how-algorithms-are-compared.md` defines starvation and names the environments that test it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ackclock import _core
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.suite import Environment, Neighbours
from ackclock.statistics.estimates import Estimate

#: Flows below this fair-share ratio starve. Among as many other flows, each of those gets nine times as much.
STARVED = _core.STARVED
#: Flows at or above this fair-share ratio are treated fairly: as many other flows get at most twice as much.
FAIR = _core.FAIR


@dataclass(frozen=True)
class Beside:
    """An environment in which competing flows share the link with the flows under test."""

    environment: Environment
    neighbours: Neighbours
    #: The fair-share ratio of the competing flows against the first candidate.
    theirs: Estimate
    #: The fair-share ratio of the first candidate. All ratios add up to the number of flows.
    ours: Estimate
    #: The band of the ratio: `fair`, `maybe-harmed`, `harmed`, `maybe-starved` or `starved`.
    band: str
    #: The lost part of the goodput that the competing flows achieve alone (Ware et al. 2019).
    harm: float


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

    #: Whether the candidate starves it: `yes`, `maybe`, `no`, or an empty text if untested.
    starved: str
    #: Whether the competitor starves the candidate, in the same words.
    starves_us: str

    @property
    def judgement(self) -> str:
        """`better`, `worse`, or an empty text if the difference is not significant."""
        return "" if self.difference is None else self.difference.judgement

    @property
    def worst(self) -> Beside | None:
        """The environment in which the competing flows get least."""
        return self.beside[0] if self.beside else None
