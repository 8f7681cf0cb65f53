"""What a search found, as tables, as JSON, as rows of a CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ackclock import _core
from ackclock.evaluation.scoreboard import interval_text
from ackclock.evaluation.standing import Scale, Standing
from ackclock.stats import CONFIDENCE, Estimate
from ackclock.table import Column, Table
from ackclock.tuning import Finalist, Trial, Tuning

#: What distances are measured in, as the end of a column's name.
_UNITS = {"efficiency": "points", "loss_rate": "points", "queue_delay": "ms", "jain_index": "index"}


def sentence(tuning: Tuning) -> str:
    """Say what came out, in plain words."""
    best, default = tuning.best, tuning.default
    scale = tuning.objective.scale
    tried = f"{len(tuning.trials)} settings tried over suite {tuning.objective.suite.name}"
    if best.is_default:
        return (
            f"{tried}: on luck that the search did not see none is better than the default of "
            f"{tuning.space.kind}, which falls behind the best by at most {_c(best)} ({scale.heading})."
        )
    how = "" if _is_surely_less(best.standing.c, default.standing.c) else "; their intervals overlap"
    return (
        f"{tried}: {best.contender.label} falls behind the best by at most {_c(best)} ({scale.heading}), "
        f"the default by {_c(default)}{how}."
    )


def finalists_table(tuning: Tuning) -> Table:
    """Return the best parameters and the default, with C and D."""
    scale = tuning.objective.scale
    table = Table(
        *(Column(axis.name, right=True) for axis in tuning.space.axes),
        Column("C", right=True),
        "worst in",
        Column("D", right=True),
        "",
        title=(
            f"{tuning.space.kind}, {scale.heading}: suite {tuning.objective.suite.name}, "
            f"version {tuning.objective.suite.version}, {tuning.check_replicates} replicates on new luck"
        ),
        caption=_caption(tuning),
    )
    for finalist in tuning.finalists:
        standing = finalist.standing
        table.add_row(
            *(f"{finalist.values[axis.name]:g}" for axis in tuning.space.axes),
            interval_text(standing.c, scale.digits),
            standing.worst,
            interval_text(standing.d_sum, scale.digits),
            remark(tuning, finalist),
        )
    return table


def others_table(tuning: Tuning) -> Table:
    """Return what the best costs in the other metrics: C of each, beside the default's."""
    shown = [tuning.best] if tuning.best.is_default else [tuning.best, tuning.default]
    headings = ("default" if finalist.is_default else finalist.contender.label for finalist in shown)
    table = Table("C of the other metrics", *(Column(heading, right=True) for heading in headings))
    for row in zip(*(finalist.standings[1:] for finalist in shown), strict=True):
        table.add_row(row[0].scale.heading, *(interval_text(each.c, each.scale.digits) for each in row))
    return table


def remark(tuning: Tuning, finalist: Finalist) -> str:
    """Return what a finalist is: the best, the default, or neither."""
    words = [word for word, so in (("best", finalist is tuning.best), ("default", finalist.is_default)) if so]
    return ", ".join(words)


def tuning_json(tuning: Tuning) -> dict[str, Any]:
    """Return everything, for machines."""
    suite = tuning.objective.suite
    return {
        "build": _core.BUILD,
        "suite": {"name": suite.name, "version": suite.version},
        "yardstick": tuning.objective.yardstick.title,
        "metric": tuning.objective.scale.name,
        "heading": tuning.objective.scale.heading,
        "cc": tuning.space.kind,
        "fixed": dict(tuning.space.fixed),
        "over": [asdict(axis) for axis in tuning.space.axes],
        "constraints": "reddy" if tuning.space.constrained else None,
        "budget": tuning.budget.text,
        "seed": tuning.seed,
        "replicates": tuning.replicates,
        "check_replicates": tuning.check_replicates,
        "confidence": CONFIDENCE,
        "runs": sum(trial.runs for trial in tuning.trials),
        "converged": tuning.converged,
        "sentence": sentence(tuning),
        "best": dict(tuning.best.values),
        "finalists": [
            {
                "cc": finalist.contender.resolved,
                "label": finalist.contender.label,
                "is_default": finalist.is_default,
                "metrics": {each.scale.name: _standing_json(each) for each in finalist.standings},
                "constraints": [asdict(constraint) for constraint in finalist.constraints],
            }
            for finalist in tuning.finalists
        ],
        "front": [trial.number for trial in tuning.front],
        "trials": [
            {"number": trial.number, "values": trial.values, **_standing_json(trial.standing)}
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
            "worst_environment": trial.standing.worst,
            "on_front": trial.number in front,
            "seed": tuning.seed,
            "replicates": tuning.replicates,
        }


def _columns(scale: Scale, trial: Trial) -> Mapping[str, float | None]:
    unit = _UNITS.get(scale.name, "share")
    columns = {}
    for name, value in (("c", trial.standing.c), ("d_sum", trial.standing.d_sum)):
        for end, number in (("", value.mean), ("_low", value.low), ("_high", value.high)):
            columns[f"{name}_{scale.name}{end}_{unit}"] = number
    return columns


def _standing_json(standing: Standing) -> dict[str, Any]:
    c, d_sum = (
        {"mean": value.mean, "low": value.low, "high": value.high} for value in (standing.c, standing.d_sum)
    )
    return {"c": c, "d_sum": d_sum, "worst": standing.worst, "distances": dict(standing.distances)}


def _caption(tuning: Tuning) -> str:
    yardstick = tuning.objective.yardstick
    parts = [
        "C: how far behind the best score, at its worst; D: the sum of that; below 0: ahead",
        "best: the least D of those whose C is within the interval of the least C",
        f"best score: {yardstick.title} ({', '.join(yardstick.algorithms)})",
        f"searched: {', '.join(f'{axis.name} {axis.low:g} to {axis.high:g}' for axis in tuning.space.axes)}",
    ]
    if tuning.space.constrained:
        parts.append("constraints of Reddy et al.: AI <= 3, AD <= 3, MI > 0.1, MD < 0.9")
    if tuning.converged:
        parts.append("the search converged before its budget was used up")
    return "\n".join(parts)


def _c(finalist: Finalist) -> str:
    return interval_text(finalist.standing.c, finalist.standing.scale.digits)


def _is_surely_less(one: Estimate, other: Estimate) -> bool:
    return one.high is not None and other.low is not None and one.high < other.low
