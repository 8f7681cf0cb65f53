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
from ackclock.evaluation.judging import suite_data
from ackclock.evaluation.panel import choose_regret_baseline
from ackclock.evaluation.subject import ALGORITHM
from ackclock.evaluation.suite import Suite
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
    # The page runs algorithms.
    loaded = [suite for suite in map(Suite.load, names) if suite.subject.name == ALGORITHM]
    suites = [document(suite) for suite in loaded]
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
    judged = suite_data(suite, panel, baseline)
    return {
        **judged,
        "build": _core.BUILD,
        "title": suite.title,
        "replicates": suite.replicates,
        "quick": QUICK_REPLICATES,
        "test": suite.subject.groups,
        "panel": [{**told, "text": each.text} for told, each in zip(judged["panel"], panel, strict=True)],
        "probe": json.loads(probe_scenario([]).resolved_json),
        "environments": [
            {
                **told,
                "groups": [group for group in found.traffic if group in suite.subject.groups],
                # Keys of `transport` change all flows, as in a file.
                "scenario": settable(json.loads(found.base.resolved_json)),
            }
            for told, found in zip(judged["environments"], suite.environments, strict=True)
        ],
    }


def write(path: Path, value: Any) -> None:
    """Write JSON without spaces."""
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
