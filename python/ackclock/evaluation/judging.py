"""The suite as the core judges it. The core makes scores, ranking, verdict and document of an evaluation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.regret import RegretBaseline
from ackclock.evaluation.score import specification
from ackclock.evaluation.suite import Environment, Suite


def suite_data(
    suite: Suite, panel: Sequence[Candidate], baseline: RegretBaseline, sets: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the parts of a suite that scores need. `sets` are changes to every scenario."""
    return {
        "name": suite.name,
        "version": suite.version,
        "subject": suite.subject.name,
        "panel": [algorithm_data(each) for each in panel],
        "baseline": {
            "title": baseline.title,
            "stored": baseline.stored,
            "algorithms": baseline.algorithms,
            "reason": baseline.reason,
            "best": baseline.best,
            "worst": baseline.worst,
            "best_costs": baseline.best_costs,
            "seed": baseline.seed,
            "reference_costs": baseline.reference_costs,
        },
        "environments": [_environment_data(each, suite, sets) for each in suite.environments],
    }


def _environment_data(environment: Environment, suite: Suite, sets: Sequence[str]) -> dict[str, Any]:
    met = environment.neighbours(suite.subject, sets)
    return {
        **json.loads(specification(environment)),
        "question": environment.question,
        "neighbours": met
        and {"rival": algorithm_data(met.rival), "of_rival": met.of_rival, "flows": met.flows},
    }


def algorithm_data(candidate: Candidate) -> dict[str, Any]:
    """Return the label and the parameters of an algorithm."""
    return {"label": candidate.label, "cc": candidate.resolved}
