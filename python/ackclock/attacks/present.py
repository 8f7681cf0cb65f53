"""Words, tables and JSON of an attack."""

from __future__ import annotations

from typing import Any

from ackclock.attacks import Attack
from ackclock.attacks.explanation import Explanation
from ackclock.attacks.finds import Find, described
from ackclock.evaluation.scoreboard import interval_text
from ackclock.running.backend import title as backend_title
from ackclock.statistics.estimates import estimate_json
from ackclock.text.table import Column, Table


def sentence(attack: Attack) -> str:
    """Return the result in one or two sentences."""
    references = ", ".join(each.label for each in attack.references)
    if not attack.confirmed:
        tried = f"{len(attack.trials)} networks and {attack.runs} runs"
        return (
            f"No network was found in which {attack.candidate.label} is clearly worse than {references}. "
            f"The attack tried {tried}."
        )
    worst = attack.confirmed[0]
    if worst.found.failure:
        return f"{attack.candidate.label} fails with {worst.shrunk.network.text}: {failure_of(worst)}"
    regret = f"{interval_text(worst.regret, 1)} %"
    return (
        f"{attack.candidate.label} is {regret} worse than {worst.checked.best} with "
        f"{worst.shrunk.network.text}: {described(worst.shrunk.behaviour)}."
    )


def failure_of(find: Find) -> str:
    """Return the first line of the message of a failed run."""
    return find.found.failure.partition("\n")[0]


def finds_table(attack: Attack) -> Table:
    """Return the finds, the largest regret first."""
    table = Table(Column("regret %", right=True), "network", "behaviour", "best")
    for find in attack.finds:
        regret = "fails" if find.found.failure else interval_text(find.regret, 1)
        doubt = "" if find.is_confirmed else " (not confirmed)"
        behaviour = failure_of(find) or described(find.shrunk.behaviour)
        table.add_row(f"{regret}{doubt}", find.shrunk.network.text, behaviour, find.checked.best)
    return table


def of_backend(attack: Attack, find: Find) -> str:
    """Return the result of a find in the other backend, or an empty text."""
    if attack.backend is None or find.there is None:
        return ""
    where, there = backend_title(attack.backend), find.there
    if there.failure:
        return f"{where}: {there.failure.partition(chr(10))[0]}"
    if not there.references:
        return f"{where}: runs no reference"
    answer = "confirms" if find.is_there else "does not confirm"
    return f"{where} {answer} it: {there.regret:.1f} % against {there.best} in one run"


def effort(attack: Attack) -> str:
    """Return the numbers of runs, networks and confirmed finds."""
    families = ", ".join(family.name for family in attack.families)
    refuted = len(attack.finds) - len(attack.confirmed)
    parts = [
        f"{attack.runs} runs, {len(attack.trials)} networks, families: {families}.",
        f"Fresh seeds confirm {len(attack.confirmed)} of {len(attack.finds)} finds.",
    ]
    if refuted:
        parts.append("The others were chance.")
    if attack.is_unstable:
        parts.append(
            f"{attack.candidate.label} gives different results for the same seed, so attacks differ."
        )
    return " ".join(parts)


def attack_json(attack: Attack) -> dict[str, Any]:
    """Return the attack for machines."""
    explanations = iter(attack.explanations)
    return {
        "schema": 1,
        "candidate": {"label": attack.candidate.label, "cc": attack.candidate.resolved},
        "references": [{"label": each.label, "cc": each.resolved} for each in attack.references],
        "objective": attack.objective.name,
        "families": [family.name for family in attack.families],
        "budget": attack.budget.text,
        "seed": attack.seed,
        "checks": attack.checks,
        "runs": attack.runs,
        "networks": len(attack.trials),
        "unstable": attack.is_unstable,
        "backend": attack.backend,
        "base_regret": attack.base.regret,
        "warnings": [each.json("networks") for each in attack.warnings],
        "finds": [
            _find_json(find, next(explanations) if find.is_confirmed else None) for find in attack.finds
        ],
    }


def _find_json(find: Find, explanation: Explanation | None) -> dict[str, Any]:
    behaviour = find.shrunk.behaviour
    return {
        "confirmed": find.is_confirmed,
        "regret": estimate_json(find.regret),
        "regret_found": find.found.regret,
        "regret_shrunk": find.shrunk.regret,
        "best": find.checked.best or None,
        "settings": find.shrunk.network.values,
        "duration_s": find.shrunk.network.duration_s,
        "settings_found": find.found.network.values,
        "similar": find.similar,
        "backend": None
        if find.there is None
        else {
            "confirms": find.is_there,
            "regret": None if find.there.failure or not find.there.references else find.there.regret,
            "best": find.there.best or None,
            "failure": find.there.failure or None,
        },
        "failure": find.found.failure or None,
        "behaviour": None if behaviour is None else described(behaviour),
        "moment_s": None if explanation is None else explanation.moment_s,
        "nearest": None
        if explanation is None
        else {
            "suite": explanation.nearest.suite,
            "environment": explanation.nearest.environment,
            "distance": explanation.nearest.distance,
            "differences": list(explanation.nearest.differences),
        },
        "sensitivity": []
        if explanation is None
        else [
            {"setting": each.setting.name, "values": list(each.values), "regrets": list(each.regrets)}
            for each in explanation.sensitivity
        ],
    }
