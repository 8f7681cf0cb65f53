"""Presents rankings and competitors as tables with notes."""

from __future__ import annotations

import json
import math
from importlib import resources
from typing import Any

from ackclock._core import share_text
from ackclock.evaluation import Evaluation
from ackclock.evaluation.ranking import BEST, DROPPED, FAILED, SHARES, TIED, WORSE, Entry, Ranking
from ackclock.evaluation.rivals import FAIR, STARVED, Competitor
from ackclock.evaluation.scoreboard import interval_text
from ackclock.text.table import Column, Table

_SCHEMA_FILE = "evaluation.schema.json"
#: The words for a standing in the table.
_STANDINGS = {
    BEST: "best",
    TIED: "not significantly worse than the best",
    WORSE: "worse than the best",
    FAILED: "failed",
}

#: The words for the fair-share ratio of a competitor in the table.
_BANDS = {
    "starved": "starved",
    "maybe-starved": "possibly starved",
    "harmed": "harmed",
    "maybe-harmed": "possibly harmed",
    "fair": "fair",
}
#: The words for a significant or insignificant difference of scores.
_JUDGEMENTS = {"better": "better", "worse": "worse", "": "not significant"}


def ranking_table(ranking: Ranking) -> Table:
    """Return the candidates by score, followed by the panel."""
    digits = ranking.objective.digits
    table = Table(
        Column("rank", right=True),
        "cc",
        Column(ranking.objective.heading, right=True),
        Column("replicates", right=True),
        "standing",
        title="ranking",
        caption="\n".join(ranking_notes(ranking)),
    )
    for entry in ranking.entries:
        table.add_row(
            "" if entry.rank is None else str(entry.rank),
            entry.candidate.label,
            score_text(entry, digits),
            str(entry.replicates),
            standing_text(entry),
        )
    if ranking.rest_of_panel:
        table.add_section("panel")
    for entry in ranking.rest_of_panel:
        table.add_row("", entry.candidate.label, score_text(entry, digits), str(entry.replicates), "")
    return table


def rivals_table(evaluation: Evaluation) -> Table:
    """Return the comparison of the best candidate with each competitor."""
    table = Table(
        "competitor",
        Column("score difference", right=True),
        "",
        Column("delay ratio", right=True),
        Column("fair-share ratio", right=True),
        "",
        "worst in",
        title="competitors",
        caption="\n".join(rivals_notes(evaluation)),
    )
    digits = evaluation.ranking.objective.digits
    for rival in evaluation.competitors:
        table.add_row(
            rival.candidate.label,
            difference_text(rival, digits),
            judgement_text(rival),
            "" if rival.delay_ratio is None else f"{rival.delay_ratio:.2f} x",
            "" if rival.worst is None else share_text(rival.worst.theirs),
            left_text(rival),
            "" if rival.worst is None else rival.worst.environment.title,
        )
    return table


def rivals_notes(evaluation: Evaluation) -> list[str]:
    """Return the definitions of the columns about competitors."""
    notes = [
        f"score difference: the candidate's {evaluation.ranking.objective.heading} minus the competitor's, "
        "paired by replicate. A negative difference is better.",
        "delay ratio: the candidate's queueing delay over the competitor's, as a geometric mean.",
    ]
    if any(rival.beside for rival in evaluation.competitors):
        notes.append(
            "fair-share ratio: the competitor's goodput over its fair share, in its worst environment. It is "
            f"fair from {FAIR:.2f}, starved below {STARVED:g}, and harmed between them (95 % confidence)."
        )
        notes.append(
            "harm: the lost part of the goodput that the competitor achieves alone. "
            "Equal numbers of flows with fair shares have a harm of 0.5."
        )
    return notes


def difference_text(rival: Competitor, digits: int) -> str:
    """Return the difference of scores with its interval, or an empty text without a difference."""
    return "" if rival.difference is None else interval_text(rival.difference, digits)


def judgement_text(rival: Competitor) -> str:
    """Return the judgement of the score difference."""
    return "" if rival.difference is None else _JUDGEMENTS[rival.judgement]


def left_text(rival: Competitor) -> str:
    """Return the band of the competitor's fair-share ratio."""
    return _BANDS[rival.worst.band] if rival.worst else ""


def score_text(entry: Entry, digits: int) -> str:
    """Return the score with its interval, or an empty text if a run failed."""
    return "" if entry.score is None else interval_text(entry.score.value, digits)


def standing_text(entry: Entry) -> str:
    """Return the standing of a candidate."""
    if entry.standing == DROPPED:
        return f"worse, dropped after round {entry.round}"
    return _STANDINGS[entry.standing]


def ranking_notes(ranking: Ranking) -> list[str]:
    """Return the definitions of the columns, the dropped candidates of each round, and the failures."""
    of = (
        "mean regret over environments and over efficiency, segments lost, Jain's index and watched metric"
        if ranking.objective.metric == SHARES
        else "mean regret over environments"
    )
    notes = [
        f"score: {of}, with its 95 % interval. Less is better.",
        f"worse: significantly worse than the best (family-wise error {100 * ranking.alpha:g} %).",
    ]
    by_index = {entry.index: entry for entry in ranking.entries}
    if ranking.budget is not None:
        for number, each in enumerate(ranking.rounds, 1):
            dropped = [by_index[index] for index in each.dropped]
            told = f"round {number}: {each.replicates} replicates, {each.candidates} candidates"
            notes.append(f"{told}, dropped: {_dropped_text(dropped, ranking.objective.digits)}")
        work = math.fsum(each.work for each in ranking.rounds)
        notes.append(f"budget {ranking.budget}: used {work:.3g}, {ranking.ended}")
    notes += [
        f"{entry.candidate.label} failed in {entry.failure.environment}, replicate "
        f"{entry.failure.replicate}: {entry.failure.message}"
        for entry in ranking.entries
        if entry.failure is not None
    ]
    return notes


def _dropped_text(dropped: list[Entry], digits: int) -> str:
    parts = [
        f"{entry.candidate.label} ({entry.difference.mean:.{digits}f} behind {entry.difference.leader}, "
        f"at least {entry.difference.low:.{digits}f})"
        for entry in dropped
        if entry.difference is not None and entry.difference.low is not None
    ]
    return ", ".join(parts) or "none"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of an evaluation's document."""
    text = resources.files("ackclock.evaluation").joinpath(_SCHEMA_FILE).read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
