"""The verdict as a block of short lines: score, utilisation, loss, queueing delay and competing flows."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock.evaluation import Evaluation
from ackclock.evaluation.overview import CORRECTED, Overview, overview
from ackclock.evaluation.ranking import Entry
from ackclock.evaluation.score import COMMON, Metric
from ackclock.evaluation.verdict import SILENT, worst_result
from ackclock.metrics.summary import significant
from ackclock.statistics.estimates import compared

#: The labels of the metrics in the block.
_LABELS = {"efficiency": "utilisation", "loss_rate": "loss", "queue_delay": "queueing delay"}
#: The sign before a metric, by judgement.
_SIGNS = {"better": "+", "worse": "-", "": "·"}
#: The verbs for the fair-share ratio of competing flows. A fair ratio needs none.
_BANDS = {
    "starved": "starves",
    "maybe-starved": "possibly starves",
    "harmed": "harms",
    "maybe-harmed": "possibly harms",
}
_MARGIN = 17
#: The block names at most this many failed candidates, which keeps it within six lines.
_FAILURES = 2


def verdict_lines(evaluation: Evaluation) -> list[str]:
    """Return the verdict in four to six lines."""
    best = evaluation.best
    if best is None:
        return _all_failed(evaluation)
    found = overview(evaluation)
    reference = found.entries[found.reference]
    differs = SILENT not in evaluation.verdict
    marked = (
        f"NOT VALID ({evaluation.invalid} of {evaluation.runs} runs missed their times): "
        if evaluation.invalid
        else ""
    )
    said = _by_score(found, best, reference) if differs else _no_difference(best, reference)
    metrics = [_by_metric(each, best, reference, differs) for each in COMMON if each.name in _LABELS]
    lines = [f"VERDICT  {marked}{said}", *metrics, _coexistence(evaluation), _problem(evaluation)]
    return [line for line in lines if line]


def _all_failed(evaluation: Evaluation) -> list[str]:
    """Return the first failures, and the next step."""
    failed = [entry for entry in evaluation.ranking.entries if entry.failure is not None]
    titles = {each.environment.id: each.environment.title for each in evaluation.board.results}
    lines = ["VERDICT  every candidate failed."]
    for entry in failed[:_FAILURES]:
        assert entry.failure is not None, "only failures are listed"
        where = f"“{titles[entry.failure.environment]}”, replicate {entry.failure.replicate}"
        message = entry.failure.message.partition("\n")[0]
        lines.append(f"  - {entry.candidate.label} in {where}: {message}")
    if len(failed) > _FAILURES:
        lines.append(f"  - and {len(failed) - _FAILURES} more, see the report")
    panel = ", ".join(entry.candidate.label for entry in evaluation.ranking.panel)
    return [
        *lines,
        f"  The panel finished: {panel}.",
        "  Next: correct the algorithm and run the command again. It reuses finished runs.",
    ]


def worst_environments(evaluation: Evaluation, most: int) -> list[str]:
    """Return the ids of the environments that contribute most to the score of the best candidate."""
    best = evaluation.best
    if best is None:
        return [result.environment.id for result in evaluation.board.results][:most]
    parts = {name: sum(values) / len(values) for name, values in best.parts.items() if values}
    return sorted(parts, key=lambda name: -parts[name])[:most]


def _by_score(found: Overview, best: Entry, reference: Entry) -> str:
    name, other = best.candidate.label, reference.candidate.label
    if best.candidate.resolved == reference.candidate.resolved:
        return f"{name} is the reference of this comparison ({_replicates(best)})."
    if best.replicates == 1 and not any(
        row[found.labels.index(name)].difference for row in found.maps[0].cells
    ):
        return (
            f"{name} is not comparable with {other}: one replicate cannot show significance "
            "(use --replicates 2 or more)."
        )
    score, at = found.maps[0], found.labels.index(name)
    (better, worse), total = score.counts(at), len(score.cells)
    first, second = ("worse", "better") if worse > better else ("better", "worse")
    counts = {"better": better, "worse": worse}
    return (
        f"{name} is {first} than {other} in {counts[first]} of {total} environments and "
        f"{second} in {counts[second]} (by score, {_replicates(best)}, {CORRECTED})."
    )


def _no_difference(best: Entry, reference: Entry) -> str:
    return (
        f"{best.candidate.label} {SILENT} from {reference.candidate.label} "
        f"({_replicates(best)}, {CORRECTED})."
    )


def _replicates(entry: Entry) -> str:
    return f"{entry.replicates} replicate{'s' * (entry.replicates > 1)}"


def _by_metric(metric: Metric, best: Entry, reference: Entry, differs: bool) -> str:
    """Compare the means over the environments of both, paired by replicate.

    `differs`: whether the verdict contains any difference. Otherwise no metric is better or worse.
    """
    ours, theirs = (_means(metric, entry, best, reference) for entry in (best, reference))
    if not ours or not theirs:
        return ""
    mean, other = (sum(values) / len(values) for values in (ours, theirs))
    unit = f" {metric.unit}" if metric.unit else ""
    text = f"{_LABELS[metric.name]:<{_MARGIN}}{significant(mean)}{unit}"
    if best.candidate.resolved == reference.candidate.resolved:
        return f"    {text}"
    difference = compared(
        [metric.cost(value) for value in ours], [metric.cost(value) for value in theirs], exact=False
    )
    sign = _SIGNS["" if difference is None or not differs else difference.judgement]
    return f"  {sign} {text} vs {significant(other)}{unit}"


def _means(metric: Metric, entry: Entry, best: Entry, reference: Entry) -> list[float]:
    rows: list[Sequence[float]] = [
        values[metric.name]
        for environment, values in entry.values.items()
        if metric.name in values
        and all(metric.name in each.values.get(environment, {}) for each in (best, reference))
    ]
    # The single replicate of a deterministic environment counts for every replicate.
    count = max(map(len, rows), default=0)
    whole = [row if len(row) == count else [row[0]] * count for row in rows if row]
    return [sum(values) / len(whole) for values in zip(*whole, strict=True)]


def _coexistence(evaluation: Evaluation) -> str:
    met = [
        (rival.worst, rival.candidate.label) for rival in evaluation.competitors if rival.worst is not None
    ]
    if not met:
        return ""
    parts: list[str] = []
    for band, words in _BANDS.items():
        named = [f"{label} ({100 * worst.theirs.mean:.0f} %)" for worst, label in met if worst.band == band]
        if named and not parts:
            named[0] = named[0].replace(" %)", " % of its fair share)")
        if named:
            parts.append(f"{words} {', '.join(named)}")
    sign = "-" if parts else "+"
    fair = f"{', '.join(label for _, label in met)} {'keep' if len(met) > 1 else 'keeps'} a fair share"
    return f"  {sign} {'coexistence':<{_MARGIN}}{', '.join(parts) or fair}"


def _problem(evaluation: Evaluation) -> str:
    """Return the worst metric of the best candidate, or else its worst environment."""
    if (worst := worst_result(evaluation.board)) is not None:
        result, score = worst
        at = result.metrics.index(score.metric)
        theirs = result.scores[evaluation.board.reference][at]
        return (
            f"  Biggest problem: {score.metric.label} is {score.metric.text(score.value.mean)} instead of "
            f"{theirs.metric.text(theirs.value.mean)} in “{result.environment.title}”."
        )
    if worst_ids := worst_environments(evaluation, 1):
        titles = {each.environment.id: each.environment.title for each in evaluation.board.results}
        return f"  Worst environment by score: “{titles[worst_ids[0]]}”."
    return ""
