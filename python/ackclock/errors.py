"""The exceptions of the package, each with its exit code."""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ackclock._core import Interrupted as Interrupted
from ackclock._core import ScenarioError as CoreScenarioError

#: No space, no quota left, a file larger than allowed.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SQLITE_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class AckclockError(Exception):
    """An error with a message for the user. `str()` is the whole message."""

    exit_code = 2

    @property
    def shell_message(self) -> str:
        """The message where arguments of functions are options of a command."""
        return str(self)


@dataclass(frozen=True)
class Mistake:
    """One mistake in a scenario, with its place."""

    file: str
    #: The line of the file, where it is known.
    line: int | None
    #: The changed key that contains the mistake, as `KEY=VALUE`, if one does.
    set: str | None
    #: The key with dots. Empty for the file as a whole.
    key: str
    #: The message, without the place.
    message: str

    def text(self, sets_called: str = "sets:") -> str:
        """Return the whole message. `sets_called` is the prefix of a changed key."""
        place = f"{sets_called} {self.set}" if self.set is not None else self.file
        line = f":{self.line}" if self.line is not None else ""
        return f"{place}{line}: {f'{self.key}: ' if self.key else ''}{self.message}"


class ScenarioError(AckclockError):
    """A scenario that cannot be read or is invalid.

    `mistakes` lists every mistake in the order of the file, one line of the message each. It is empty if the
    file cannot be read.
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
        #: The message of each mistake, without the number of further ones.
        self.messages: tuple[str, ...] = ()
        #: Whether the message names changed keys as its user knows them.
        self.names_sets = names_sets

    @classmethod
    def of(cls, mistakes: Sequence[Mistake], more: int = 0, *, sets_called: str = "") -> ScenarioError:
        """Return the error with these mistakes, and the number of others."""
        messages = tuple(mistake.text(sets_called or "sets:") for mistake in mistakes)
        rest = [f"... and {more} more mistakes"] if more else []
        error = cls("\n".join([*messages, *rest]), mistakes, more, names_sets=bool(sets_called))
        error.messages = messages
        return error


@contextmanager
def sets_called(name: str) -> Iterator[None]:
    """Name the changed keys of scenario errors as the user knows them, such as `--set`."""
    try:
        yield
    except ScenarioError as error:
        if error.names_sets or not error.mistakes:
            raise
        raise ScenarioError.of(error.mistakes, error.more, sets_called=name) from None


class RunError(AckclockError):
    """A run that was stopped because it would have taken too much memory."""


class BackendError(AckclockError):
    """A backend that does not support the scenario, or that this system does not permit."""


class StoreError(AckclockError):
    """Results that cannot be stored or read."""


class WriteError(StoreError):
    """A file that does not fit on the device, or that the device refuses. No part of it is kept."""

    exit_code = 1


class ClusterError(AckclockError):
    """A cluster that cannot be reached, or cannot run its work."""


class BuildError(ClusterError):
    """A run sent to an ackclock of another build."""


class InputError(AckclockError):
    """Any other input that cannot be used."""


class ArgumentError(InputError):
    """An argument that cannot be used: its name, the mistake and the expected value."""

    def __init__(self, argument: str, what: str, option: str = "") -> None:
        """`option`: the name of the argument in a command, if that is not `--` and its name."""
        super().__init__(argument, what, option)

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.args[1]}"

    @property
    def shell_message(self) -> str:
        """The message with the name of the option."""
        argument, what, option = self.args
        return f"{option or '--' + argument.replace('_', '-')} {what}"


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of the wrong type."""


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of the right type with a wrong value."""


def as_scenario_error(error: CoreScenarioError) -> ScenarioError:
    """The package's exception for one of the core's."""
    document = json.loads(error.mistakes_json)
    return ScenarioError.of([Mistake(**mistake) for mistake in document["mistakes"]], document["more"])


def writing_error(message: str, error: Exception) -> StoreError:
    """The package's exception for a file that cannot be written: `WriteError` where there is no room."""
    if isinstance(error, OSError):
        is_of_machine = error.errno in NO_ROOM
    else:
        # The lowest byte contains the kind of error.
        is_of_machine = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in _SQLITE_NO_ROOM
    return (WriteError if is_of_machine else StoreError)(message)
