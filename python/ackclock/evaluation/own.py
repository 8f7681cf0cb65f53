"""The section about one candidate: its source, its worst environment, and a command that reruns it."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.scoreboard import interval_text
from ackclock.evaluation.sequence import Plot, sequence_plot
from ackclock.evaluation.suite import Environment
from ackclock.running.cells import SCENARIOS

if TYPE_CHECKING:
    from ackclock.evaluation import Evaluation

#: The formulas of a rule, in display order.
_FORMULAS = ("grow", "cut", "pacing", "state")
#: The key of the source text of a Python algorithm.
_CODE = "code"


@dataclass(frozen=True)
class Source:
    """The definition of an algorithm: its text, if it has one, and its parameters."""

    text: str
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class Own:
    """The section about the best candidate."""

    candidate: Candidate
    summary: str
    source: Source
    #: The score with its interval.
    score_text: str
    #: The environment with the largest contribution to the score, and this contribution with its share.
    worst: Environment
    largest: str
    #: The command that reruns the first replicate of this environment, with samples.
    command: str
    #: The time-sequence plot of a connection of that run.
    plot: Plot | None


def own_page(evaluation: Evaluation, folder: Path) -> Own | None:
    """Return the section about the best candidate, or None if all failed."""
    best = evaluation.best
    if best is None or best.score is None:
        return None
    board = evaluation.board
    at = [result.environment.id for result in board.results].index(best.score.worst)
    worst = board.results[at].environment
    part, whole = best.score.by_environment[worst.id], math.fsum(best.score.by_environment.values())
    share = f" of {whole:.3g} ({100 * part / whole:.0f} %)" if whole > 0 else ""
    samples = folder / f"run-{worst.id}"
    scenario = scenario_path(folder, worst.id)
    command = ["ackclock", "run", str(scenario), "--seed", str(board.seed), "--csv", str(samples)]
    return Own(
        best.candidate,
        _summary(best.candidate),
        source_of(best.candidate.resolved),
        interval_text(best.score.value, evaluation.ranking.objective.digits),
        worst,
        f"{part:.3g}{share}",
        shlex.join(command),
        sequence_plot(*evaluation.first[at][0]),
    )


def scenario_path(folder: Path, environment: str) -> Path:
    """Return the path of the best candidate's scenario in an environment."""
    return folder / SCENARIOS / f"{environment}.json"


def scenarios(evaluation: Evaluation) -> dict[str, str]:
    """Return the scenarios of the best candidate as text, by environment."""
    return {
        result.environment.id: json.dumps(json.loads(row[0][0].scenario_json), indent=2) + "\n"
        for result, row in zip(evaluation.board.results, evaluation.first, strict=True)
    }


def source_of(cc: Mapping[str, Any]) -> Source:
    """Return the text and the parameters of a resolved algorithm."""
    if cc["kind"] == "rule":
        texts = [key for key in cc if key != "kind" and isinstance(cc[key], str)]
        ordered = sorted(texts, key=lambda key: _FORMULAS.index(key) if key in _FORMULAS else 9)
        lines = [line for key in ordered for line in _formula_lines(key, cc[key])]
        return Source("\n".join(lines), _shown(cc, {"kind", *texts}))
    return Source(str(cc.get(_CODE, "")).rstrip(), _shown(cc, {"kind", _CODE}))


def _formula_lines(key: str, text: str) -> list[str]:
    """Return a formula, or the assignments of a state or an event, one per line."""
    if key in ("grow", "cut", "pacing"):
        return [f"{key} = {text.strip()}"]
    return [f"{key}  {part}" for part in map(str.strip, text.split(";")) if part]


def _shown(cc: Mapping[str, Any], left_out: set[str]) -> dict[str, str]:
    return {
        key: f"{value:g}" if isinstance(value, float) else str(value)
        for key, value in cc.items()
        if key not in left_out
    }


def _summary(candidate: Candidate) -> str:
    """Return the summary of a built-in algorithm, or an empty text."""
    known: dict[str, str] = {entry["name"]: entry["summary"] for entry in json.loads(_core.list_json("cc"))}
    return known.get(candidate.resolved["kind"], "")
