"""Evaluation: an algorithm against a panel, over a suite of environments, with common random numbers."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ackclock.arguments import optional_number, texts, whole_number
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.panel import choose_regret_baseline
from ackclock.evaluation.regret import Regret, RegretBaseline
from ackclock.evaluation.score import Scoreboard, score
from ackclock.evaluation.suite import Suite
from ackclock.evaluation.verdict import verdict
from ackclock.running.executor import Executor
from ackclock.running.job import Job, Outcome
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.scenario import Algorithm

#: What `quick` makes of a suite: fewer replicates, for a first impression.
_QUICK_REPLICATES = 3


@dataclass(frozen=True, repr=False)
class Evaluation:
    """A scoreboard and its runs.

    What a page or a notebook finds in it:

    - `board.results`: one `Result` per environment; `scores[candidate]` has a `Score` per metric, with
      `values` per replicate, `value` (an `Estimate`: `mean`, `low`, `high`, `half_width`) and
      `cost_difference`, the paired difference to the reference. Intervals of bounded metrics
      are not symmetric around the mean.
    - `regrets`: by candidate, one `Regret` per metric: `worst_case`, `total` (each an `Estimate`), `mean`,
      `worst` (the id of the worst environment), `by_environment`, `scale` (`name`, `heading`, `digits`) and
      `noise_floor`, the regret of equal algorithms (`worst_case_mean`, `worst_case_high`, `total_mean`,
      `total_high`, `algorithms`), or None.
    - `regret_baseline`: what regret is measured against: `title`, `stored`, `algorithms`, `reason`.
    - `first`: the runs of the first replicate, with samples.
    """

    board: Scoreboard
    #: Jobs and outcomes of `[environment][candidate]`, the first replicate each.
    first: tuple[tuple[tuple[Job, Outcome], ...], ...]

    @property
    def verdict(self) -> str:
        """How the algorithm compares with the reference, in a sentence."""
        return verdict(self.board)

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
        from ackclock.evaluation.scoreboard import tables

        text = "\n".join(line for table in tables(self.board) for line in table.lines())
        return f"<p>{html.escape(self.verdict)}</p><pre>{html.escape(text)}</pre>"


def evaluate(
    cc: Algorithm,
    *,
    against: Iterable[str] | None = None,
    suite: str = "core",
    replicates: int | None = None,
    quick: bool = False,
    seed: int = 1,
    sets: Iterable[str] = (),
    within_table: bool = False,
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Evaluation:
    """Compare an algorithm with a panel over a suite; all candidates get the same random draws.

    `cc`: a name, `aimd(increase=2)`, `my_cc.py:MyCc`, an inline table such as `{ kind = "aimd", increase
    = 2 }`, rule text, the dict of an algorithm, or a subclass of `CongestionControl`, which runs in this
    process. `against`: the panel of the suite by default; its first is the reference. `sets`: changes to
    every scenario. `within_table`: measure regret against the best of this table, not against the stored
    scores of the panel. `out`: a folder to keep the runs in, which a second evaluation takes up. Raises
    `AckclockError`.
    """
    replicates = optional_number("replicates", replicates, least=1)
    seed = whole_number("seed", seed)
    sets = texts("sets", sets, "flows.test.count=4")
    against = None if against is None else texts("against", against, "aimd")
    loaded = Suite.load(suite)
    panel = [Candidate.parse(text) for text in (loaded.panel if against is None else against)]
    candidate = Candidate.parse(cc)
    candidates = (candidate, *(other for other in panel if other.resolved != candidate.resolved))
    reference = next(
        (index for index, other in enumerate(candidates) if panel and other.resolved == panel[0].resolved), 0
    )
    count = replicates or (_QUICK_REPLICATES if quick else loaded.replicates)
    labels = [other.label for other in candidates]
    regret_baseline = choose_regret_baseline(loaded, labels, sets, within_table=within_table)
    scenarios = [
        [environment.scenario(other.text, loaded.test_groups, sets) for other in candidates]
        for environment in loaded.environments
    ]
    studies = [[Study.of(scenario, seed=seed, replicates=count) for scenario in row] for row in scenarios]
    everything = Study(tuple(job for row in studies for study in row for job in study.jobs))
    with Store(out) as store:
        outcomes = iter(run_study(everything, store, executor=executor, workers=workers, progress=progress))
    results, first = [], []
    for environment, tried, row in zip(loaded.environments, scenarios, studies, strict=True):
        answers = [[next(outcomes) for _ in study.jobs] for study in row]
        runs = [[json.loads(outcome.result_json) for outcome in replicate] for replicate in answers]
        exact = not any(scenario.is_random for scenario in tried)
        results.append(score(environment, runs, reference, exact=exact))
        first.append(tuple((study.jobs[0], answer[0]) for study, answer in zip(row, answers, strict=True)))
    board = Scoreboard(loaded, seed, candidates, reference, tuple(results), sets, regret_baseline)
    return Evaluation(board, tuple(first))
