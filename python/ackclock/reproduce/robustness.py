"""C and D of controls over environments, and the correlation of their order with a printed one.

C and D are defined for a grid with the axes `environment` and `control`. Its other axes are settings.
`docs/learn/how-algorithms-are-compared.md` contains the formulas, after Reddy et al.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

from ackclock.evaluation.regret import Regret, RegretBaseline, Scale, regrets
from ackclock.reproduce.grids import CONTROL, ENVIRONMENT, Values, members
from ackclock.reproduce.measures import Part, measure
from ackclock.reproduce.metrics import METRICS
from ackclock.reproduce.paper_keys import WHICH
from ackclock.reproduce.runs import Runs
from ackclock.statistics.bootstrap import reflected_estimate
from ackclock.statistics.estimates import Estimate, kendall_tau_b, spearman

#: Metrics for which higher values are better. For all others, lower values are better.
_HIGHER = {
    "goodput_fraction",
    "goodput_capped_fraction",
    "goodput_of_delivered_fraction",
    "test_jain_percent",
}

_CORRELATIONS: dict[str, Callable[[Sequence[float], Sequence[float]], float]] = {
    "tau-b": kendall_tau_b,
    "spearman": spearman,
}
_REDUCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "least": min,
    "greatest": max,
}


@dataclass(frozen=True)
class Figure:
    """A figure with its interval, and its values over resampled replicates."""

    estimate: Estimate
    #: One value per resample. All figures resample the same replicates.
    drawn: Sequence[float]

    @classmethod
    def resampled(cls, point: float, drawn: Sequence[float], count: int) -> Self:
        """Return a figure of `count` replicates with the interval of its resamples."""
        return cls(reflected_estimate(point, drawn, count), drawn)


#: The regret of a control over the environments, by the names of `paper_keys.WHICH`.
_TAKEN: dict[str, Callable[[Regret], Figure]] = {
    "d_sum": lambda regret: Figure(regret.total, regret.drawn_total),
    "d_mean": lambda regret: Figure.resampled(
        regret.mean,
        [value / len(regret.by_environment) for value in regret.drawn_total],
        regret.total.count,
    ),
    "c_max": lambda regret: Figure(regret.worst_case, regret.drawn_worst_case),
}


def regrets_of(
    runs: Runs, metric: str, at: Values, grids: Sequence[str | None] = (None,)
) -> Mapping[str, Regret]:
    """Return the regret of each control of the grids, relative to the best of all.

    `at` selects cells. Axes that it omits are averaged, except environment and control. Raises `ValueError`
    for an empty selection.
    """
    key = (metric, tuple(sorted(at.items())), tuple(grids))
    if key not in runs.regrets:
        runs.regrets[key] = _regrets(runs, metric, at, grids)
    return runs.regrets[key]


def _regrets(runs: Runs, metric: str, at: Values, grids: Sequence[str | None]) -> dict[str, Regret]:
    function, sign = METRICS[metric], -1.0 if metric in _HIGHER else 1.0
    costs: dict[str, dict[str, list[float]]] = {}
    for grid in grids:
        for cell in runs.select(at, grid):
            row = costs.setdefault(cell.values[ENVIRONMENT], {})
            row[cell.values[CONTROL]] = [sign * function(run) for run in cell.runs]
    controls = list(next(iter(costs.values())))
    table = RegretBaseline(f"the best of {len(controls)} controls", False, tuple(controls))
    ordered = {name: [row[control] for control in controls] for name, row in costs.items()}
    return dict(zip(controls, regrets(ordered, Scale(metric, metric, 3), table), strict=True))


def figures_at(
    runs: Runs, which: str, metric: str, at: Values, grids: Sequence[str | None] = (None,)
) -> Iterator[tuple[str, Figure]]:
    """Yield controls and their figures for every combination of values that `at` lists.

    `which` is `d_sum`, `d_mean` or `c_max`. Raises `ValueError` for an empty selection.
    """
    settings = {name: members(wanted) for name, wanted in at.items() if name != CONTROL}
    wanted = members(at[CONTROL]) if CONTROL in at else None
    for chosen in itertools.product(*settings.values()):
        found = regrets_of(runs, metric, dict(zip(settings, chosen, strict=True)), grids)
        for control, regret in found.items():
            if wanted is None or control in wanted:
                yield control, _TAKEN[which](regret)


def combine(figures: Sequence[Figure], reduce: Callable[[Sequence[float]], float]) -> Figure:
    """Return one figure made from several, resample by resample."""
    # Few replicates yield few distinct resamples.
    once = cache(reduce)
    drawn = [once(values) for values in zip(*(figure.drawn for figure in figures), strict=True)]
    point = reduce([figure.estimate.mean for figure in figures])
    return Figure.resampled(point, drawn, figures[0].estimate.count)


@measure("robustness", which=WHICH, reduce=_REDUCTIONS)
def _robustness(
    runs: Runs,
    *,
    which: str,
    metric: str,
    at: Values,
    reduce: str = "mean",
    grids: Sequence[str | None] = (None,),
) -> list[Part]:
    """C or D, as the mean, the least or the greatest over the controls and settings at `at`."""
    figures = [figure for _, figure in figures_at(runs, which, metric, at, grids)]
    return [Part("", combine(figures, _REDUCTIONS[reduce]).estimate)]


@measure("robustness-lead", which=WHICH)
def _lead(
    runs: Runs,
    *,
    which: str,
    metric: str,
    control: str | Sequence[str],
    at: Values,
    among: Sequence[str] = (),
    every: bool = False,
    grids: Sequence[str | None] = (None,),
) -> list[Part]:
    """Distance of a control, or of the best of several, below the best of the others.

    Each control counts with its worst setting of `at`. The distance is positive for the best control. `among`
    restricts the others. With `every`, each of several controls must lead, not only the best.
    """
    worst: dict[str, list[Figure]] = {}
    for name, figure in figures_at(runs, which, metric, at, grids):
        worst.setdefault(name, []).append(figure)
    mine = [combine(worst.pop(name), max) for name in members(control)]
    others = [combine(figures, max) for name, figures in worst.items() if not among or name in among]
    lead = combine(
        [combine(others, min), combine(mine, max if every else min)], lambda pair: pair[0] - pair[1]
    )
    return [Part("", lead.estimate)]


@measure("robustness-steps", which=WHICH)
def _steps(
    runs: Runs,
    *,
    which: str,
    metric: str,
    groups: Mapping[str, Sequence[str]],
    at: Values,
    grids: Sequence[str | None] = (None,),
) -> list[Part]:
    """Rise of the mean of C or D from one group of controls to the next."""
    means = {
        name: combine(
            [figure for _, figure in figures_at(runs, which, metric, {**at, CONTROL: controls}, grids)],
            _REDUCTIONS["mean"],
        )
        for name, controls in groups.items()
    }
    return [
        Part(
            f"{before} to {after}",
            combine([means[after], means[before]], lambda pair: pair[0] - pair[1]).estimate,
        )
        for before, after in itertools.pairwise(means)
    ]


@measure("rank-correlation", which=WHICH, statistic=_CORRELATIONS)
def _rank_correlation(
    runs: Runs,
    *,
    which: str,
    metric: str,
    table: str,
    column: str,
    at: Values,
    statistic: str = "tau-b",
    grids: Sequence[str | None] = (None,),
) -> list[Part]:
    """Correlation of the order of the controls by C or D with a printed table, from -1 to 1."""
    correlation = _CORRELATIONS[statistic]
    printed_table = runs.paper.printed[table]
    rows = [
        (figure, printed_table.find(column, {**at, CONTROL: control}))
        for control, figure in figures_at(runs, which, metric, at, grids)
    ]
    known = [(figure, printed) for figure, printed in rows if printed is not None]
    printed = [number for _, number in known]
    return [
        _within_one(combine([figure for figure, _ in known], lambda measured: correlation(measured, printed)))
    ]


@measure("rank-agreement", statistic=_CORRELATIONS)
def _rank_agreement(
    runs: Runs,
    *,
    metric: str,
    at: Values,
    statistic: str = "tau-b",
    grids: Sequence[str | None] = (None,),
) -> list[Part]:
    """Correlation of the order of the controls by C with the order by D, from -1 to 1."""
    by_c = [figure for _, figure in figures_at(runs, "c_max", metric, at, grids)]
    by_d = [figure for _, figure in figures_at(runs, "d_sum", metric, at, grids)]
    correlation, count = _CORRELATIONS[statistic], len(by_c)
    return [_within_one(combine(by_c + by_d, lambda both: correlation(both[:count], both[count:])))]


def _within_one(figure: Figure) -> Part:
    """Return a correlation as a part, its interval cut at -1 and 1."""
    value = figure.estimate
    if value.low is None or value.high is None:
        return Part("", value)
    return Part("", Estimate(value.mean, max(-1.0, value.low), min(1.0, value.high), value.count))
