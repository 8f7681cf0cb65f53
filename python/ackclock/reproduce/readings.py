"""Interpretations of a paper: one answer to each choice that it leaves open."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ackclock.reproduce.choices import Answer, Choice
from ackclock.reproduce.grids import Grid, Values

#: Each new combination is the one of so many random draws that differs most from all previous ones.
_CANDIDATES = 64


class ContradictionError(Exception):
    """Answers that contradict each other, or that make a scenario impossible."""


@dataclass(frozen=True)
class Reading:
    """An interpretation: one answer to each choice. It is empty for the chosen answers."""

    #: The answers that differ from the chosen ones, by choice, in the order of the paper.
    instead: tuple[tuple[Choice, Answer], ...] = ()

    @property
    def name(self) -> str:
        """The names of the answers that differ from the chosen ones."""
        return " + ".join(answer.id for _, answer in self.instead) or "as chosen"

    @property
    def metrics(self) -> Mapping[str, str]:
        """The replacements for metrics of claims."""
        return {old: new for _, answer in self.instead for old, new in answer.metrics.items()}

    def answer(self, choice: Choice) -> Answer:
        """Return the answer to a choice."""
        return next((answer for each, answer in self.instead if each.id == choice.id), choice.answer)

    def is_fitted_to(self, claim: str, choices: Sequence[Choice]) -> bool:
        """Whether any of the answers was fitted to the claim."""
        return any(self.answer(choice).is_fitted_to(claim) for choice in choices)

    def cells(self, grid: Grid) -> list[Values]:
        """Return selections that together contain the cells of a grid to run."""
        if not self.instead:
            return [{}]
        (_, answer), *more = self.instead
        at = answer.together if more else answer.at
        if at:
            return [at[grid.name]] if grid.name in at else []
        return [] if grid.extended else [{}]

    def sets_of(self, grid: Grid, values: Values) -> list[str]:
        """Return the changes of the scenario of a cell. Raises `ContradictionError`."""
        owners: dict[str, tuple[str, str]] = {}
        sets = []
        for _, answer in self.instead:
            for text in answer.sets_of(grid, values):
                key = text.partition("=")[0].strip()
                for other, (owner, there) in owners.items():
                    if owner != answer.id and text != there and _overlap(key, other):
                        raise ContradictionError(
                            f"{owner} and {answer.id} both set {min(key, other, key=len)}"
                        )
                owners[key] = (answer.id, text)
                sets.append(text)
        return sets


#: The chosen interpretation.
CHOSEN = Reading()


def _overlap(key: str, other: str) -> bool:
    """Whether two keys of a scenario are the same, or one is inside of the other."""
    return f"{key}.".startswith(f"{other}.") or f"{other}.".startswith(f"{key}.")


def singles(choices: Sequence[Choice]) -> list[Reading]:
    """Return the interpretations that change one answer."""
    return [Reading(((choice, other),)) for choice in choices for other in choice.others]


def combinations(choices: Sequence[Choice], seed: int) -> Iterator[Reading]:
    """Yield all interpretations that change more than one answer, each far from all previous ones.

    The distance of two interpretations is the number of choices that they answer differently.
    """
    open_ones = [choice for choice in choices if choice.others]
    size = math.prod(len(choice.answers) for choice in open_ones)
    generator = random.Random(seed)
    taken = [tuple(choice.answer.id for choice in open_ones), *_single_names(open_ones)]
    known = set(taken)
    for _ in range(size - len(known)):
        drawn = (
            _draw(open_ones, known, generator)
            if size > 2 * (len(known) + _CANDIDATES)
            else [row for row in _all(open_ones) if row not in known]
        )
        chosen = max(drawn, key=lambda row: min(_distance(row, other) for other in taken))
        taken.append(chosen)
        known.add(chosen)
        yield Reading(
            tuple(
                (choice, answer)
                for choice, name in zip(open_ones, chosen, strict=True)
                for answer in choice.others
                if answer.id == name
            )
        )


def _draw(
    choices: Sequence[Choice], known: set[tuple[str, ...]], generator: random.Random
) -> list[tuple[str, ...]]:
    drawn: list[tuple[str, ...]] = []
    while len(drawn) < _CANDIDATES:
        row = tuple(generator.choice(choice.answers).id for choice in choices)
        if row not in known:
            drawn.append(row)
    return drawn


def _all(choices: Sequence[Choice]) -> Iterator[tuple[str, ...]]:
    return itertools.product(*([answer.id for answer in choice.answers] for choice in choices))


def _single_names(choices: Sequence[Choice]) -> Iterator[tuple[str, ...]]:
    for changed in choices:
        for other in changed.others:
            yield tuple(other.id if choice is changed else choice.answer.id for choice in choices)


def _distance(row: tuple[str, ...], other: tuple[str, ...]) -> int:
    return sum(here != there for here, there in zip(row, other, strict=True))
