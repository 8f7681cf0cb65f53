"""The section about one candidate: its source, wins and losses, and a command that reruns it."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.score import Result, Scoreboard
from ackclock.evaluation.scoreboard import interval_text
from ackclock.evaluation.sequence import Plot, sequence_plot
from ackclock.running.cells import SCENARIOS
from ackclock.running.job import Job, Outcome

if TYPE_CHECKING:
    from ackclock.evaluation import Evaluation

#: The formulas of a rule, in display order.
_FORMULAS = ("grow", "cut", "pacing", "state")
#: The key of the source text of a Python algorithm.
_CODE = "code"


@dataclass(frozen=True)
class Comparison:
    """The metrics in which a candidate is significantly better or worse than another algorithm."""

    better: tuple[str, ...]
    worse: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A candidate in one environment."""

    result: Result
    #: The contribution of the environment to the score.
    score: float
    #: The comparison with each of the other algorithms.
    comparisons: tuple[Comparison, ...]


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
    others: tuple[Candidate, ...]
    #: One row per environment, sorted by contribution to the score.
    rows: tuple[Row, ...]
    #: The command that reruns the first replicate of the first row, with samples.
    command: str
    #: The time-sequence plot of a connection of that run.
    plot: Plot | None
    #: Whether there is a single replicate, which cannot show a difference.
    is_single: bool

    @property
    def largest(self) -> str:
        """The largest contribution to the score, with its share of the score."""
        part, whole = self.rows[0].score, math.fsum(row.score for row in self.rows)
        share = f" of {whole:.3g} ({100 * part / whole:.0f} %)" if whole > 0 else ""
        return f"{part:.3g}{share}"

    def count(self, other: int) -> tuple[int, int, int]:
        """Return the number of environments with wins, losses and mixed results, against another."""
        both = [row.comparisons[other] for row in self.rows]
        return (
            sum(bool(each.better) and not each.worse for each in both),
            sum(bool(each.worse) and not each.better for each in both),
            sum(bool(each.worse) and bool(each.better) for each in both),
        )


def own_page(evaluation: Evaluation, folder: Path) -> Own | None:
    """Return the section about the best candidate, or None if all failed."""
    best = evaluation.best
    if best is None or best.score is None:
        return None
    board = evaluation.board
    others = board.candidates[1 : 1 + len(evaluation.overview["wins"][0])]
    rows = [
        Row(
            result,
            best.score.by_environment.get(result.environment.id, 0.0),
            tuple(Comparison(_short(each["better"]), _short(each["worse"])) for each in wins),
        )
        for result, wins in zip(board.results, evaluation.overview["wins"], strict=True)
    ]
    rows.sort(key=lambda row: -row.score)
    scenario = scenario_path(folder, rows[0].result.environment.id)
    samples = folder / f"run-{rows[0].result.environment.id}"
    command = ["ackclock", "run", str(scenario), "--seed", str(board.seed), "--csv", str(samples)]
    return Own(
        best.candidate,
        _summary(best.candidate),
        source_of(best.candidate.resolved),
        interval_text(best.score.value, evaluation.ranking.objective.digits),
        others,
        tuple(rows),
        shlex.join(command),
        sequence_plot(*_first_run(evaluation, rows[0])),
        _is_single(board),
    )


def _first_run(evaluation: Evaluation, row: Row) -> tuple[Job, Outcome]:
    """Return the first replicate of the best candidate in an environment."""
    return evaluation.first[evaluation.board.results.index(row.result)][0]


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


def _short(labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(re.sub(r" of a fair share$", "", label) for label in labels)


def _is_single(board: Scoreboard) -> bool:
    return all(
        len(row[0].values) < 2 and not result.exact for result in board.results for row in result.scores
    )
