"""ackclock: a congestion-control laboratory.

>>> import ackclock
>>> result = ackclock.run("examples/two-flows.toml")
>>> list(result.summary)[:2]
['capacity_bps', 'goodput_bps']
"""

from __future__ import annotations

#: As `typing` has it. Nothing is imported here, as Ctrl-C is not handled yet.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ackclock._core import VERSION as __version__
    from ackclock._core import Ack, Congestion, CongestionControl, Event, Loss, Recovery, Sent
    from ackclock.attacks import attack
    from ackclock.coexistence.matrix import coexist
    from ackclock.contract import Finding, check_cc
    from ackclock.errors import AckclockError, ArgumentError, RunError, ScenarioError, StoreError
    from ackclock.evaluation import evaluate
    from ackclock.foreign import include_dir
    from ackclock.hardening import harden
    from ackclock.leagues.scores import league
    from ackclock.queues.alone import queue
    from ackclock.responses.response import response
    from ackclock.results import RunResult, run
    from ackclock.running.cluster import dask_executor
    from ackclock.running.executor import Executor
    from ackclock.scenario import Scenario
    from ackclock.studies.results import StudyResult, query, study
    from ackclock.synchronous.model import model
    from ackclock.tuning import tune

#: The module of each public name. It is imported at the first use, so that commands start fast.
_HOME = {
    "Ack": "ackclock._core",
    "AckclockError": "ackclock.errors",
    "ArgumentError": "ackclock.errors",
    "Congestion": "ackclock._core",
    "CongestionControl": "ackclock._core",
    "Event": "ackclock._core",
    "Executor": "ackclock.running.executor",
    "Finding": "ackclock.contract",
    "Loss": "ackclock._core",
    "Recovery": "ackclock._core",
    "Sent": "ackclock._core",
    "RunError": "ackclock.errors",
    "ScenarioError": "ackclock.errors",
    "StoreError": "ackclock.errors",
    "RunResult": "ackclock.results",
    "Scenario": "ackclock.scenario",
    "StudyResult": "ackclock.studies.results",
    "__version__": "ackclock._core",
    "attack": "ackclock.attacks",
    "check_cc": "ackclock.contract",
    "coexist": "ackclock.coexistence.matrix",
    "dask_executor": "ackclock.running.cluster",
    "evaluate": "ackclock.evaluation",
    "harden": "ackclock.hardening",
    "include_dir": "ackclock.foreign",
    "league": "ackclock.leagues.scores",
    "model": "ackclock.synchronous.model",
    "query": "ackclock.studies.results",
    "queue": "ackclock.queues.alone",
    "response": "ackclock.responses.response",
    "run": "ackclock.results",
    "study": "ackclock.studies.results",
    "tune": "ackclock.tuning",
}

__all__ = [
    "Ack",
    "AckclockError",
    "ArgumentError",
    "Congestion",
    "CongestionControl",
    "Event",
    "Executor",
    "Finding",
    "Loss",
    "Recovery",
    "RunError",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "Sent",
    "StoreError",
    "StudyResult",
    "__version__",
    "attack",
    "check_cc",
    "coexist",
    "dask_executor",
    "evaluate",
    "harden",
    "include_dir",
    "league",
    "model",
    "query",
    "queue",
    "response",
    "run",
    "study",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ackclock' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME[name]), "VERSION" if name == "__version__" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
