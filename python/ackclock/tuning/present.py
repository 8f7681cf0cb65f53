"""The result of a search as tables, as JSON, and as rows of a CSV file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ackclock import _core
from ackclock.evaluation.ranking import SHARES
from ackclock.evaluation.regret import Regret, Scale
from ackclock.evaluation.score import COMMON, DELAY_SCORE
from ackclock.evaluation.scoreboard import interval_text
from ackclock.statistics.estimates import CONFIDENCE, Estimate, estimate_json
from ackclock.text.table import Column, Table
from ackclock.tuning import Finalist, Trial, Tuning
from ackclock.tuning.space import Axis

#: The unit of regret at the end of a column's name, by metric.
_UNITS = {
    SHARES: "percent",
    **{
        metric.name: {"%": "points", "": "index"}.get(metric.unit, metric.unit)
        for metric in (*COMMON, DELAY_SCORE)
    },
}


def sentence(tuning: Tuning) -> str:
    """Return the searched parameters and the result in plain words."""
    return f"{searched(tuning)} {conclusion(tuning)}"


def searched(tuning: Tuning) -> str:
    """Return the size of the search: settings, the part of each range, runs, and the part of the budget."""
    budget = tuning.budget
    count = tuning.generations
    ending = "converged" if tuning.converged else "did not converge"
    return (
        f"Searched {len(tuning.trials)} settings of {tuning.space.title}, including the default, over "
        f"suite {tuning.objective.suite.name}: "
        f"{'; '.join(_reach(tuning, axis) for axis in tuning.space.axes)}. "
        f"The search used {tuning.runs + tuning.check_runs} runs of a budget of "
        f"{budget.runs or budget.text}, {tuning.check_runs} of them for the check. "
        f"It {ending} in {count} generation{'s' * (count > 1)}."
    )


def conclusion(tuning: Tuning) -> str:
    """Return the conclusion that the size of the search allows."""
    best, default = tuning.best, tuning.default
    scale, kind = tuning.objective.scale, tuning.space.title
    too_small = (
        ""
        if tuning.is_telling
        else " The search is too small to exclude a better setting. That needs "
        f"{tuning.telling_runs} runs, or a search that converges."
    )
    if best.is_default:
        regret = f"Its worst-case regret is {_worst_case(best)} ({scale.heading})."
        if too_small:
            return f"The best setting is the default of {kind}. {regret}{too_small}"
        return (
            f"With new seeds, none of the {len(tuning.finalists) - 1} best settings is better than the "
            f"default of {kind}. {regret}"
        )
    doubt = _doubt(best.regret.worst_case, default.regret.worst_case)
    return (
        f"The worst-case regret of {best.candidate.label} is {_worst_case(best)} ({scale.heading}), "
        f"and {_worst_case(default)} for the default{doubt}.{too_small}"
    )


def _reach(tuning: Tuning, axis: Axis) -> str:
    """Return the part of a range that was tried."""
    values = [trial.values[axis.name] for trial in tuning.trials]
    return f"{axis.name} {min(values):g} to {max(values):g} of {axis.low:g} to {axis.high:g}"


def _doubt(one: Estimate, other: Estimate) -> str:
    if one.high is None or other.low is None:
        return "; one replicate has no interval"
    return "" if one.high < other.low else "; their intervals overlap"


def finalists_table(tuning: Tuning) -> Table:
    """Return the best parameters and the default, with their regret."""
    scale = tuning.objective.scale
    table = Table(
        *(Column(axis.name, right=True) for axis in tuning.space.axes),
        Column("worst case", right=True),
        "worst in",
        Column("total", right=True),
        "",
        title=(
            f"{tuning.space.title}, {scale.heading}: suite {tuning.objective.suite.name}, "
            f"version {tuning.objective.suite.version}, {tuning.check_replicates} replicates, new seeds"
        ),
        caption=_caption(tuning),
    )
    for finalist in tuning.finalists:
        regret = finalist.regret
        table.add_row(
            *(f"{finalist.values[axis.name]:g}" for axis in tuning.space.axes),
            interval_text(regret.worst_case, scale.digits),
            regret.worst,
            interval_text(regret.total, scale.digits),
            remark(tuning, finalist),
        )
    return table


def others_table(tuning: Tuning) -> Table:
    """Return the worst-case regret in the other metrics, of the best and of the default."""
    shown = [tuning.best] if tuning.best.is_default else [tuning.best, tuning.default]
    headings = ("default" if finalist.is_default else finalist.candidate.label for finalist in shown)
    table = Table("worst-case regret", *(Column(heading, right=True) for heading in headings))
    for row in zip(*(finalist.regrets[1:] for finalist in shown), strict=True):
        table.add_row(
            row[0].scale.heading, *(interval_text(each.worst_case, each.scale.digits) for each in row)
        )
    return table


def remark(tuning: Tuning, finalist: Finalist) -> str:
    """Return the role of a finalist: the best, the default, or neither."""
    words = [word for word, so in (("best", finalist is tuning.best), ("default", finalist.is_default)) if so]
    return ", ".join(words)


def tuning_json(tuning: Tuning) -> dict[str, Any]:
    """Return everything, for machines."""
    suite = tuning.objective.suite
    return {
        "searched": {
            "settings": len(tuning.trials),
            "runs": tuning.runs,
            "budget": tuning.budget.text,
            "generations": tuning.generations,
            "converged": tuning.converged,
            "is_telling": tuning.is_telling,
            "ranges": {
                axis.name: {
                    "low": axis.low,
                    "high": axis.high,
                    "least_tried": min(trial.values[axis.name] for trial in tuning.trials),
                    "greatest_tried": max(trial.values[axis.name] for trial in tuning.trials),
                }
                for axis in tuning.space.axes
            },
        },
        "build": _core.BUILD,
        "suite": {"name": suite.name, "version": suite.version},
        "regret_baseline": tuning.objective.regret_baseline.title,
        "metric": tuning.objective.scale.name,
        "heading": tuning.objective.scale.heading,
        "cc": tuning.space.kind,
        "fixed": dict(tuning.space.fixed),
        "over": [asdict(axis) for axis in tuning.space.axes],
        "constraints": "reddy" if tuning.space.constrained else None,
        "relations": [relation.text for relation in tuning.space.relations],
        "budget": tuning.budget.text,
        "seed": tuning.seed,
        "replicates": tuning.replicates,
        "check_replicates": tuning.check_replicates,
        "confidence": CONFIDENCE,
        "runs": tuning.runs,
        "converged": tuning.converged,
        "sentence": sentence(tuning),
        "warnings": [each.json("environments") for each in tuning.warnings],
        "best": dict(tuning.best.values),
        "finalists": [
            {
                "cc": finalist.candidate.resolved,
                "label": finalist.candidate.label,
                "is_default": finalist.is_default,
                "metrics": {each.scale.name: regret_json(each) for each in finalist.regrets},
                "constraints": [asdict(constraint) for constraint in finalist.constraints],
            }
            for finalist in tuning.finalists
        ],
        "front": [trial.number for trial in tuning.front],
        "trials": [
            {"number": trial.number, "values": trial.values, **regret_json(trial.regret)}
            for trial in tuning.trials
        ],
    }


def trial_rows(tuning: Tuning) -> Iterator[dict[str, Any]]:
    """Give a row for each trial of the search, in its order."""
    front = {trial.number for trial in tuning.front}
    for trial in tuning.trials:
        yield {
            "trial": trial.number,
            **trial.values,
            **_columns(tuning.objective.scale, trial),
            "worst_environment": trial.regret.worst,
            "on_front": trial.number in front,
            "seed": tuning.seed,
            "replicates": tuning.replicates,
        }


def _columns(scale: Scale, trial: Trial) -> Mapping[str, float | None]:
    unit = _UNITS.get(scale.name, "share")
    columns = {}
    for name, value in (("worst_case", trial.regret.worst_case), ("total", trial.regret.total)):
        for end, number in (("", value.mean), ("_low", value.low), ("_high", value.high)):
            columns[f"{name}_{scale.name}{end}_{unit}"] = number
    return columns


def regret_json(regret: Regret) -> dict[str, Any]:
    """Return a regret for machines."""
    return {
        "worst_case": estimate_json(regret.worst_case),
        "total": estimate_json(regret.total),
        "worst": regret.worst,
        "by_environment": dict(regret.by_environment),
    }


def _caption(tuning: Tuning) -> str:
    baseline = tuning.objective.regret_baseline
    parts = [
        "regret: distance to the best score, in the worst environment and in total. Below 0 beats the best.",
        "best: the least total of the settings within the interval of the least worst case",
        f"best score: {baseline.title} ({', '.join(baseline.algorithms)})",
    ]
    if tuning.space.constrained:
        parts.append("constraints of Reddy et al.: AI <= 3, AD <= 3, MI > 0.1, MD < 0.9")
    return "\n".join(parts)


def _worst_case(finalist: Finalist) -> str:
    return interval_text(finalist.regret.worst_case, finalist.regret.scale.digits)
