"""Evaluates an algorithm against a panel, over a suite of environments, with common random numbers."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ackclock.arguments import optional_number, texts, whole_number
from ackclock.errors import ArgumentValueError, InputError
from ackclock.evaluation.budget import Budget
from ackclock.evaluation.candidate import distinct
from ackclock.evaluation.panel import choose_regret_baseline
from ackclock.evaluation.race import MOST, Limits, Race, Track
from ackclock.evaluation.ranking import SHARES, Entry, Ranking, require_metric, require_weights
from ackclock.evaluation.reading import Reader
from ackclock.evaluation.regret import Regret, RegretBaseline
from ackclock.evaluation.rivals import Competitor
from ackclock.evaluation.score import Scoreboard
from ackclock.evaluation.suite import Suite
from ackclock.running.backend import chosen, workers_for
from ackclock.running.executor import Executor
from ackclock.running.job import SIM, Job, Outcome
from ackclock.running.store import Store
from ackclock.running.warned import Warned
from ackclock.scenario import Algorithm

if TYPE_CHECKING:
    from ackclock.page.plane import Spot
    from ackclock.page.plots import Plot

#: The vertical axis of the chart of throughput against delay.
_CARRIED = "utilisation, %"
#: The parts of the document and the overview that a notebook shows.
_ENTRY = ("candidate", "score", "failure")
_ENVIRONMENT = ("id", "title", "fixed")
_OVERVIEW = ("summary", "tiles", "maps", "algorithms", "reference", "plane")
#: The number of replicates with `quick`, for a first impression.
QUICK_REPLICATES = 3
#: The number of candidates whose first replicate is sampled. The core shows as many in full.
SHOWN = 3


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The result of an evaluation, and its runs.

    - `board.results`: one `Result` per environment. `scores[candidate]` has a `Score` per metric. Its
      `values` are per replicate, and its `value` is an `Estimate` (`mean`, `low`, `high`, `half_width`).
      Its `cost_difference` is the paired difference to the reference.
    - `regrets`: by candidate, one `Regret` per metric. `worst_case` and `total` are estimates. `worst` is the
      id of the worst environment, and `by_environment` the regret in each. `scale` names the metric.
      `noise_floor` is the regret of equal algorithms, or None.
    - `regret_baseline`: the baseline of regret (`title`, `stored`, `algorithms`, `reason`).
    - `first`: the runs of the first replicate, with samples.
    - `ranking`: all candidates by score. `ranking.entries` has an `Entry` for each, with `candidate`, `rank`,
      `standing`, `score`, `failure` and `index`. `standing` is `best`, `tied`, `worse`, `dropped` or
      `failed`. `score` has a `value` and `values` per replicate, and is None for a failed candidate. `index`
      is the place in the given list.
    - `document`: the whole result, which `ackclock evaluate --json` prints.
    - `values`: by id of the environment and label, a row for each replicate. It contains the values of the
      environment's metrics.
    - `competitors`: one `Competitor` per competing algorithm, with `candidate`, `difference` of scores and
      `judgement`. `starved` is `yes`, `maybe` or `no`. `beside` contains the environments with the
      fair-share ratios `theirs` and `ours`.

    With several candidates, `board` and `regrets` contain the top of the ranking, best first. An
    evaluation can be pickled.
    """

    document: dict[str, Any]
    #: The summary: heat maps, throughput against delay, sentences, wins and losses.
    overview: dict[str, Any]
    board: Scoreboard
    #: The job and outcome of the first replicate, by `[environment][candidate]`.
    first: tuple[tuple[tuple[Job, Outcome], ...], ...]
    ranking: Ranking
    competitors: tuple[Competitor, ...]
    #: The number of runs, and the number of emulated runs that missed their times.
    runs: int = 0
    invalid: int = 0
    #: The distinct warnings of scenarios, each with the ids of its environments.
    warnings: tuple[Warned, ...] = ()
    #: The values of all algorithms. The last number of a row is the 95th percentile of the queueing delay.
    values: Mapping[str, Mapping[str, tuple[tuple[float, ...], ...]]] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The comparison of the best candidate with the reference and the competitors, in sentences."""
        verdict: str = self.document["verdict"]
        return verdict

    @property
    def lines(self) -> list[str]:
        """The verdict in four to six lines."""
        lines: list[str] = self.overview["summary"]["lines"]
        return lines

    def worst_environments(self, most: int) -> list[str]:
        """Return the ids of the environments that contribute most to the score of the best candidate."""
        ids = [result.environment.id for result in self.board.results]
        if (best := self.best) is not None and best.score is not None:
            parts = best.score.by_environment
            ids = sorted((name for name in ids if name in parts), key=lambda name: -parts[name])
        return ids[:most]

    @property
    def best(self) -> Entry | None:
        """The candidate with the best score, or None if all failed."""
        return self.ranking.best

    @property
    def regrets(self) -> tuple[tuple[Regret, ...], ...]:
        """The regret by candidate and metric."""
        return self.board.regrets

    @property
    def regret_baseline(self) -> RegretBaseline:
        """The baseline of regret."""
        assert self.board.regret_baseline is not None, "an evaluation has a regret_baseline"
        return self.board.regret_baseline

    def __repr__(self) -> str:
        return f"Evaluation({self.verdict!r})"

    def _repr_html_(self) -> str:
        from ackclock.page.notebook import evaluation_frame

        rows = self.document["environments"]
        document = {
            "ranking": [{key: entry[key] for key in _ENTRY} for entry in self.document["ranking"]],
            "reference": self.document["reference"],
            "suite": self.document["suite"],
            "environments": [{key: row[key] for key in _ENVIRONMENT} for row in rows],
        }
        overview = {key: self.overview[key] for key in _OVERVIEW}
        frame = evaluation_frame({"document": document, "overview": overview})
        return f"<p>{html.escape(self.verdict)}</p>{frame}"

    def plot(self) -> Plot:
        """Draw throughput against delay, as means over all environments, with matplotlib.

        Raises `InputError` without matplotlib, or if every algorithm failed in some environment.
        """
        from ackclock.page.notebook import drawer

        if not (spots := self._spots()):
            raise InputError("every algorithm failed in some environment, so there is nothing to draw")
        figure: Plot = drawer().plane(spots, _CARRIED, self.board.suite.title)
        return figure

    def _spots(self) -> list[Spot]:
        from ackclock.page.plane import Spot

        return [Spot(**spot) for spot in self.overview["plane"]]


def evaluate(
    cc: Algorithm | Sequence[Algorithm],
    *,
    against: Iterable[str] | None = None,
    suite: str | Suite = "core",
    replicates: int | None = None,
    quick: bool = False,
    budget: str | int | None = None,
    metric: str = SHARES,
    weights: Mapping[str, float] | None = None,
    seed: int = 1,
    sets: Iterable[str] = (),
    within_table: bool = False,
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    backend: str = SIM,
    kernel: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Compare an algorithm, or several, with a panel over a suite. All use the same random draws.

    - `cc`: a name, `aimd(increase=2)`, `my_cc.py:MyCc`, an inline table such as
      `{ kind = "aimd", increase = 2 }`, rule text, or the dict of an algorithm. A subclass of
      `CongestionControl` runs in this process. A list of these is ranked.
    - `against`: the panel, by default the panel of the suite. Its first algorithm is the reference.
    - `suite`: a name, a folder with a `suite.toml`, or a loaded suite.
    - `sets`: changes to every scenario.
    - `budget`: seconds (`30s`) or runs (`2000`). Clearly worse candidates are dropped early. The evaluation
      adds replicates until the budget is used up, or until it has `replicates` of them.
    - `metric`: the metric of the score (docs/learn/how-algorithms-are-compared.md).
    - `weights`: the weights of metrics in the default score, such as `{"delay_score": 0}`. Others weigh 1.
    - `within_table`: measure regret against the best of this table, and not against the stored scores.
    - `backend`: `sim`, `linux`, the running kernel's TCP in real time, or `kernel`, a kernel in virtual time.
      Kernels have no stored scores, so regret is measured within the table.
    - `kernel`: the version, name or path of a built kernel, by default the one that was built last.
    - `out`: a folder for the runs. A second evaluation reuses them.
    - `progress`: called with the number of finished runs and of all runs. By default notebooks show a bar.

    Raises `AckclockError`. In a list, a failing candidate does not stop the ranking of the others.
    """
    replicates = optional_number("replicates", replicates, least=1)
    seed = whole_number("seed", seed)
    backend = chosen(backend, kernel)
    sets = texts("sets", sets, "flows.test.count=4")
    against = None if against is None else texts("against", against, "aimd")
    several = isinstance(cc, Sequence) and not isinstance(cc, str)
    given = cast("Sequence[Algorithm]", cc if several else (cc,))
    if not given:
        raise ArgumentValueError("cc", "is empty, but must name a candidate")
    loaded = suite if isinstance(suite, Suite) else Suite.load(suite)
    require_metric(loaded, metric)
    require_weights(weights := dict(weights or {}), metric)
    others_given = loaded.panel if against is None else tuple(against)
    everyone = distinct([loaded.subject.parse(text) for text in (*given, *others_given)])
    candidates, panel = everyone[: len(given)], everyone[len(given) :]
    others = [each for each in panel if all(each.resolved != other.resolved for other in candidates)]
    # Mistakes in the scenarios are reported before a folder is created.
    for environment in loaded.environments if sets else ():
        environment.scenario(candidates[0].text, loaded.subject, sets)
    count = replicates or (QUICK_REPLICATES if quick else loaded.replicates)
    most = replicates or (QUICK_REPLICATES if quick else MOST) if budget is not None else count
    limits = Limits(most, min(count, most), None if budget is None else Budget.parse(budget))
    # Only simulations have stored scores.
    within_table = within_table or backend != SIM
    names = [each.label for each in (*candidates, *others)]
    baseline = choose_regret_baseline(loaded, names, sets, within_table=within_table)
    if progress is None:
        from ackclock.page.notebook import bar

        progress = bar(f"suite {loaded.name}")
    with Store(out) as store:
        track = Track(loaded, sets, seed, store, executor, workers_for(backend, workers), progress, backend)
        race = Race(track, candidates, panel, baseline, metric, weights, limits)
        made = race.run(samples=len(candidates) <= SHOWN, alone=not several)
        reader = Reader.of(made, race, baseline)
        board = reader.board()
        return Evaluation(
            made["document"],
            made["overview"],
            board,
            track.first([reader.runners[each.label] for each in board.candidates]),
            reader.ranking(),
            reader.competitors(),
            track.runs,
            track.invalid,
            race.warnings,
            race.values,
        )
