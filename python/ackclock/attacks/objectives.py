"""Objectives of an attack: the cost of a run, and the regret against the best reference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.attacks.families import UNDER_TEST, Tree
from ackclock.errors import ArgumentValueError
from ackclock.evaluation.score import metrics_of, values_of
from ackclock.evaluation.suite import Environment, Watch
from ackclock.text.suggest import hint

#: The largest regret, in percent. Only the completion time can exceed it.
MOST = 1000.0
#: The metrics of the score, with the value that is 100 %.
_SCORE = {"efficiency": 100.0, "loss_rate": 100.0, "delay_score": 100.0, "jain_index": 1.0, "watch": 1.0}


@dataclass(frozen=True)
class Objective:
    """The metric by which an algorithm is to be worse than others."""

    name: str
    title: str
    #: The metric of a suite, or none for the score.
    metric: str | None
    #: The value that is 100 %.
    whole: float = 100.0
    #: Whether regret is relative to the best cost.
    is_relative: bool = False

    def cost(self, costs: Mapping[str, float]) -> float:
        """Return the cost of a run in percent, from the cost of each metric. Less is better."""
        if self.metric is not None:
            return 100 * costs[self.metric] / self.whole
        parts = [100 * costs[name] / whole for name, whole in _SCORE.items() if name in costs]
        return math.fsum(parts) / len(parts)

    def regret(self, cost: float, references: Sequence[float]) -> float:
        """Return how much worse a cost is than the best of the references, in percent."""
        best = min(references)
        found = 100 * (cost / best - 1) if self.is_relative and best > 0 else cost - best
        return min(found, MOST)


OBJECTIVES: tuple[Objective, ...] = (
    Objective("score", "mean of the metrics of the score", None),
    Objective("utilisation", "goodput over capacity", "efficiency"),
    Objective("delay", "base RTT over RTT", "delay_score"),
    Objective("loss", "lost packets", "loss_rate"),
    Objective("fairness", "Jain's index", "jain_index", whole=1.0),
    Objective("share", "fair-share ratio of the CUBIC flows", "watch", whole=1.0),
    Objective("completion-time", "mean completion time of answers", "watch", whole=1.0, is_relative=True),
)
NAMES = tuple(objective.name for objective in OBJECTIVES)


def objective_of(name: str) -> Objective:
    """Return an objective by name. Raises `ArgumentValueError`."""
    for objective in OBJECTIVES:
        if objective.name == name:
            return objective
    raise ArgumentValueError("objective", f"no objective is called {name!r}; {hint(name, NAMES)}")


def environment_of(tree: Tree, *, id: str = "network", title: str = "", question: str = "") -> Environment:
    """Return the environment of a scenario, as a suite has it, without a file."""
    groups = {flow["name"]: flow for flow in tree["flows"]}
    kinds = {name: flow.get("traffic", {"kind": "bulk"})["kind"] for name, flow in groups.items()}
    watch = None
    if "competitor" in groups:
        watch = Watch("share", "competitor", "share of the CUBIC flows", "reach-one")
    elif kinds["test"] == "web":
        watch = Watch("completion-time", "test", "completion time", "lower", "s")
    has_datagrams = any("cc" not in flow for flow in groups.values())
    return Environment(
        id=id,
        title=title or id,
        question=question,
        path=Path(f"{id}.toml"),
        sets=(),
        fairness="test-late" in groups,
        watch=watch,
        scored=tuple(name for name in UNDER_TEST if name in groups) if has_datagrams else (),
    )


def costs_of(environment: Environment, document: str) -> dict[str, float]:
    """Return the cost of each metric of a run."""
    values = values_of(environment, document)
    pairs = zip(metrics_of(environment), values, strict=True)
    return {metric.name: metric.cost(value) for metric, value in pairs}
