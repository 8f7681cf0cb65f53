"""The verdict as a block of short lines: score, utilisation, loss, queueing delay and competing flows."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock.evaluation import Evaluation
from ackclock.evaluation.overview import BETTER, WORSE, Overview, overview
from ackclock.evaluation.ranking import Entry
from ackclock.evaluation.score import COMMON, Metric
from ackclock.evaluation.verdict import SILENT, worst_result
from ackclock.statistics.estimates import compared

#: The labels of the metrics in the block.
_LABELS = {"efficiency": "utilisation", "loss_rate": "loss", "queue_delay": "queueing delay"}
#: The sign before a metric, by judgement.
_SIGNS = {"better": "+", "worse": "-", "": "="}
#: The words for a competing flow's share of its fair share; `fair` needs none.
_BANDS = {
    "starved": "starves",
    "maybe-starved": "possibly starves",
    "harmed": "harms",
    "maybe-harmed": "possibly harms",
}
_MARGIN = 17


def verdict_lines(evaluation: Evaluation) -> list[str]:
    """Return the verdict in four to six lines; one line where every candidate failed."""
    best = evaluation.best
    if best is None:
        return ["VERDICT  every candidate failed."]
    found = overview(evaluation)
    reference = found.entries[found.reference]
    differs = SILENT not in evaluation.verdict
    lines = [_by_score(evaluation, found, best, reference) if differs else _no_difference(best, reference)]
    if evaluation.invalid:
        lines.insert(0, f"NOT VALID: {evaluation.invalid} of {evaluation.runs} runs missed their times.")
    if differs and best.candidate.resolved != reference.candidate.resolved:
        lines += [
            line
            for metric in COMMON
            if metric.name in _LABELS and (line := _by_metric(metric, best, reference))
        ]
    if line := _coexistence(evaluation):
        lines.append(line)
    if (worst := worst_result(evaluation.board)) is not None:
        result, score = worst
        at = result.metrics.index(score.metric)
        theirs = result.scores[evaluation.board.reference][at]
        lines.append(
            f"  Biggest problem: {score.metric.label} {score.metric.text(score.value.mean)} against "
            f"{theirs.metric.text(theirs.value.mean)} in “{result.environment.title}”."
        )
    elif worst_ids := worst_environments(evaluation, 1):
        titles = {each.environment.id: each.environment.title for each in evaluation.board.results}
        lines.append(f"  Worst environment by score: “{titles[worst_ids[0]]}”.")
    return lines


def worst_environments(evaluation: Evaluation, most: int) -> list[str]:
    """Return the ids of the environments that add most to the score of the best candidate."""
    best = evaluation.best
    if best is None:
        return [result.environment.id for result in evaluation.board.results][:most]
    parts = {name: sum(values) / len(values) for name, values in best.parts.items() if values}
    return sorted(parts, key=lambda name: -parts[name])[:most]


def _by_score(evaluation: Evaluation, found: Overview, best: Entry, reference: Entry) -> str:
    name, other = best.candidate.label, reference.candidate.label
    if best.candidate.resolved == reference.candidate.resolved:
        return f"VERDICT  {name} is the reference itself."
    if best.replicates == 1 and not any(
        row[found.labels.index(name)].difference for row in found.maps[0].cells
    ):
        return f"VERDICT  {name} is not comparable with {other}: one replicate cannot show significance."
    score, at = found.maps[0], found.labels.index(name)
    better, worse, total = score.count(at, BETTER), score.count(at, WORSE), len(score.cells)
    first, second = ("worse", "better") if worse > better else ("better", "worse")
    counts = {"better": better, "worse": worse}
    return (
        f"VERDICT  {name} is {first} than {other} in {counts[first]} of {total} environments and "
        f"{second} in {counts[second]} (by score, {_replicates(best)})."
    )


def _no_difference(best: Entry, reference: Entry) -> str:
    return (
        f"VERDICT  {best.candidate.label} {SILENT} from {reference.candidate.label} "
        f"({_replicates(best)}, after Holm's correction)."
    )


def _replicates(entry: Entry) -> str:
    return f"{entry.replicates} replicate{'s' * (entry.replicates > 1)}"


def _by_metric(metric: Metric, best: Entry, reference: Entry) -> str:
    """Compare the mean over the environments that both have, paired by replicate."""
    ours, theirs = (_means(metric, entry, best, reference) for entry in (best, reference))
    if not ours or not theirs:
        return ""
    difference = compared(
        [metric.cost(value) for value in ours], [metric.cost(value) for value in theirs], exact=False
    )
    sign = _SIGNS["" if difference is None else difference.judgement]
    mean, other = (sum(values) / len(values) for values in (ours, theirs))
    unit = f" {metric.unit}" if metric.unit else ""
    return f"  {sign} {_LABELS[metric.name]:<{_MARGIN}}{mean:.3g}{unit} vs {other:.3g}{unit}"


def _means(metric: Metric, entry: Entry, best: Entry, reference: Entry) -> list[float]:
    rows: list[Sequence[float]] = [
        values[metric.name]
        for environment, values in entry.values.items()
        if metric.name in values
        and all(metric.name in each.values.get(environment, {}) for each in (best, reference))
    ]
    # An environment without randomness has one replicate, which stands for all.
    count = max(map(len, rows), default=0)
    whole = [row if len(row) == count else [row[0]] * count for row in rows if row]
    return [sum(values) / len(whole) for values in zip(*whole, strict=True)]


def _coexistence(evaluation: Evaluation) -> str:
    met = [(rival.worst, rival.candidate.label) for rival in evaluation.rivals if rival.worst is not None]
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
    fair = f"{', '.join(label for _, label in met)} keep a fair share"
    return f"  {sign} {'coexistence':<{_MARGIN}}{'; '.join(parts) or fair}"
