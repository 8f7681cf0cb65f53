"""The exceptions of the package, and the exit code each stands for."""

from __future__ import annotations

import errno
import sqlite3

from ackclock._core import Interrupted as Interrupted
from ackclock._core import ScenarioError as CoreScenarioError

#: How the core begins a message about a change of a key.
_SET = "--set "
#: No space, no quota left, a file larger than allowed.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SQLITE_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


class AckclockError(Exception):
    """A mistake of the user or of the machine; `str()` is the whole message."""

    exit_code = 2

    @property
    def shell_message(self) -> str:
        """The message where arguments of functions are options of a command."""
        return str(self)


class ScenarioError(AckclockError):
    """A scenario that cannot be read or makes no sense."""


class SetError(ScenarioError):
    """One of `sets` (`--set`) that cannot be applied."""

    def __str__(self) -> str:
        return f"sets: {self.args[0]}"

    @property
    def shell_message(self) -> str:
        """The message with the name of the option."""
        return f"{_SET}{self.args[0]}"


class StoreError(AckclockError):
    """Results that cannot be stored or read."""


class WriteError(StoreError):
    """A file for which there is no room, or which the device refuses; nothing of it is left."""

    exit_code = 1


class ClusterError(AckclockError):
    """A cluster that cannot be reached, or cannot run what it was given."""


class BuildError(ClusterError):
    """A run of one ackclock that came to another."""


class InputError(AckclockError):
    """Anything else that was asked for and is not there."""


class ArgumentError(InputError):
    """An argument that cannot be used: its name, what is wrong and what is expected."""

    def __init__(self, argument: str, what: str, option: str = "") -> None:
        """`option`: what a command calls the argument, where that is not its name behind two dashes."""
        super().__init__(argument, what, option)

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.args[1]}"

    @property
    def shell_message(self) -> str:
        """The message with the name of the option."""
        argument, what, option = self.args
        return f"{option or '--' + argument.replace('_', '-')} {what}"


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of a type that makes no sense."""


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of the right type with a value that makes no sense."""


def as_scenario_error(error: CoreScenarioError) -> ScenarioError:
    """The package's exception for one of the core's."""
    message = str(error)
    changed = message.removeprefix(_SET)
    return ScenarioError(message) if changed == message else SetError(changed)


def writing_error(message: str, error: Exception) -> StoreError:
    """The package's exception for a file that cannot be written: `WriteError` where there is no room."""
    if isinstance(error, OSError):
        is_of_machine = error.errno in _FULL
    else:
        # The lowest byte is the kind of error.
        is_of_machine = getattr(error, "sqlite_errorcode", 0) & 0xFF in _SQLITE_FULL
    return (WriteError if is_of_machine else StoreError)(message)
