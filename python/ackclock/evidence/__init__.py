"""Evidence for a working group: the criteria of a document, each with measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.evaluation.candidate import Candidate, distinct
from ackclock.evaluation.score import Metric, Result, Score, score
from ackclock.evaluation.suite import Environment
from ackclock.evidence.criteria import Criteria, Criterion
from ackclock.running.cells import Cell, short
from ackclock.running.store import Store
from ackclock.running.warned import Warned, gathered
from ackclock.running.work import Study, run_study
from ackclock.scenario import Algorithm, Scenario
from ackclock.statistics.estimates import Estimate, compared

#: The number of replicates with `quick`, for a first impression.
QUICK_REPLICATES = 2


@dataclass(frozen=True)
class Figure:
    """A metric of one algorithm in one environment."""

    score: Score
    #: The candidate's cost minus this algorithm's, paired by replicate. A negative difference is better. None
    #: for the candidate itself, and for a single random replicate.
    difference: Estimate | None
    #: The cell that `ackclock run --from` takes.
    cell: str

    @property
    def judgement(self) -> str:
        """`better` or `worse` for the candidate, or an empty text if the difference is not significant."""
        return "" if self.difference is None else self.difference.judgement


@dataclass(frozen=True)
class Row:
    """A metric in an environment, with a figure for each algorithm, the candidate first."""

    environment: Environment
    metric: Metric
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Answer:
    """A criterion with its figures."""

    criterion: Criterion
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Evidence:
    """The measurements for each criterion."""

    criteria: Criteria
    #: The candidate first.
    algorithms: tuple[Candidate, ...]
    seed: int
    replicates: int
    sets: tuple[str, ...]
    #: In the order of the document.
    answers: tuple[Answer, ...]
    #: The runs behind each figure.
    cells: dict[str, Cell]
    #: The distinct warnings of scenarios, each with the ids of its environments.
    warnings: tuple[Warned, ...] = ()

    @property
    def candidate(self) -> Candidate:
        """The algorithm that the report is about."""
        return self.algorithms[0]

    @property
    def whole(self) -> bool:
        """Whether every section is there."""
        return len(self.answers) == len(self.criteria.criteria)

    def count(self, judgement: str, place: int) -> int:
        """Return the number of distinct rows with this judgement of the candidate against an algorithm."""
        rows = {(row.environment.id, row.metric.name): row for answer in self.answers for row in answer.rows}
        return sum(row.figures[place].judgement == judgement for row in rows.values())


def gather(
    cc: Algorithm,
    *,
    against: Sequence[str] | None = None,
    criteria: str = "rfc9743",
    only: Sequence[str] = (),
    replicates: int | None = None,
    quick: bool = False,
    seed: int = 1,
    sets: Iterable[str] = (),
    out: str | Path | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Evidence:
    """Run the measurements of the criteria for an algorithm and others, with the same random draws.

    `cc`: an algorithm, as for `evaluate`. `against`: by default the algorithms that the criteria name.
    `only`: sections. `sets`: changes to every scenario. `out`: a folder for the runs, which a second call
    reuses. Raises `AckclockError`.
    """
    loaded, changes = Criteria.load(criteria), tuple(sets)
    chosen = loaded.chosen(only)
    others = loaded.suite.panel if against is None else against
    named = distinct([Candidate.parse(each) for each in (cc, *others)])
    algorithms = tuple(
        each for at, each in enumerate(named) if all(each.resolved != other.resolved for other in named[:at])
    )
    count = replicates or (QUICK_REPLICATES if quick else loaded.suite.replicates)
    environments = list(
        {each.environment.id: each.environment for one in chosen for each in one.measures}.values()
    )
    scenarios = {
        environment.id: [
            environment.scenario(each.text, loaded.suite.subject, changes) for each in algorithms
        ]
        for environment in environments
    }
    with Store(out) as store:
        results = _results(environments, scenarios, (seed, count), store, workers, progress)
    cells = {
        _cell(algorithms, environment, at): Cell(
            f"{each.label} in {environment.title}", scenario.hash, seed, count if scenario.is_random else 1
        )
        for environment in environments
        for at, (each, scenario) in enumerate(zip(algorithms, scenarios[environment.id], strict=True))
    }
    answers = tuple(Answer(each, tuple(_rows(each, results, algorithms))) for each in chosen)
    warnings = gathered(
        (name, [text for scenario in row for text in scenario.warnings]) for name, row in scenarios.items()
    )
    return Evidence(loaded, algorithms, seed, count, changes, answers, cells, warnings)


def _results(
    environments: Sequence[Environment],
    scenarios: dict[str, list[Scenario]],
    runs: tuple[int, int],
    store: Store,
    workers: int | None,
    progress: Callable[[int, int], None],
) -> dict[str, Result]:
    """Run and score all environments. `runs` are the seed and the number of replicates."""
    seed, replicates = runs
    studies = {
        environment.id: [
            Study.of(scenario, seed=seed, replicates=replicates, samples=False)
            for scenario in scenarios[environment.id]
        ]
        for environment in environments
    }
    everything = Study(tuple(job for row in studies.values() for study in row for job in study.jobs))
    outcomes = iter(run_study(everything, store, workers=workers, progress=progress))
    results = {}
    for environment in environments:
        documents = [[next(outcomes).result_json for _ in study.jobs] for study in studies[environment.id]]
        exact = not any(scenario.is_random for scenario in scenarios[environment.id])
        results[environment.id] = score(environment, documents, 0, exact=exact)
    return results


def _rows(criterion: Criterion, results: dict[str, Result], algorithms: Sequence[Candidate]) -> Iterable[Row]:
    for measure in criterion.measures:
        result = results[measure.environment.id]
        for name in measure.metrics:
            at = next(place for place, metric in enumerate(result.metrics) if metric.name == name)
            ours = result.scores[0][at].costs
            figures = []
            for place, scores in enumerate(result.scores):
                difference = compared(ours, scores[at].costs, exact=result.exact) if place > 0 else None
                figures.append(Figure(scores[at], difference, _cell(algorithms, measure.environment, place)))
            yield Row(measure.environment, result.metrics[at], tuple(figures))


def _cell(algorithms: Sequence[Candidate], environment: Environment, at: int) -> str:
    return f"{environment.id}/{short(algorithms[at].label, at)}"
