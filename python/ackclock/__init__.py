"""ackclock: a congestion-control laboratory.

>>> import ackclock
>>> result = ackclock.run("examples/two-flows.toml")
>>> sorted(result.summary)[:2]
['delivery_ratio', 'drop_rate']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock._core import VERSION as __version__

if TYPE_CHECKING:
    from ackclock.errors import AckclockError, ScenarioError, StoreError
    from ackclock.evaluation import evaluate
    from ackclock.results import RunResult, run
    from ackclock.scenario import Scenario
    from ackclock.synchronous import model
    from ackclock.tuning import tune

#: Where each public name lives; imported when it is first used, so that a command starts fast.
_HOME = {
    "AckclockError": "ackclock.errors",
    "ScenarioError": "ackclock.errors",
    "StoreError": "ackclock.errors",
    "RunResult": "ackclock.results",
    "Scenario": "ackclock.scenario",
    "evaluate": "ackclock.evaluation",
    "model": "ackclock.synchronous",
    "run": "ackclock.results",
    "tune": "ackclock.tuning",
}

__all__ = [
    "AckclockError",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "StoreError",
    "__version__",
    "evaluate",
    "model",
    "run",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ackclock' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
