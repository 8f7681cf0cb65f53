"""The exceptions of the package, and the exit code each stands for."""

from __future__ import annotations

from ackclock._core import Interrupted as Interrupted
from ackclock._core import ScenarioError as CoreScenarioError


class AckclockError(Exception):
    """A mistake of the user or of the machine; `str()` is the whole message."""

    exit_code = 2


class ScenarioError(AckclockError):
    """A scenario that cannot be read or makes no sense."""


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
    return ScenarioError(str(error))
