"""The report of an attack, and its data in the same folder."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from ackclock.attacks import Attack
from ackclock.attacks.explanation import Explanation, Sensitivity
from ackclock.attacks.keeping import scenario_of, scenario_text
from ackclock.attacks.present import attack_json, effort, failure_of, of_backend, sentence
from ackclock.evaluation.scoreboard import interval_text
from ackclock.files.writing import keeping_runs, write_whole
from ackclock.page import render
from ackclock.page.lines import Axes, Line, lines
from ackclock.page.notebook import picture

REPORT, DATA = "report.html", "attack.json"
_TEMPLATES = Path(__file__).parent / "templates"


def write_page(attack: Attack, folder: Path, *, command: str) -> Path:
    """Write `report.html`, `attack.json` and the scenario of each find, and return the path of the page."""
    path = folder / REPORT
    rows = []
    files = {}
    for number, explanation in enumerate(attack.explanations, 1):
        find = explanation.find
        tree = scenario_of(find, attack)
        name = f"find-{number}.toml"
        files[name] = scenario_text(find, tree)
        rows.append(
            {
                "find": find,
                "explanation": explanation,
                "failure": failure_of(find),
                "there": of_backend(attack, find),
                "picture": _picture(attack, explanation),
                "curves": [_curve(each) for each in explanation.sensitivity],
                "scenario": files[name],
                "command": shlex.join(["ackclock", "run", str(folder / name)]),
            }
        )
    text = render(
        _TEMPLATES / "attack.html.jinja",
        attack=attack,
        sentence=sentence(attack),
        effort=effort(attack),
        rows=rows,
        interval_text=interval_text,
        command=command,
    )
    document = json.dumps(attack_json(attack), indent=2) + "\n"
    with keeping_runs(path):
        for name, content in files.items():
            write_whole(folder / name, content.encode())
        write_whole(folder / DATA, document.encode())
        write_whole(path, text.encode())
    return path


def _picture(attack: Attack, explanation: Explanation) -> str:
    """Draw both algorithms over time. Empty if a run fails."""
    if explanation.drawing is None:
        return ""
    label = attack.candidate.label
    caption = f"{label} and {explanation.find.checked.best} in the same network."
    if explanation.moment_s is not None:
        caption += f" The dashed line marks the time from which {label} falls furthest behind."
    return picture(explanation.drawing.svg().decode(), caption)


def _curve(each: Sensitivity) -> str:
    """Draw the regret over a setting."""
    setting = each.setting
    label = f"{setting.name}, {setting.unit}" if setting.unit else setting.name
    axes = Axes(label, "regret, %", logarithmic=setting.axis.is_log)
    drawing = lines([Line("regret", each.values, each.regrets)], axes, f"regret over {setting.name}")
    return picture(drawing, f"Regret over {setting.name}. The find has {setting.text(each.value)}.")
