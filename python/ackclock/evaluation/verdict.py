"""One sentence in plain words, from the scores alone."""

from __future__ import annotations

from ackclock.evaluation.score import Result, Score, Scoreboard


def verdict(board: Scoreboard) -> str:
    """Say how the first candidate compares with the reference, and where it does worst."""
    name = board.candidates[0].label
    reference = board.candidates[board.reference].label
    if board.reference == 0:
        return f"{name} is the reference itself: its scores stand for themselves."
    if all(score.cost_difference is None for result in board.results for score in result.scores[0]):
        return f"One replicate cannot show how {name} differs from {reference}; use --replicates 2 or more."
    total = len(board.results)
    gains = _count(board, "efficiency", "better")
    losses = _count(board, "efficiency", "worse")
    parts = [
        f"Against {reference}, {name} uses the link better in {gains} of {total} environments "
        f"and worse in {losses}"
    ]
    if (ratio := board.mean_ratio("loss_rate", board.reference)) is not None:
        parts.append(f"has {ratio:.3g} times the loss rate (geometric mean)")
    fairer, less_fair = _count(board, "jain_index", "better"), _count(board, "jain_index", "worse")
    parts.append(f"is fairer in {fairer} and less fair in {less_fair}")
    sentence = ", ".join(parts[:-1]) + ", and " + parts[-1]
    worst = worst_result(board)
    if worst is None:
        return f"{sentence}; in no environment is it clearly worse."
    result, score = worst
    theirs = result.scores[board.reference][result.metrics.index(score.metric)]
    metric = score.metric
    return (
        f"{sentence}; its worst is “{result.environment.title}”: {metric.label} "
        f"{metric.text(score.value.mean)} where {reference} has {metric.text(theirs.value.mean)}."
    )


def worst_result(board: Scoreboard) -> tuple[Result, Score] | None:
    """Return the environment and metric in which the first candidate is most clearly worse, or nothing.

    Worseness is a share: of the capacity, of a fair share, of Jain's index; loss and delay have no natural
    whole and do not compete here.
    """
    whole = {"efficiency": 100.0, "jain_index": 1.0}
    worse = []
    for result in board.results:
        for score in result.scores[0]:
            size = whole.get(
                score.metric.name, 1.0 if score.metric.better in ("near-one", "reach-one") else None
            )
            if size is not None and score.judgement == "worse" and score.cost_difference is not None:
                worse.append((score.cost_difference.mean / size, result, score))
    if not worse:
        return None
    _, result, score = max(worse, key=lambda each: each[0])
    return result, score


def _count(board: Scoreboard, metric: str, judgement: str) -> int:
    return sum(
        score.judgement == judgement
        for result in board.results
        for score in result.scores[0]
        if score.metric.name == metric
    )
