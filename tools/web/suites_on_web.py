"""Writes suites as data for the browser: `suites_on_web.py FOLDER [SUITE ...]`.

Without a SUITE it writes all suites of ackclock and their list. A SUITE is a name, or a folder with a
`suite.toml`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.evaluation import QUICK_REPLICATES
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.panel import choose_regret_baseline
from ackclock.evaluation.score import specification
from ackclock.evaluation.suite import Environment, Suite
from ackclock.running.settable import settable
from ackclock.scenario import probe_scenario


def main(arguments: Sequence[str]) -> None:
    """Write a file for each suite, and the list of those that come with ackclock."""
    folder, *wanted = map(Path, arguments)
    folder.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        suite = document(Suite.load(str(name)))
        write(folder / f"{suite['name']}.json", suite)
    if wanted:
        return
    names = sorted(
        path.parent.name for path in Path(str(resources.files("ackclock.suites"))).glob("*/suite.toml")
    )
    suites = [document(Suite.load(name)) for name in names]
    for suite in suites:
        write(folder / f"{suite['name']}.json", suite)
    write(folder / "index.json", listed(suites))


def listed(suites: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entry of each suite in the list."""
    kept = ("name", "version", "title", "replicates", "quick", "panel")
    return [{key: suite[key] for key in kept} for suite in suites]


def document(suite: Suite) -> dict[str, Any]:
    """Return all that an evaluation needs of a suite."""
    panel = [Candidate.parse(text) for text in suite.panel]
    baseline = choose_regret_baseline(suite, [each.label for each in panel], (), within_table=False)
    return {
        "build": _core.BUILD,
        "name": suite.name,
        "version": suite.version,
        "title": suite.title,
        "replicates": suite.replicates,
        "quick": QUICK_REPLICATES,
        "test": suite.test_groups,
        "panel": [{**algorithm(each), "text": each.text} for each in panel],
        "probe": json.loads(probe_scenario([]).resolved_json),
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
        "environments": [environment(each, suite) for each in suite.environments],
    }


def environment(found: Environment, suite: Suite) -> dict[str, Any]:
    """Return an environment with its scenario, and the groups that get the algorithm."""
    met = found.neighbours(suite.test_groups)
    neighbours = met and {"rival": algorithm(met.rival), "of_rival": met.of_rival, "flows": met.flows}
    return {
        **json.loads(specification(found)),
        "question": found.question,
        "neighbours": neighbours,
        "groups": [group for group in found.traffic if group in suite.test_groups],
        # Keys of `transport` change all flows, as in a file.
        "scenario": settable(json.loads(found.base.resolved_json)),
    }


def algorithm(candidate: Candidate) -> dict[str, Any]:
    """Return the identity of an algorithm."""
    return {"label": candidate.label, "cc": candidate.resolved}


def write(path: Path, value: Any) -> None:
    """Write JSON without spaces."""
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
