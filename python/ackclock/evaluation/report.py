"""The report: one page with everything in it, made from a scoreboard and the first runs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2

from ackclock import _core
from ackclock.errors import StoreError
from ackclock.evaluation import Evaluation
from ackclock.evaluation.charts import charts_of
from ackclock.evaluation.scoreboard import figure, scoreboard_json
from ackclock.evaluation.verdict import verdict, worst_result
from ackclock.scenario import Scenario
from ackclock.store import write_whole


def write_report(evaluation: Evaluation, folder: Path, *, command: str) -> Path:
    """Write `report.html` and `scoreboard.json` into a folder, and return the path of the page."""
    board = evaluation.board
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ackclock.evaluation"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    cards = [_card(evaluation, index) for index in range(len(board.results))]
    page = environment.get_template("report.html.jinja").render(
        board=board,
        cards=cards,
        verdict=verdict(board),
        worst=worst_result(board),
        figure=figure,
        command=command,
        build=_core.BUILD,
        replicates=max(len(score.values) for result in board.results for score in result.scores[0]),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    path = folder / "report.html"
    try:
        write_whole(
            folder / "scoreboard.json", (json.dumps(scoreboard_json(board), indent=2) + "\n").encode()
        )
        write_whole(path, page.encode())
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}; the runs are kept") from None
    return path


def _card(evaluation: Evaluation, index: int) -> dict[str, Any]:
    """Return what the page shows of one environment."""
    result, row = evaluation.board.results[index], evaluation.first[index]
    parameters = json.loads(row[0][0].scenario_json)
    warmup_s = Scenario.from_dict(parameters).describe()["warmup_s"]
    charts = charts_of([outcome for _, outcome in row], warmup_s)
    return {
        "result": result,
        "parameters": json.dumps(parameters, indent=2),
        "contenders": [
            {"label": contender.label, "charts": drawn, "scores": scores}
            for contender, drawn, scores in zip(
                evaluation.board.contenders, charts, result.scores, strict=True
            )
        ],
    }
