"""Words, tables and JSON of tuning against an adversary."""

from __future__ import annotations

from typing import Any

from ackclock.attacks.finds import worst_of
from ackclock.attacks.present import attack_json
from ackclock.evaluation.regret import Regret
from ackclock.evaluation.scoreboard import interval_text
from ackclock.hardening import Comparison, Hardening, Turn
from ackclock.text.table import Column, Table
from ackclock.tuning.present import conclusion, regret_json, tuning_json


def sentence(hardening: Hardening) -> str:
    """Return the turns and the result in plain words."""
    count = 0 if hardening.finds is None else len(hardening.finds.environments)
    attacks = sum(turn.attack is not None for turn in hardening.turns)
    is_default = hardening.turns[-1].tuning.best.is_default
    tuned = [] if is_default else [f"The tuned parameters are {hardening.candidate.label}."]
    parts = [
        f"{attacks} attack{'s' * (attacks > 1)} added {count} find{'s' * (count != 1)}.",
        "The last one added none." if hardening.has_settled else "The last one still added finds.",
        *tuned,
        conclusion(hardening.turns[-1].tuning),
    ]
    if len(hardening.comparisons) == 1:
        parts.append(f"The last attacks found no regret of {hardening.threshold:g} % or more.")
    return " ".join([*parts, *(_change(each, is_default) for each in hardening.comparisons)])


def _change(comparison: Comparison, is_default: bool) -> str:
    default, tuned = comparison.default, comparison.tuned
    digits = default.scale.digits
    return (
        f"Over {comparison.suite.name}, the worst-case regret is {interval_text(tuned.worst_case, digits)} "
        f"({default.scale.heading})"
        + ("." if is_default else f", and {interval_text(default.worst_case, digits)} for the default.")
    )


def turns_table(hardening: Hardening) -> Table:
    """Return the parameters of each turn, their worst regret, and the finds against them."""
    axes = hardening.turns[0].tuning.space.axes
    table = Table(
        Column("turn", right=True),
        *(Column(axis.name, right=True) for axis in axes),
        Column(f"worst in {hardening.suite.name}", right=True),
        Column("worst in finds", right=True),
        Column("attack finds", right=True),
        Column("largest", right=True),
        title=f"{hardening.turns[0].tuning.space.title}, {hardening.turns[0].tuning.objective.scale.heading}",
        caption=f"attack finds: those with a regret of at least {hardening.threshold:g} % of the score",
    )
    for turn in hardening.turns:
        table.add_row(
            str(turn.number),
            *(f"{turn.tuning.best.values[axis.name]:g}" for axis in axes),
            *regrets_of(hardening, turn),
            *attack_of(turn),
        )
    return table


def regrets_of(hardening: Hardening, turn: Turn) -> tuple[str, str]:
    """Return the worst regret of a turn's parameters over the suite and over the finds so far."""
    digits = turn.tuning.objective.scale.digits
    worst = [turn.worst(hardening.suite), None if hardening.finds is None else turn.worst(hardening.finds)]
    over_suite, over_finds = ("" if each is None else f"{each:.{digits}f}" for each in worst)
    return over_suite, over_finds


def attack_of(turn: Turn) -> tuple[str, str]:
    """Return the number of finds that an attack added, and its largest confirmed regret."""
    if turn.attack is None:
        return "", ""
    worst = worst_of(turn.attack.finds)
    return str(len(turn.kept)), "" if worst is None else interval_text(worst.regret, 1)


def comparisons_table(hardening: Hardening) -> Table:
    """Return the regret of the default and of the tuned parameters, with seeds that no search used."""
    table = Table(
        "parameters",
        "over",
        Column("worst case", right=True),
        "worst in",
        Column("mean", right=True),
        title=f"{hardening.comparisons[0].default.scale.heading}, new seeds",
        caption=f"held-out: finds of attacks with another seed, families: {', '.join(hardening.held_out)}",
    )
    for comparison in hardening.comparisons:
        for label, regret in rows_of(hardening, comparison):
            digits = regret.scale.digits
            table.add_row(
                label,
                comparison.suite.name,
                interval_text(regret.worst_case, digits),
                regret.worst,
                f"{regret.mean:.{digits}f}",
            )
    return table


def rows_of(hardening: Hardening, comparison: Comparison) -> list[tuple[str, Regret]]:
    """Return the default and the tuned parameters, once if they are the same."""
    rows = [("default", comparison.default), (hardening.candidate.label, comparison.tuned)]
    return rows[:1] if hardening.turns[-1].tuning.best.is_default else rows


def hardening_json(hardening: Hardening) -> dict[str, Any]:
    """Return everything, for machines."""
    return {
        "schema": 1,
        "cc": hardening.candidate.resolved,
        "parameters": dict(hardening.values),
        "settled": hardening.has_settled,
        "suite": {"name": hardening.suite.name, "version": hardening.suite.version},
        "families": list(hardening.families),
        "held_out": list(hardening.held_out),
        "threshold": hardening.threshold,
        "seed": hardening.seed,
        "sentence": sentence(hardening),
        "warnings": [each.json("environments") for each in hardening.warnings],
        "turns": [
            {
                "number": turn.number,
                "parameters": dict(turn.tuning.best.values),
                "worst_in_suite": turn.worst(hardening.suite),
                "worst_in_finds": None if hardening.finds is None else turn.worst(hardening.finds),
                "kept": list(turn.kept),
                "tuning": tuning_json(turn.tuning),
                "attack": None if turn.attack is None else attack_json(turn.attack),
            }
            for turn in hardening.turns
        ],
        "last_attacks": [attack_json(each) for each in hardening.last_attacks],
        "comparisons": [
            {
                "suite": each.suite.name,
                "environments": [environment.id for environment in each.suite.environments],
                "default": regret_json(each.default),
                "tuned": regret_json(each.tuned),
            }
            for each in hardening.comparisons
        ],
    }
