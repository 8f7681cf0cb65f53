"""The report of tuning against an adversary, and the reports of its turns in the same folder."""

from __future__ import annotations

import json
from pathlib import Path

from ackclock.attacks.report import write_page as write_attack
from ackclock.evaluation.scoreboard import interval_text
from ackclock.files.writing import keeping_runs, write_whole
from ackclock.hardening import Hardening
from ackclock.hardening.present import attack_of, hardening_json, regrets_of, rows_of, sentence
from ackclock.page import render
from ackclock.tuning.page import write_page as write_tuning

_TEMPLATES = Path(__file__).parent / "templates"


def write_page(hardening: Hardening, folder: Path, *, command: str) -> Path:
    """Write `report.html`, `hardening.json` and a folder for each turn, and return the path of the page."""
    path = folder / "report.html"
    rows = []
    with keeping_runs(path):
        for turn in hardening.turns:
            tuning, attack = folder / f"turn-{turn.number}-tune", folder / f"turn-{turn.number}-attack"
            tuning.mkdir(exist_ok=True)
            write_tuning(turn.tuning, tuning, command=command)
            if turn.attack is not None:
                attack.mkdir(exist_ok=True)
                write_attack(turn.attack, attack, command=command)
            rows.append(
                {
                    "turn": turn,
                    "regrets": regrets_of(hardening, turn),
                    "attack": attack_of(turn),
                    "tuning_page": f"{tuning.name}/report.html",
                    "attack_page": f"{attack.name}/report.html",
                }
            )
        text = render(
            _TEMPLATES / "hardening.html.jinja",
            hardening=hardening,
            first=hardening.turns[0].tuning,
            sentence=sentence(hardening),
            rows=rows,
            comparisons=[(each, rows_of(hardening, each)) for each in hardening.comparisons],
            interval_text=interval_text,
            command=command,
        )
        write_whole(
            folder / "hardening.json", (json.dumps(hardening_json(hardening), indent=2) + "\n").encode()
        )
        write_whole(path, text.encode())
    return path
