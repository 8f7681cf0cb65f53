"""Evaluation: an algorithm against a panel, over a suite of environments, with common random numbers."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ackclock.arguments import optional_number, texts, whole_number
from ackclock.errors import ArgumentValueError, InputError, RunError
from ackclock.evaluation.budget import Budget
from ackclock.evaluation.candidate import Candidate, distinct
from ackclock.evaluation.panel import choose_regret_baseline
from ackclock.evaluation.race import MOST, Limits, Race, Track
from ackclock.evaluation.ranking import SHARES, Entry, Ranking, require_metric
from ackclock.evaluation.regret import Regret, RegretBaseline
from ackclock.evaluation.rivals import Rival, rivals, sentences
from ackclock.evaluation.score import Scoreboard, score
from ackclock.evaluation.suite import Suite
from ackclock.evaluation.verdict import verdict
from ackclock.running.backend import faults, workers_for
from ackclock.running.executor import Executor
from ackclock.running.job import SIM, Job, Outcome
from ackclock.running.store import Store
from ackclock.running.warned import Warned, gathered
from ackclock.running.work import Study
from ackclock.scenario import Algorithm

if TYPE_CHECKING:
    from ackclock.page.plane import Spot
    from ackclock.page.plots import Plot

#: The upright axis of the plane.
_CARRIED = "share of the links carried, %"
#: What `quick` makes of a suite: fewer replicates, for a first impression.
QUICK_REPLICATES = 3
#: Candidates whose scores and charts are shown in full: the first of the ranking.
SHOWN = 3


@dataclass(frozen=True, repr=False)
class Evaluation:
    """A scoreboard and its runs.

    What a page or a notebook finds in it:

    - `board.results`: one `Result` per environment; `scores[candidate]` has a `Score` per metric, with
      `values` per replicate, `value` (an `Estimate`: `mean`, `low`, `high`, `half_width`) and
      `cost_difference`, the paired difference to the reference.
    - `regrets`: by candidate, one `Regret` per metric: `worst_case`, `total` (each an `Estimate`), `mean`,
      `worst` (the id of the worst environment), `by_environment`, `scale` (`name`, `heading`, `digits`) and
      `noise_floor`, the regret of equal algorithms (`worst_case_mean`, `worst_case_high`, `total_mean`,
      `total_high`, `algorithms`), or None.
    - `regret_baseline`: what regret is measured against: `title`, `stored`, `algorithms`, `reason`.
    - `first`: the runs of the first replicate, with samples.
    - `ranking`: all candidates by score: `ranking.entries` has an `Entry` each, with `candidate`, `rank`,
      `standing` (`best`, `tied`, `worse`, `dropped`, `failed`), `score` (`value`, an `Estimate`; `values` per
      replicate; None for what failed), `failure` and `index`, its place in the list that was given.

    - `rivals`: how the best candidate compares with each algorithm of the panel, and what share it leaves to
      those that it meets: a `Rival` each, with `candidate`, `difference` of scores, `judgement`, `starved`
      (`yes`, `maybe`, `no`), `beside` (environments with their `shares`).

    Of several candidates `board` and `regrets` have the first few of the ranking, the best first. An
    evaluation can be pickled.
    """

    board: Scoreboard
    #: Jobs and outcomes of `[environment][candidate]`, the first replicate each.
    first: tuple[tuple[tuple[Job, Outcome], ...], ...]
    ranking: Ranking
    #: The runs behind the scoreboard, and those among them that are emulations that did not keep their times.
    runs: int = 0
    invalid: int = 0
    #: What scenarios say of themselves, each distinct warning once with the ids of its environments.
    warnings: tuple[Warned, ...] = ()

    @property
    def verdict(self) -> str:
        """How the algorithm, or the best of several, compares with the reference and with its rivals."""
        if self.best is None:
            return "Every candidate failed."
        marked = [f"NOT VALID ({self.invalid} of {self.runs} runs did not keep their times):"]
        told = [verdict(self.board), *sentences(self.rivals, self.ranking.objective)]
        return " ".join([*(marked if self.invalid else []), *told])

    @cached_property
    def rivals(self) -> tuple[Rival, ...]:
        """The panel, and what other flows run: how the best candidate compares, what it leaves to them."""
        return rivals(self.board, self.ranking)

    @property
    def best(self) -> Entry | None:
        """The candidate with the best score; None where all failed."""
        return self.ranking.best

    @property
    def regrets(self) -> tuple[tuple[Regret, ...], ...]:
        """Regret by candidate, one per metric."""
        return self.board.regrets

    @property
    def regret_baseline(self) -> RegretBaseline:
        """The baseline of regret."""
        assert self.board.regret_baseline is not None, "an evaluation has a regret_baseline"
        return self.board.regret_baseline

    def __repr__(self) -> str:
        return f"Evaluation({self.verdict!r})"

    def _repr_html_(self) -> str:
        from ackclock.evaluation.scoreboard import legend, tables

        text = "\n".join(
            [legend(self.board), *(line for table in tables(self.board) for line in table.lines())]
        )
        drawn = ""
        if spots := self._spots():
            from ackclock.page.notebook import picture
            from ackclock.page.plane import ELLIPSES, plane

            drawn = picture(plane(spots, _CARRIED, self.board.suite.title), ELLIPSES)
        return f"<p>{html.escape(self.verdict)}</p>{drawn}<pre>{html.escape(text)}</pre>"

    def plot(self) -> Plot:
        """Draw throughput against delay, means over all environments: a figure of matplotlib.

        Raises `InputError` without matplotlib, or where every algorithm failed somewhere.
        """
        from ackclock.page.notebook import drawer

        if not (spots := self._spots()):
            raise InputError("every algorithm failed in some environment, so there is nothing to draw")
        figure: Plot = drawer().plane(spots, _CARRIED, self.board.suite.title)
        return figure

    def _spots(self) -> list[Spot]:
        from ackclock.evaluation.planes import whole_plane

        entries = (*self.ranking.entries, *self.ranking.rest_of_panel)
        return whole_plane(entries, [result.environment.id for result in self.board.results])


def evaluate(
    cc: Algorithm | Sequence[Algorithm],
    *,
    against: Iterable[str] | None = None,
    suite: str = "core",
    replicates: int | None = None,
    quick: bool = False,
    budget: str | int | None = None,
    metric: str = SHARES,
    seed: int = 1,
    sets: Iterable[str] = (),
    within_table: bool = False,
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    backend: str = SIM,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Compare an algorithm, or several, with a panel over a suite; all get the same random draws.

    `cc`: a name, `aimd(increase=2)`, `my_cc.py:MyCc`, an inline table such as
    `{ kind = "aimd", increase = 2 }`, rule text, the dict of an algorithm, or a subclass of
    `CongestionControl`, which runs in this process; or a list of these, which are ranked. `against`: the
    panel of the suite by default; its first is the reference. `sets`: changes to every scenario.
    `budget`: seconds (`30s`) or runs (`2000`): what is clearly worse is dropped early, and replicates are
    added until the budget is used up, or there are `replicates` of them. `metric`: what the score of a
    candidate is made of (docs/learn/how-algorithms-are-compared.md). `within_table`: measure regret
    against the best of this table, not against the stored scores of the panel. `backend`: `sim`, or
    `linux`, the running kernel's TCP in real time. The kernel has no stored scores, so regret is measured
    within the table. `out`: a folder to keep the runs in, which a second evaluation takes up. `progress` is
    called with the number of finished runs and of all runs; by default notebooks have a bar.

    Raises `AckclockError`; of a list, a candidate of which a run fails does not keep the others from being
    ranked.
    """
    replicates = optional_number("replicates", replicates, least=1)
    seed = whole_number("seed", seed)
    sets = texts("sets", sets, "flows.test.count=4")
    against = None if against is None else texts("against", against, "aimd")
    several = isinstance(cc, Sequence) and not isinstance(cc, str)
    given = cast("Sequence[Algorithm]", cc if several else (cc,))
    if not given:
        raise ArgumentValueError("cc", "is empty, but must name a candidate")
    loaded = Suite.load(suite)
    require_metric(loaded, metric)
    others_given = loaded.panel if against is None else tuple(against)
    everyone = distinct([Candidate.parse(text) for text in (*given, *others_given)])
    candidates, panel = everyone[: len(given)], everyone[len(given) :]
    others = [each for each in panel if all(each.resolved != other.resolved for other in candidates)]
    # Whatever is wrong with them is told before a folder is made.
    for environment in loaded.environments if sets else ():
        environment.scenario(candidates[0].text, loaded.test_groups, sets)
    count = replicates or (QUICK_REPLICATES if quick else loaded.replicates)
    most = replicates or (QUICK_REPLICATES if quick else MOST) if budget is not None else count
    limits = Limits(most, min(count, most), None if budget is None else Budget.parse(budget))
    # The stored scores are those of simulations.
    within_table = within_table or backend != SIM
    names = [each.label for each in (*candidates, *others)]
    baseline = choose_regret_baseline(loaded, names, sets, within_table=within_table)
    if progress is None:
        from ackclock.page.notebook import bar

        progress = bar(f"suite {loaded.name}")
    with Store(out) as store:
        track = Track(loaded, sets, seed, store, executor, workers_for(backend, workers), progress, backend)
        race = Race(
            track,
            candidates,
            panel,
            baseline,
            metric,
            limits,
            samples=len(candidates) <= SHOWN,
            alone=not several,
        )
        ranking = race.run()
        shown = _shown(ranking)
        if not shown and not panel:
            raise RunError("every candidate failed, and there is no panel to show")
        board_of = (*shown, *(each for each in panel if all(each.resolved != one.resolved for one in shown)))
        return _evaluation(track, ranking, board_of, panel, within_table)


def _shown(ranking: Ranking) -> list[Candidate]:
    """Return the first few candidates of those that were run to the end, each once."""
    found: list[Candidate] = []
    last = ranking.rounds[-1].replicates
    for entry in ranking.entries:
        known = any(entry.candidate.resolved == other.resolved for other in found)
        if entry.score is not None and entry.replicates == last and not known:
            found.append(entry.candidate)
    return found[:SHOWN]


def _evaluation(
    track: Track,
    ranking: Ranking,
    candidates: Sequence[Candidate],
    panel: Sequence[Candidate],
    within_table: bool,
) -> Evaluation:
    """Return the scoreboard of some candidates, whose runs are stored but for samples."""
    suite, sets = track.suite, track.sets
    reference = next(
        (index for index, other in enumerate(candidates) if panel and other.resolved == panel[0].resolved), 0
    )
    labels = [other.label for other in candidates]
    regret_baseline = choose_regret_baseline(suite, labels, sets, within_table=within_table)
    scenarios = [
        [environment.scenario(other.text, suite.test_groups, sets) for other in candidates]
        for environment in suite.environments
    ]
    count = ranking.rounds[-1].replicates
    studies = [
        [Study.of(scenario, seed=track.seed, replicates=count, backend=track.backend) for scenario in row]
        for row in scenarios
    ]
    everything = Study(tuple(job for row in studies for study in row for job in study.jobs))
    outcomes = iter(track.outcomes(everything))
    results, first = [], []
    invalid = 0
    for environment, tried, row in zip(suite.environments, scenarios, studies, strict=True):
        answers = [[next(outcomes) for _ in study.jobs] for study in row]
        runs = [[outcome.result_json for outcome in replicate] for replicate in answers]
        if track.backend != SIM:
            invalid += sum(bool(faults(json.loads(run))) for replicate in runs for run in replicate)
        exact = track.backend == SIM and not any(scenario.is_random for scenario in tried)
        results.append(score(environment, runs, reference, exact=exact))
        first.append(tuple((study.jobs[0], answer[0]) for study, answer in zip(row, answers, strict=True)))
    board = Scoreboard(
        suite, track.seed, tuple(candidates), reference, tuple(results), tuple(sets), regret_baseline
    )
    warnings = gathered(
        (environment.id, [text for scenario in tried for text in scenario.warnings])
        for environment, tried in zip(suite.environments, scenarios, strict=True)
    )
    return Evaluation(board, tuple(first), ranking, len(everything.jobs), invalid, warnings)
