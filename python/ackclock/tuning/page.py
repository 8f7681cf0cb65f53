"""The page of a search, and its data in the same folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ackclock.evaluation.scoreboard import interval_text
from ackclock.files.writing import keeping_runs, write_whole
from ackclock.metrics.frames import frame_of
from ackclock.page import render
from ackclock.page.scatter import Dots, scatter
from ackclock.statistics.estimates import CONFIDENCE
from ackclock.text.cells import csv_text
from ackclock.tuning import Trial, Tuning
from ackclock.tuning.present import remark, sentence, trial_rows, tuning_json

_TEMPLATES = Path(__file__).parent / "templates"


def write_page(tuning: Tuning, folder: Path, *, command: str) -> Path:
    """Write `report.html`, `tuning.json` and `trials.csv`, and return the path of the page."""
    text = render(
        _TEMPLATES / "tuning.html.jinja",
        style=(_TEMPLATES / "tuning.css").read_text(encoding="utf-8"),
        tuning=tuning,
        sentence=sentence(tuning),
        tradeoff=_tradeoff(tuning),
        parameters=[(axis.name, _parameter(tuning, axis.name)) for axis in tuning.space.axes],
        remark=remark,
        interval_text=interval_text,
        confidence=f"{100 * CONFIDENCE:.0f} %",
        command=command,
    )
    path = folder / "report.html"
    document = json.dumps(tuning_json(tuning), indent=2) + "\n"
    with keeping_runs(path):
        write_whole(folder / "tuning.json", document.encode())
        write_whole(folder / "trials.csv", csv_text(frame_of(trial_rows(tuning))).encode())
        write_whole(path, text.encode())
    return path


def _tradeoff(tuning: Tuning) -> str:
    """Total regret over worst-case regret: every trial, the Pareto front, the default."""
    heading = tuning.objective.scale.heading
    kinds = [
        _dots("tried", tuning.trials),
        _dots("front", tuning.front, joined=True),
        _dots("default", tuning.trials[:1]),
    ]
    return scatter(kinds, f"worst case, {heading}", f"total, {heading}")


def _dots(kind: str, trials: Sequence[Trial], *, joined: bool = False) -> Dots:
    return Dots(
        kind,
        [trial.regret.worst_case.mean for trial in trials],
        [trial.regret.total.mean for trial in trials],
        [_title(trial) for trial in trials],
        joined,
    )


def _parameter(tuning: Tuning, name: str) -> str:
    """Worst-case regret over a parameter."""

    def dots(kind: str, trials: Sequence[Trial]) -> Dots:
        values = [trial.values[name] for trial in trials]
        return Dots(
            kind,
            values,
            [trial.regret.worst_case.mean for trial in trials],
            [_title(trial) for trial in trials],
        )

    kinds = [dots("tried", tuning.trials), dots("front", tuning.front), dots("default", tuning.trials[:1])]
    return scatter(kinds, name, f"worst case, {tuning.objective.scale.heading}")


def _title(trial: Trial) -> str:
    values: dict[str, Any] = trial.values
    regret = trial.regret
    return (
        f"{', '.join(f'{name} {value:g}' for name, value in values.items())}: "
        f"worst case {regret.worst_case.mean:.4g} in {regret.worst}, total {regret.total.mean:.4g}"
    )
