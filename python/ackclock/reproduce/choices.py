"""The choices that a paper leaves open, each with its chosen and alternative answers and their origins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ackclock.files.declaration import Place
from ackclock.reproduce.grids import Grid, Values, matches, require_at


@dataclass(frozen=True)
class Change:
    """A change that an answer makes to the scenarios of some cells."""

    sets: tuple[str, ...]
    #: The grids that it changes, or empty for all.
    grids: tuple[str, ...] = ()
    #: The cells that it changes.
    where: Values = field(default_factory=dict)

    def applies(self, grid: Grid, values: Values) -> bool:
        """Whether a cell is changed."""
        return (not self.grids or grid.name in self.grids) and matches(values, self.where)


@dataclass(frozen=True)
class Answer:
    """One answer to a choice."""

    id: str
    title: str
    changes: tuple[Change, ...] = ()
    #: One of `paper_keys.ORIGINS`, or empty.
    origin: str = ""
    #: Patterns of the claims to which a fitted answer was fitted.
    fits: tuple[str, ...] = ()
    #: One of `paper_keys.CHOSEN`, or empty.
    chosen: str = ""
    #: Replacements for metrics of claims.
    metrics: Mapping[str, str] = field(default_factory=dict)
    #: The cells to run where only this answer differs from the chosen ones, by grid. Empty means all cells.
    at: Mapping[str, Values] = field(default_factory=dict)
    #: The cells to run where other answers also differ.
    together: Mapping[str, Values] = field(default_factory=dict)

    def sets_of(self, grid: Grid, values: Values) -> Iterator[str]:
        """Yield the changes of the scenario of a cell."""
        for change in self.changes:
            if change.applies(grid, values):
                yield from change.sets

    def is_fitted_to(self, claim: str) -> bool:
        """Whether the answer was fitted to the claim, and therefore cannot support it."""
        return any(fnmatchcase(claim, pattern) for pattern in self.fits)


@dataclass(frozen=True)
class Choice:
    """A detail that a paper leaves open, with the chosen answer and the alternatives."""

    id: str
    question: str
    #: The words of the paper, with their section.
    source: str
    why: str
    answer: Answer
    others: tuple[Answer, ...]

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers, the chosen one first."""
        return (self.answer, *self.others)


def read_choice(
    entry: dict[str, Any], grids: Sequence[Grid], at: Mapping[str, Values], place: Place
) -> Choice:
    """Read an entry of `[[choices]]`. `at` contains the default cells of alternative answers.

    Raises `InputError` with file and key.
    """
    name = entry.get("id", entry["question"])
    here = place.at(f"choices[{name}]")
    return Choice(
        id=name,
        question=entry["question"],
        source=entry.get("source", ""),
        why=entry["why"],
        answer=_answer({**entry, "id": "", "title": entry["answer"]}, grids, {}, {}, here),
        others=tuple(
            _answer(
                {"chosen": entry.get("chosen", ""), **other},
                grids,
                other.get("at", at),
                at,
                Place(place.file, f"alternatives[{other['id']}]"),
            )
            for other in entry.get("alternatives", ())
        ),
    )


def _answer(
    entry: dict[str, Any],
    grids: Sequence[Grid],
    at: Mapping[str, Values],
    together: Mapping[str, Values],
    place: Place,
) -> Answer:
    require_cells(at, grids, place.at("at"))
    if ("fits" in entry) != (entry.get("origin") == "fitted"):
        place.at("fits").fail('is required with the origin "fitted", and only with it')
    run = [grid for grid in grids if (grid.name in at if at else not grid.extended)]
    return Answer(
        id=entry["id"],
        title=entry["title"],
        changes=tuple(_changes(entry, run, place)),
        origin=entry.get("origin", ""),
        fits=tuple(entry.get("fits", ())),
        chosen=entry.get("chosen", ""),
        metrics=entry.get("metrics", {}),
        at=at,
        together=together,
    )


def _changes(entry: dict[str, Any], grids: Sequence[Grid], place: Place) -> Iterator[Change]:
    """Yield the changes of an entry: of all grids by `set`, of some by `changes`."""
    specs = [{"set": entry["set"], "where": entry.get("where", {})}] if "set" in entry else []
    for spec in [*specs, *entry.get("changes", ())]:
        named = spec.get("grids", [])
        for name in named:
            place.at("changes.grids").require(name, [grid.name for grid in grids], "grid that is run")
        where = spec.get("where", {})
        for grid in grids:
            if not named or grid.name in named:
                require_at(grid, where, place.at("where"))
        yield Change(tuple(spec["set"]), tuple(named), where)


def require_cells(at: Mapping[str, Values], grids: Sequence[Grid], place: Place) -> None:
    """Raise `InputError` for unknown grids or cells."""
    for name in at:
        place.require(name, [grid.name for grid in grids], "grid")
        (chosen,) = (grid for grid in grids if grid.name == name)
        require_at(chosen, at[name], place)
