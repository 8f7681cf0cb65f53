"""Presents the scoreboard as tables and as JSON."""

from __future__ import annotations

from collections.abc import Collection

from ackclock.evaluation.score import COMMON, Score, Scoreboard
from ackclock.statistics.estimates import CONFIDENCE, Estimate
from ackclock.text.table import Column, Table

#: The sign after a figure, by judgement. The empty one keeps columns aligned.
_MARKS = {"better": " ▲", "worse": " ▼", "": "  "}
#: The number of environments in the command's tables without `--full`.
WORST = 5


def scoreboard_table(board: Scoreboard, only: Collection[str] | None = None) -> Table:
    """Return one block per environment and one row per candidate, with means and half intervals.

    `only`: the ids of the environments, by default all.
    """
    results = [result for result in board.results if only is None or result.environment.id in only]
    replicates = max(len(score.values) for result in board.results for row in result.scores for score in row)
    table = Table(
        "cc",
        *(Column(metric.heading, right=True) for metric in COMMON),
        title=(
            f"suite {board.suite.name}, version {board.suite.version}: "
            f"{replicates} replicate{'s' if replicates > 1 else ''}, seed {board.seed}"
        ),
        caption=f"mean ± half of the {100 * CONFIDENCE:.0f} % interval",
    )
    for result in results:
        table.add_section(result.heading)
        for candidate, row in zip(board.candidates, result.scores, strict=True):
            cells = []
            for metric in COMMON:
                found = next((score for score in row if score.metric.name == metric.name), None)
                cells.append("" if found is None else f"{figure(found)}{_MARKS[found.judgement]}")
            table.add_row(candidate.label, *cells)
    return table


def legend(board: Scoreboard) -> str:
    """Return the meaning of the signs after figures."""
    return (
        f"▲ better, ▼ worse than {board.candidates[board.reference].label} "
        f"({100 * CONFIDENCE:.0f} % interval of the paired difference)"
    )


def tables(board: Scoreboard, only: Collection[str] | None = None) -> list[Table]:
    """Return the tables of a comparison. The table of watched metrics exists only if one is watched.

    `only`: the ids of some environments. Their scoreboard is then the only table.
    """
    if only is not None and len(only) < len(board.results):
        return [scoreboard_table(board, only)]
    watched = any(result.environment.watch is not None for result in board.results)
    return [scoreboard_table(board), *([watch_table(board)] if watched else []), regrets_table(board)]


def watch_table(board: Scoreboard) -> Table:
    """Return the watched metrics, with a row per environment and a column per candidate."""
    table = Table(
        "watched metric",
        *(Column(candidate.label, right=True) for candidate in board.candidates),
    )
    for result in board.results:
        if (watch := result.environment.watch) is not None:
            unit = f" ({watch.unit})" if watch.unit else ""
            cells = [f"{figure(row[-1])}{_MARKS[row[-1].judgement]}" for row in result.scores]
            table.add_row(f"{result.heading}: {watch.label}{unit}", *cells)
    return table


def regrets_table(board: Scoreboard) -> Table:
    """Return the regret, with a block per metric and a row per candidate."""
    table = Table(
        "cc",
        Column("worst case", right=True),
        "worst in",
        Column("total", right=True),
        title="regret",
        caption=regrets_caption(board),
    )
    for row in zip(*board.regrets, strict=True):
        scale, noise_floor = row[0].scale, row[0].noise_floor
        floor = (
            "" if noise_floor is None else f" (noise floor {noise_floor.worst_case_high:.{scale.digits}f})"
        )
        table.add_section(f"{scale.heading}{floor}")
        for candidate, regret in zip(board.candidates, row, strict=True):
            table.add_row(
                candidate.label,
                interval_text(regret.worst_case, scale.digits),
                regret.worst,
                interval_text(regret.total, scale.digits),
            )
    return table


def regrets_caption(board: Scoreboard) -> str:
    """Return the definitions of regret and its columns."""
    assert board.regret_baseline is not None, "a board with regrets has a baseline"
    baseline = board.regret_baseline
    noise_floors = [regret.noise_floor for regret in board.regrets[0] if regret.noise_floor is not None]
    parts = [
        "regret: distance to the best score, in the worst environment and in total. Below 0 beats the best.",
        "watched metric: 0.5 means 50 % worse than the best. For fair shares it is the absolute difference.",
        f"best: {baseline.title} ({', '.join(baseline.algorithms)})",
    ]
    if noise_floors:
        count = noise_floors[0].algorithms
        parts.append(f"noise floor: {count} equal algorithms have a smaller worst case in 95 % of cases")
    if reason := missing_scores(board):
        parts.append(f"no stored scores: {reason}")
    return "\n".join(parts)


def missing_scores(board: Scoreboard) -> str:
    """Return why stored scores could not be used, or an empty text."""
    reason = board.regret_baseline.reason if board.regret_baseline is not None else ""
    return "" if reason == "asked for" else reason


def interval_text(value: Estimate, digits: int) -> str:
    """Return `mean [low, high]`, or the mean alone without an interval."""
    mean, *ends = (
        "" if number is None else f"{round(number, digits) + 0.0:.{digits}f}"
        for number in (value.mean, value.low, value.high)
    )
    return f"{mean} [{', '.join(ends)}]" if all(ends) else mean


def figure(score: Score) -> str:
    """Return mean and half-width, with the digits of the metric."""
    return estimate_text(score.value, score.metric.digits)


def estimate_text(value: Estimate, digits: int) -> str:
    """Return `mean ±half`, or the mean alone without an interval."""
    if value.half_width is None:
        return f"{value.mean:.{digits}f}"
    return f"{value.mean:.{digits}f} ±{value.half_width:.{digits}f}"
