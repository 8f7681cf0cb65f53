"""Evaluation: an algorithm against a panel, over a suite of environments, on the same luck."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ackclock.arguments import optional_number, texts, whole_number
from ackclock.evaluation.panel import choose_yardstick
from ackclock.evaluation.score import Scoreboard, score
from ackclock.evaluation.standing import Standing, Yardstick
from ackclock.evaluation.suite import Contender, Suite
from ackclock.evaluation.verdict import verdict
from ackclock.running.executor import Executor
from ackclock.running.job import Job, Outcome
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study

#: What `quick` makes of a suite: fewer replicates, for a first impression.
_QUICK_REPLICATES = 3


@dataclass(frozen=True, repr=False)
class Evaluation:
    """A scoreboard and the runs behind it.

    What a page or a notebook finds in it:

    - `board.results`: one `Result` per environment; `scores[contender]` has a `Score` per metric, with
      `values` per replicate, `value` (an `Estimate`: `mean`, `low`, `high`, `half_width`) and `harm`, the
      paired difference to the reference. Intervals of bounded metrics are not even around the mean.
    - `standings`: by contender, one `Standing` per metric: `c`, `d_sum` (each an `Estimate`), `d_mean`,
      `worst` (the id of the worst environment), `distances` by environment, `scale` (`name`, `heading`,
      `digits`) and `null`, what luck alone would show (`c_mean`, `c_high`, `d_mean`, `d_high`,
      `algorithms`), or None.
    - `yardstick`: what C and D are measured against: `title`, `stored`, `algorithms`, `reason`.
    - `first`: the runs of the first replicate, with samples.
    """

    board: Scoreboard
    #: Jobs and outcomes of `[environment][contender]`, the first replicate each.
    first: tuple[tuple[tuple[Job, Outcome], ...], ...]

    @property
    def verdict(self) -> str:
        """How the algorithm compares with the reference, in a sentence."""
        return verdict(self.board)

    @property
    def standings(self) -> tuple[tuple[Standing, ...], ...]:
        """C and D by contender, one per metric."""
        return self.board.standings

    @property
    def yardstick(self) -> Yardstick:
        """What C and D are measured against."""
        assert self.board.yardstick is not None, "an evaluation has a yardstick"
        return self.board.yardstick

    def __repr__(self) -> str:
        return f"Evaluation({self.verdict!r})"

    def _repr_html_(self) -> str:
        from ackclock.evaluation.scoreboard import tables

        text = "\n".join(line for table in tables(self.board) for line in table.lines())
        return f"<p>{html.escape(self.verdict)}</p><pre>{html.escape(text)}</pre>"


def evaluate(
    cc: str,
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
    """Compare an algorithm with a panel over a suite; every contender meets the same luck.

    `cc`: a name, `aimd(increase=2)`, or an inline table such as `{ kind = "aimd", increase = 2 }`. `against`:
    the panel of the suite by default; its first is the reference. `sets`: changes to every scenario.
    `within_table`: measure C and D against the best of this table, not against the stored scores of the
    panel. `out`: a folder to keep the runs in, which a second evaluation takes up. Raises `AckclockError`.
    """
    replicates = optional_number("replicates", replicates, least=1)
    seed = whole_number("seed", seed)
    sets = texts("sets", sets, "flows.test.count=4")
    against = None if against is None else texts("against", against, "aimd")
    loaded = Suite.load(suite)
    panel = [Contender.parse(text) for text in (loaded.panel if against is None else against)]
    contender = Contender.parse(cc)
    contenders = (contender, *(other for other in panel if other.resolved != contender.resolved))
    reference = next(
        (index for index, other in enumerate(contenders) if panel and other.resolved == panel[0].resolved), 0
    )
    count = replicates or (_QUICK_REPLICATES if quick else loaded.replicates)
    labels = [other.label for other in contenders]
    yardstick = choose_yardstick(loaded, labels, sets, within_table=within_table)
    scenarios = [
        [environment.scenario(other.text, loaded.test_groups, sets) for other in contenders]
        for environment in loaded.environments
    ]
    studies = [[Study.of(scenario, seed=seed, replicates=count) for scenario in row] for row in scenarios]
    everything = Study(tuple(job for row in studies for study in row for job in study.jobs))
    with Store(out) as store:
        outcomes = iter(run_study(everything, store, executor=executor, workers=workers, progress=progress))
    results, first = [], []
    for environment, contended, row in zip(loaded.environments, scenarios, studies, strict=True):
        answers = [[next(outcomes) for _ in study.jobs] for study in row]
        runs = [[json.loads(outcome.result_json) for outcome in replicate] for replicate in answers]
        exact = not any(scenario.is_random for scenario in contended)
        results.append(score(environment, runs, reference, exact=exact))
        first.append(tuple((study.jobs[0], answer[0]) for study, answer in zip(row, answers, strict=True)))
    board = Scoreboard(loaded, seed, contenders, reference, tuple(results), sets, yardstick)
    return Evaluation(board, tuple(first))
