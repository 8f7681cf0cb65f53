"""The report: one page with everything in it, made from a scoreboard and the first runs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import jinja2

from ackclock import _core
from ackclock.errors import StoreError
from ackclock.evaluation import Evaluation
from ackclock.evaluation.charts import charts_of
from ackclock.evaluation.scoreboard import figure, scoreboard_json
from ackclock.evaluation.verdict import verdict, worst_result
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
    cards = [
        {
            "result": result,
            "contenders": [
                {
                    "label": contender.label,
                    "charts": charts_of(outcome),
                    "parameters": json.dumps(json.loads(job.scenario_json), indent=2),
                }
                for contender, (job, outcome) in zip(board.contenders, row, strict=True)
            ],
        }
        for result, row in zip(board.results, evaluation.first, strict=True)
    ]
    page = environment.get_template("report.html.jinja").render(
        board=board,
        cards=cards,
        verdict=verdict(board),
        worst=worst_result(board),
        figure=figure,
        command=command,
        build=_core.BUILD,
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
