"""The scoreboard as tables, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ackclock import _core
from ackclock.evaluation.score import COMMON, Score, Scoreboard
from ackclock.evaluation.standing import Standing
from ackclock.evaluation.verdict import verdict
from ackclock.statistics.estimates import CONFIDENCE, Estimate
from ackclock.text.table import Column, Table

#: How a judgement stands behind a figure.
_MARKS = {"better": "+", "worse": "-", "": " "}


def scoreboard_table(board: Scoreboard) -> Table:
    """Return one block per environment, one row per contender: mean and half of the interval."""
    replicates = max(len(score.values) for result in board.results for row in result.scores for score in row)
    reference = board.contenders[board.reference].label
    table = Table(
        "cc",
        *(Column(metric.heading, right=True) for metric in COMMON),
        title=(
            f"suite {board.suite.name}, version {board.suite.version}: "
            f"{replicates} replicate{'s' if replicates > 1 else ''}, seed {board.seed}"
        ),
        caption=(
            f"mean ± half of the {100 * CONFIDENCE:.0f} % interval; + better, - worse than {reference}: "
            "the interval of the paired difference leaves out zero"
        ),
    )
    for result in board.results:
        table.add_section(result.environment.title)
        for contender, row in zip(board.contenders, result.scores, strict=True):
            cells = []
            for metric in COMMON:
                found = next((score for score in row if score.metric.name == metric.name), None)
                cells.append("" if found is None else f"{figure(found)}{_MARKS[found.judgement]}")
            table.add_row(contender.label, *cells)
    return table


def tables(board: Scoreboard) -> list[Table]:
    """Return the tables of a comparison; that of what environments are about where one is about anything."""
    watched = any(result.environment.watch is not None for result in board.results)
    return [scoreboard_table(board), *([watch_table(board)] if watched else []), standings_table(board)]


def watch_table(board: Scoreboard) -> Table:
    """Return what single environments are about, one row each, one column per contender."""
    table = Table(
        "what an environment is about",
        *(Column(contender.label, right=True) for contender in board.contenders),
    )
    for result in board.results:
        if (watch := result.environment.watch) is not None:
            unit = f" ({watch.unit})" if watch.unit else ""
            cells = [f"{figure(row[-1])}{_MARKS[row[-1].judgement]}" for row in result.scores]
            table.add_row(f"{result.environment.title}: {watch.label}{unit}", *cells)
    return table


def standings_table(board: Scoreboard) -> Table:
    """Return C and D: one block per metric, one row per contender."""
    table = Table(
        "cc",
        Column("C", right=True),
        "worst in",
        Column("D", right=True),
        title="behind the best, at the worst (C) and in sum (D)",
        caption=standings_caption(board),
    )
    for row in zip(*board.standings, strict=True):
        scale, null = row[0].scale, row[0].null
        luck = "" if null is None else f"; luck {null.c_high:.{scale.digits}f}"
        table.add_section(f"{scale.heading}{luck}")
        for contender, standing in zip(board.contenders, row, strict=True):
            table.add_row(
                contender.label,
                interval_text(standing.c, scale.digits),
                standing.worst,
                interval_text(standing.d_sum, scale.digits),
            )
    return table


def standings_caption(board: Scoreboard) -> str:
    """Return how to read C and D, in plain words."""
    assert board.yardstick is not None, "a board with standings has a yardstick"
    yardstick = board.yardstick
    nulls = [standing.null for standing in board.standings[0] if standing.null is not None]
    parts = [
        "C: how far behind the best score, at its worst; D: the sum of that; below 0: ahead",
        f"best: {yardstick.title} ({', '.join(yardstick.algorithms)})",
    ]
    if nulls:
        parts.append(
            f"luck: what C stays below in 95 % of cases if {nulls[0].algorithms} algorithms are equal"
        )
    if reason := missing_scores(board):
        parts.append(f"no stored scores: {reason}")
    return "\n".join(parts)


def missing_scores(board: Scoreboard) -> str:
    """Return why stored scores could not be used; nothing where they are, or where nobody wanted them."""
    reason = board.yardstick.reason if board.yardstick is not None else ""
    return "" if reason == "asked for" else reason


def interval_text(value: Estimate, digits: int) -> str:
    """Return `mean [low, high]`, or the mean alone where there is no interval."""
    mean, *ends = (
        "" if number is None else f"{round(number, digits) + 0.0:.{digits}f}"
        for number in (value.mean, value.low, value.high)
    )
    return f"{mean} [{', '.join(ends)}]" if all(ends) else mean


def figure(score: Score) -> str:
    """Return mean and half-width with the digits of the metric."""
    return estimate_text(score.value, score.metric.digits)


def estimate_text(value: Estimate, digits: int) -> str:
    """Return `mean ±half`, or the mean alone where there is no interval."""
    if value.half_width is None:
        return f"{value.mean:.{digits}f}"
    return f"{value.mean:.{digits}f} ±{value.half_width:.{digits}f}"


def scoreboard_json(board: Scoreboard) -> dict[str, Any]:
    """Return everything on the scoreboard, replicate by replicate."""
    return {
        "build": _core.BUILD,
        "suite": {"name": board.suite.name, "version": board.suite.version},
        "seed": board.seed,
        "sets": list(board.sets),
        "confidence": CONFIDENCE,
        "contenders": [{"label": other.label, "cc": other.resolved} for other in board.contenders],
        "reference": board.contenders[board.reference].label,
        "verdict": verdict(board),
        "yardstick": _yardstick_json(board),
        "standings": [
            {
                "contender": contender.label,
                "metrics": {standing.scale.name: _standing_json(standing) for standing in row},
            }
            for contender, row in zip(board.contenders, board.standings, strict=True)
        ],
        "environments": [
            {
                "id": result.environment.id,
                "title": result.environment.title,
                "question": result.environment.question,
                "scores": [
                    {
                        "contender": contender.label,
                        "metrics": {score.metric.name: _score_json(score) for score in row},
                    }
                    for contender, row in zip(board.contenders, result.scores, strict=True)
                ],
            }
            for result in board.results
        ],
    }


def _yardstick_json(board: Scoreboard) -> dict[str, Any] | None:
    if (yardstick := board.yardstick) is None:
        return None
    return {
        "title": yardstick.title,
        "stored": yardstick.stored,
        "algorithms": list(yardstick.algorithms),
        "reason": yardstick.reason,
    }


def _standing_json(standing: Standing) -> dict[str, Any]:
    return {
        "heading": standing.scale.heading,
        "c": _estimate_json(standing.c),
        "d_sum": _estimate_json(standing.d_sum),
        "d_mean": standing.d_mean,
        "worst": standing.worst,
        "distances": dict(standing.distances),
        "null": None if standing.null is None else asdict(standing.null),
    }


def _estimate_json(value: Estimate) -> dict[str, float | None]:
    return {"mean": value.mean, "low": value.low, "high": value.high}


def _score_json(score: Score) -> dict[str, Any]:
    return {
        "heading": score.metric.heading,
        **_estimate_json(score.value),
        "harm_difference": None if score.harm is None else _estimate_json(score.harm),
        "values": list(score.values),
        "judgement": score.judgement,
    }
