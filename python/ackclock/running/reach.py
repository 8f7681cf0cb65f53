"""Changes of a scenario that reach none of the scenarios that run in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ackclock.errors import AckclockError, Mistake, ScenarioError
from ackclock.scenario import Scenario


def require_reached(
    sets: Sequence[str],
    read: Callable[[Sequence[str]], Scenario],
    used: Callable[[Scenario], Iterable[Scenario]],
    reason: str,
) -> None:
    """Raise `ScenarioError` for a change of a scenario without effect on the scenarios `used` in its place.

    `read` returns the scenario with some of the changes. `reason` completes the message.
    """
    whole = read(sets)
    for place, text in enumerate(sets):
        try:
            without = read((*sets[:place], *sets[place + 1 :]))
            pairs = zip(used(whole), used(without), strict=True)
            is_lost = without.fingerprint != whole.fingerprint and all(
                one.fingerprint == other.fingerprint for one, other in pairs
            )
        except AckclockError:
            # Other changes need this one, or the scenario is invalid and the caller reports it.
            continue
        if is_lost:
            key = text.partition("=")[0].strip()
            raise ScenarioError.of([Mistake("", None, text, key, f"reaches nothing: {reason}")])
