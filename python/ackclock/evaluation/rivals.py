"""The rivals of a candidate: whether it is better than each of them, and whether it starves them.

`docs/scores.md` says which environments show that, and what starving means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.ranking import Entry, Ranking
from ackclock.evaluation.score import WATCH, Scoreboard
from ackclock.evaluation.suite import Environment, Neighbours
from ackclock.statistics.estimates import Estimate, paired_difference

#: Flows with less than this part of a fair share starve: of as many others each has nine times as much.
STARVED = 0.2
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
        if self.difference is None or not self.difference.excludes_zero:
            return ""
        return "worse" if self.difference.mean > 0 else "better"

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


def starves(share: Estimate) -> str:
    """Return whether flows with this share of a fair share starve."""
    low, high = share.low, share.high
    if low is None or high is None:
        low = high = share.mean
    return YES if high < STARVED else MAYBE if low < STARVED else NO


def rest_of(share: Estimate, neighbours: Neighbours) -> Estimate:
    """Return the mean share of all other flows, where some flows have this one."""

    def rest(value: float | None) -> float | None:
        return None if value is None else (neighbours.flows - neighbours.of_rival * value) / others

    others = neighbours.flows - neighbours.of_rival
    return Estimate(
        (neighbours.flows - neighbours.of_rival * share.mean) / others,
        rest(share.high),
        rest(share.low),
        share.count,
    )


def rivals(board: Scoreboard, ranking: Ranking) -> tuple[Rival, ...]:
    """Return the panel, and what else the best candidate met, without that candidate itself."""
    best = ranking.best
    if best is None:
        return ()
    places = met(board)
    panel = sorted(ranking.panel, key=lambda entry: entry.index)
    candidates = [*(entry.candidate for entry in panel), *(each.neighbours.rival for each in places)]
    others = {other.label: other for other in candidates if other.resolved != best.candidate.resolved}
    return tuple(
        Rival(
            rival,
            _difference(best, rival, ranking, exact=all(result.exact for result in board.results)),
            _delay_ratio(board, rival),
            tuple(each for each in places if each.neighbours.rival.resolved == rival.resolved),
        )
        for rival in others.values()
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


def _difference(best: Entry, rival: Candidate, ranking: Ranking, *, exact: bool) -> Estimate | None:
    same = next((entry for entry in ranking.panel if entry.candidate.resolved == rival.resolved), None)
    if same is None or best.score is None or same.score is None:
        return None
    ours, theirs = best.score.values, same.score.values
    count = max(len(ours), len(theirs))
    if count == 1 and not exact:
        return None
    # Of an algorithm for which nothing is random one replicate stands for all.
    ours, theirs = (row if len(row) == count else row * count for row in (ours, theirs))
    return paired_difference(ours, theirs)


def _delay_ratio(board: Scoreboard, rival: Candidate) -> float | None:
    at = next((at for at, each in enumerate(board.candidates) if each.resolved == rival.resolved), None)
    return None if at is None else board.mean_ratio("queue_delay", at)


def sentences(found: Sequence[Rival], heading: str) -> list[str]:
    """Answer in words: is it better than its rivals, does it starve them, do they starve it?"""
    parts = [
        (_names(each for each in found if each.difference is not None and each.judgement == judgement), words)
        for judgement, words in (("better", "better than"), ("worse", "worse than"), ("", "not told from"))
    ]
    told = [f"{words} {names}" for names, words in parts if names]
    said = [f"By its score ({heading}) it is {_joined(told)}."] if told else []
    for answer, starts in ((YES, "It starves"), (MAYBE, "It may starve")):
        starved = [(each, each.worst) for each in found if each.worst and each.starved == answer]
        if starved:
            places = [_where(rival, worst, worst.theirs) for rival, worst in starved]
            said.append(f"{starts} {_joined(places)}.")
    if spared := [(each, each.worst) for each in found if each.worst and each.starved == NO]:
        least = min((worst.theirs for _, worst in spared), key=lambda share: share.mean)
        names, have = _names(rival for rival, _ in spared), "has" if len(spared) == 1 else "have"
        said.append(f"It does not starve {names}, which {have} {share_text(least)} of a fair share or more.")
    hard = [(each, each.hardest) for each in found if each.hardest and each.starves_us == YES]
    if hard:
        places = [_where(rival, hardest, hardest.ours) for rival, hardest in hard]
        said.append(f"It is starved itself by {_joined(places)}.")
    return said


def share_text(share: Estimate) -> str:
    """Return a share with its interval."""
    if share.low is None or share.high is None:
        return f"{share.mean:.2f}"
    return f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]"


def _where(rival: Rival, beside: Beside, share: Estimate) -> str:
    return f"{rival.candidate.label} ({share_text(share)} of a fair share in “{beside.environment.title}”)"


def _names(found: Iterable[Rival]) -> str:
    return _joined([each.candidate.label for each in found])


def _joined(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
