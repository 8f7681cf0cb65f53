"""The exceptions of the package, and the exit code each stands for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ackclock._core import Interrupted as Interrupted
from ackclock._core import ScenarioError as CoreScenarioError


class AckclockError(Exception):
    """A mistake of the user or of the machine; `str()` is the whole message."""

    exit_code = 2


@dataclass(frozen=True)
class Mistake:
    """One mistake in a scenario, with its place."""

    file: str
    #: The line of the file, where it is known.
    line: int | None
    #: The changed key, `KEY=VALUE`, that the mistake is in, if it is in one.
    set: str | None
    #: The key with dots; empty for the file as a whole.
    key: str
    #: What is wrong.
    message: str

    def text(self, sets_called: str = "set") -> str:
        """Return the whole message; `sets_called` is what stands in front of a changed key."""
        place = f"{sets_called} {self.set}" if self.set is not None else self.file
        line = f":{self.line}" if self.line is not None else ""
        return f"{place}{line}: {f'{self.key}: ' if self.key else ''}{self.message}"


class ScenarioError(AckclockError):
    """A scenario that cannot be read or makes no sense.

    `mistakes` has everything that is wrong with it, in the order of the file, a line of the message each;
    none where the file cannot be read.
    """

    def __init__(
        self,
        message: str,
        mistakes: Sequence[Mistake] = (),
        more: int = 0,
        *,
        names_sets: bool = False,
    ) -> None:
        super().__init__(message)
        self.mistakes = tuple(mistakes)
        self.more = more
        #: Whether the message names changed keys as its user knows them.
        self.names_sets = names_sets

    @classmethod
    def of(cls, mistakes: Sequence[Mistake], more: int = 0, *, sets_called: str = "") -> ScenarioError:
        """Return the error with these mistakes, and `more` that are not told."""
        rest = [f"... and {more} more mistakes"] if more else []
        return cls(
            "\n".join([*(mistake.text(sets_called or "set") for mistake in mistakes), *rest]),
            mistakes,
            more,
            names_sets=bool(sets_called),
        )


@contextmanager
def sets_called(name: str) -> Iterator[None]:
    """Name the changed keys of scenario errors as the user knows them, such as `--set`."""
    try:
        yield
    except ScenarioError as error:
        if error.names_sets or not error.mistakes:
            raise
        raise ScenarioError.of(error.mistakes, error.more, sets_called=name) from None


class StoreError(AckclockError):
    """Results that cannot be stored or read."""


class ClusterError(AckclockError):
    """A cluster that cannot be reached, or cannot run what it was given."""


class BuildError(ClusterError):
    """A run of one ackclock that came to another."""


class InputError(AckclockError):
    """Anything else that was asked for and is not there."""


def as_scenario_error(error: CoreScenarioError) -> ScenarioError:
    """The package's exception for one of the core's."""
    document = json.loads(error.mistakes_json)
    return ScenarioError.of([Mistake(**mistake) for mistake in document["mistakes"]], document["more"])


def printable(text: str) -> str:
    """Return a text with its control characters written out: what files hold must not steer a terminal."""
    return "".join(
        char if char.isprintable() or char in " \n\t" else char.encode("unicode_escape").decode()
        for char in text
    )
