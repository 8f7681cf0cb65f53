"""Whether an algorithm keeps the contract of TCP: violations, each with the events that show it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ackclock import _core
from ackclock.errors import RunError
from ackclock.foreign import process
from ackclock.scenario import PROBED, Algorithm, probe_scenario


@dataclass(frozen=True)
class Step:
    """An event, and the answer of the algorithm."""

    #: Seconds since the start of the connection.
    time_s: float
    event: str
    #: The window after it, in segments; None where it is no finite number.
    cwnd: float | None
    #: The slow-start threshold after it, in segments; None where there is none.
    ssthresh: float | None


@dataclass(frozen=True)
class Finding:
    """A promise that an algorithm breaks."""

    #: A short name of the promise, such as `one-reduction`.
    promise: str
    #: What happened instead.
    broken: str
    #: What to do about it.
    advice: str
    #: The smallest sequence of events that was found to show it; empty for a run that ended before its time.
    steps: tuple[Step, ...]
    #: Why the algorithm gave up, if it did.
    fault: str | None = None


def check_cc(cc: Algorithm) -> list[Finding]:
    """Look for promises that an algorithm breaks, under made-up events and in small networks.

    `cc`: a subclass of `CongestionControl`, a name, a file such as `my_cc.py:MyCc`, `my_cc.so` or
    `my-cc.rule`, rule text, or the dict of an algorithm. The events are the same in every call. Nothing
    found is no proof. Raises `ScenarioError` for what is no algorithm, and `RunError` for one that crashes.
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
    found: list[dict[str, Any]] = json.loads(scenario.check_cc_json(PROBED) or "[]")
    return found
