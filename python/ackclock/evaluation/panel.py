"""The stored scores of a suite's panel, which do not depend on the candidates."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.errors import InputError
from ackclock.evaluation.regret import RegretBaseline
from ackclock.evaluation.score import metrics_of
from ackclock.evaluation.suite import Suite
from ackclock.files.declaration import ListOf, MapOf, Number, Place, Table, Text, Whole
from ackclock.files.documents import read_json

if TYPE_CHECKING:
    from ackclock.evaluation.score import Scoreboard

#: The smallest number of replicates of stored scores. Their sampling error affects every comparison.
PANEL_REPLICATES = 40
#: The file in the folder of the suite.
FILE = "panel.json"
_SCHEMA = 2
#: The parts of the file that are read.
_PANEL = Table(
    "stored scores",
    {
        "schema": Whole(),
        "suite": Text(),
        "version": Whole(),
        "panel_version": Whole(),
        "algorithms": ListOf(Text(), 1),
        "environments": MapOf(
            Table(
                "stored scores",
                {
                    "fingerprint": Text(),
                    "metrics": MapOf(
                        Table(
                            "stored scores",
                            {
                                "best": Table(
                                    "stored scores",
                                    {"cost": Number()},
                                    is_open=True,
                                    renamed={"harm": "cost"},
                                ),
                                "costs": MapOf(ListOf(Number(), 1)),
                            },
                            is_open=True,
                            renamed={"harms": "costs"},
                        )
                    ),
                },
                is_open=True,
            )
        ),
    },
    is_open=True,
)


@dataclass(frozen=True)
class Panel:
    """The scores of the panel's algorithms, stored by `ackclock panel`."""

    document: dict[str, Any]

    @classmethod
    def load(cls, suite: Suite) -> Panel | None:
        """Return the stored scores of a suite, if any. Raises `InputError` if they cannot be read."""
        if suite.folder is None or not (path := suite.folder / FILE).is_file():
            return None
        try:
            document = read_json(path)
            _PANEL.check(document, Place(str(path)))
            if document["schema"] != _SCHEMA:
                raise InputError(f"{path}: schema: {document['schema']} is not {_SCHEMA}")
            if document["algorithms"][0] not in _with_costs(document):
                raise InputError(
                    f"{path}: environments: a metric has no costs of {document['algorithms'][0]}"
                )
        except InputError as error:
            raise InputError(f"{error}; `ackclock panel --suite {suite.folder}` writes it again") from None
        return cls(document)

    def misfit(self, suite: Suite, sets: Sequence[str]) -> str:
        """Return why the stored scores do not apply to a suite and its changes, or an empty text."""
        stored = self.document
        if sets:
            return "the environments are changed"
        for what, here, there in (
            (
                "suite",
                f"{suite.name} version {suite.version}",
                f"{stored['suite']} version {stored['version']}",
            ),
            ("panel version", suite.panel_version, stored["panel_version"]),
            ("panel", [suite.subject.parse(cc).label for cc in suite.panel], stored["algorithms"]),
        ):
            if here != there:
                return f"the stored scores are for {what} {there}, and this run uses {here}"
        kept = {name: entry["fingerprint"] for name, entry in stored["environments"].items()}
        if kept != {environment.id: suite.fingerprint(environment) for environment in suite.environments}:
            return "the environments differ from the stored scores"
        for environment in suite.environments:
            stored_metrics = stored["environments"][environment.id]["metrics"]
            for metric in metrics_of(environment):
                if metric.name not in stored_metrics:
                    return f"the stored scores have no {metric.name}, which `ackclock panel` writes"
        return ""

    def regret_baseline(self) -> RegretBaseline:
        """Return the stored best scores and the costs of the reference, the first algorithm."""
        stored = self.document
        best: dict[str, dict[str, float]] = {}
        reference: dict[str, dict[str, list[float]]] = {}
        every = [self._costs(label) for label in stored["algorithms"]]
        for name, environment in stored["environments"].items():
            for metric, entry in environment["metrics"].items():
                best.setdefault(metric, {})[name] = entry["best"]["cost"]
                reference.setdefault(metric, {})[name] = entry["costs"][stored["algorithms"][0]]
        return RegretBaseline(
            title=f"panel version {stored['panel_version']}",
            stored=True,
            algorithms=tuple(stored["algorithms"]),
            best=best,
            worst=_core.worst_costs(every),
            best_costs=_core.costs_of_best(every),
            seed=stored.get("seed"),
            reference_costs=reference,
        )

    def _costs(self, label: str) -> dict[str, dict[str, list[float]]]:
        """Return the costs per replicate of an algorithm, by environment and metric."""
        return {
            name: {
                metric: entry["costs"][label]
                for metric, entry in environment["metrics"].items()
                if label in entry["costs"]
            }
            for name, environment in self.document["environments"].items()
        }


def choose_regret_baseline(
    suite: Suite, labels: Sequence[str], sets: Sequence[str], *, within_table: bool
) -> RegretBaseline:
    """Return the stored best scores of a suite, or the best of the table if they do not apply."""
    if within_table:
        reason = "asked for"
    elif (panel := Panel.load(suite)) is None:
        reason = f"the suite has no {FILE}"
    elif not (reason := panel.misfit(suite, sets)):
        return panel.regret_baseline()
    return RegretBaseline("the best within this table", False, tuple(labels), reason)


def _with_costs(document: dict[str, Any]) -> set[str]:
    """Return the algorithms with costs of all metrics in all environments."""
    every = set(document["algorithms"])
    for environment in document["environments"].values():
        for metric in environment["metrics"].values():
            every &= metric["costs"].keys()
    return every


def panel_document(board: Scoreboard) -> dict[str, Any]:
    """Return the stored form of a scoreboard that contains only the panel."""
    labels = [candidate.label for candidate in board.candidates]
    environments = {}
    for result in board.results:
        metrics = {}
        for index, metric in enumerate(result.metrics):
            row = [scores[index] for scores in result.scores]
            mean_cost = [sum(score.costs) / len(score.costs) for score in row]
            first = min(range(len(row)), key=mean_cost.__getitem__)
            metrics[metric.name] = {
                "best": {"cc": labels[first], "mean": row[first].value.mean, "cost": mean_cost[first]},
                "costs": {label: list(score.costs) for label, score in zip(labels, row, strict=True)},
            }
        environments[result.environment.id] = {
            "fingerprint": board.suite.fingerprint(result.environment),
            "metrics": metrics,
        }
    return {
        "schema": _SCHEMA,
        "suite": board.suite.name,
        "version": board.suite.version,
        "panel_version": board.suite.panel_version,
        "ackclock": _core.VERSION,
        "build": _core.BUILD,
        "seed": board.seed,
        "replicates": len(board.results[0].scores[0][0].values),
        "algorithms": labels,
        "parameters": {candidate.label: candidate.resolved for candidate in board.candidates},
        "environments": environments,
    }


def panel_text(document: dict[str, Any]) -> str:
    """Return the text of the file: indented, with one line per list of numbers."""
    text = json.dumps(_rounded(document), indent=1, ensure_ascii=False)
    return re.sub(r"\[\s+([^\[\]{}]+?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def _rounded(value: Any) -> Any:
    """Return a document with numbers of nine digits, more than any table shows."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


def panel_path(suite: Suite) -> Path:
    """Return the path of a suite's stored scores. Raises `InputError` for a suite without a folder."""
    if suite.folder is None:
        raise InputError(f"suite {suite.name} has no folder to store a panel in")
    return suite.folder / FILE
