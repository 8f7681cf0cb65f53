"""Whether an algorithm keeps the contract of TCP: violations, each with the events that show it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ackclock import _core
from ackclock.errors import BackendError, RunError
from ackclock.foreign import process
from ackclock.scenario import PROBED, Algorithm, probe_scenario


@dataclass(frozen=True)
class Step:
    """An event, and the answer of the algorithm."""

    #: Seconds since the start of the connection.
    time_s: float
    event: str
    #: The window after the event, in segments. None if it is not finite.
    cwnd: float | None
    #: The slow-start threshold after the event, in segments. None if there is none.
    ssthresh: float | None


@dataclass(frozen=True)
class Finding:
    """A promise that an algorithm breaks."""

    #: A short name of the promise, such as `one-reduction`.
    promise: str
    #: The observed violation.
    broken: str
    #: Advice on the violation.
    advice: str
    #: The smallest sequence of events that shows it. Empty for a run that ended early.
    steps: tuple[Step, ...]
    #: Why the algorithm gave up, if it did.
    fault: str | None = None


def check_cc(cc: Algorithm) -> list[Finding]:
    """Check that an algorithm keeps the contract of TCP, under generated events and in small networks.

    `cc`: a subclass of `CongestionControl`, a name, rule text, or the dict of an algorithm. It can also be a
    file, such as `my_cc.py:MyCc`, `my_cc.so` or `my-cc.rule`. The events are the same in every call. Passing
    the checks does not prove an algorithm correct. Raises `ScenarioError` for an invalid algorithm, and
    `RunError` for an algorithm that crashes.
    """
    scenario = probe_scenario().with_algorithm(cc)
    try:
        findings = _findings(scenario.resolved_json)
    except process.CrashError as error:
        raise RunError(str(error)) from None
    return [
        Finding(**{**finding, "steps": tuple(Step(**step) for step in finding["steps"])})
        for finding in findings
    ]


def _findings(scenario_json: str) -> list[dict[str, Any]]:
    scenario = _core.Scenario.from_json(scenario_json, "<check>")
    if process.is_needed(scenario.foreign):
        return process.call(_findings, scenario_json)
    try:
        found: list[dict[str, Any]] = json.loads(scenario.check_cc_json(PROBED) or "[]")
    except _core.BackendError as error:
        raise BackendError(str(error)) from None
    return found
