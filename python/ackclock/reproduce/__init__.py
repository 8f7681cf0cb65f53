"""Reproductions of papers: tables, figures and claims, printed and measured."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import filter as filter_names
from pathlib import Path

from ackclock.arguments import optional_number, whole_number
from ackclock.errors import InputError, ScenarioError
from ackclock.files.declaration import Place
from ackclock.reproduce import models as models  # registers its measures
from ackclock.reproduce import robustness as robustness  # registers its measures
from ackclock.reproduce.again import cells_of, warnings_of
from ackclock.reproduce.claims import VERDICTS, Claim, Verdict, claims_of, claims_run, judge
from ackclock.reproduce.figures import Figure, figures_of
from ackclock.reproduce.measures import grids_of, require_metrics
from ackclock.reproduce.paper import FILE, Paper
from ackclock.reproduce.readings import CHOSEN, ContradictionError, Reading, combinations, singles
from ackclock.reproduce.runs import Batch, Plan, Run, plan, require_change, runs_of
from ackclock.reproduce.shown import require_shown
from ackclock.reproduce.support import DEPENDS, NEVER, ONE, ROBUST, Support, support
from ackclock.reproduce.tables import Table, tables_of
from ackclock.running.backend import chosen as chosen_backend
from ackclock.running.backend import faults, workers_for
from ackclock.running.cells import Cell
from ackclock.running.job import LINUX, SIM, kind_of
from ackclock.running.store import Store
from ackclock.running.warned import Warned
from ackclock.running.work import fill
from ackclock.text.suggest import hint

#: After so many contradictory combinations in a row, the search for further interpretations ends.
_PATIENCE = 200
#: The interval between lines about the planning of runs.
_TELL_S = 5.0


@dataclass(frozen=True)
class Skipped:
    """An interpretation that is not run, because its answers contradict each other."""

    reading: Reading
    reason: str


@dataclass(frozen=True)
class Emulated:
    """Results of the chosen interpretation with the TCP of a kernel."""

    #: `linux` or `kernel`.
    backend: str
    #: The verdicts by claim.
    verdicts: Mapping[str, Verdict]
    tables: tuple[Table, ...]
    replicates: int
    runs: int
    #: The number of invalid runs, which are included in `runs`.
    invalid: int


@dataclass(frozen=True)
class Reproduction:
    """The results of a reproduction."""

    paper: Paper
    seed: int
    replicates: int
    #: The verdicts of the chosen interpretation.
    verdicts: tuple[Verdict, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    #: The verdicts under each other interpretation, by claim, if the interpretation changes the claim's runs.
    interpretations: tuple[tuple[Reading, Mapping[str, Verdict]], ...]
    reading_replicates: int
    skipped: tuple[Skipped, ...]
    #: The status of each claim over all interpretations.
    support: Mapping[str, Support]
    #: The results of the kernel's TCP, if requested.
    emulated: Emulated | None = None
    #: The runs of each cell of the chosen interpretation, by name.
    cells: Mapping[str, Cell] = field(default_factory=dict, repr=False)
    #: The distinct warnings of scenarios of all interpretations, each with the names of its cells.
    warnings: tuple[Warned, ...] = ()

    @property
    def changed(self) -> tuple[tuple[Verdict, Verdict], ...]:
        """The claims whose verdict the kernel's TCP changes: simulated and emulated."""
        there = {} if self.emulated is None else self.emulated.verdicts
        pairs = ((here, there[here.claim.id]) for here in self.verdicts if here.claim.id in there)
        return tuple(pair for pair in pairs if pair[0].verdict != pair[1].verdict)

    @property
    def sentence(self) -> str:
        """The counts of verdicts, preceded by the counts over all interpretations if there are several."""
        if not self.interpretations:
            return f"One interpretation. {tally(self.verdicts)}"
        count = Counter(each.status for each in self.support.values())
        alone = f", {count[ONE]} tried under one interpretation" if count[ONE] else ""
        return (
            f"Over {len(self.interpretations) + 1} interpretations {count[ROBUST]} of "
            f"{len(self.verdicts)} claims are robust, {count[DEPENDS]} depend on a choice, "
            f"{count[NEVER]} never hold{alone}. "
            f"As chosen: {tally(self.verdicts)}"
        )


def tally(verdicts: Iterable[Verdict]) -> str:
    """Return how many claims hold, in a sentence."""
    count = Counter(verdict.verdict for verdict in verdicts)
    hold, fail, undecided = (count[name] for name in VERDICTS)
    return (
        f"Of {count.total()} claims {hold} hold{'s' if hold == 1 else ''}, "
        f"{fail} do{'es' if fail == 1 else ''} not, "
        f"{undecided} {'is' if undecided == 1 else 'are'} undecidable."
    )


def reproduce(
    name: str,
    *,
    replicates: int | None = None,
    interpretations: int | None = None,
    claims: Sequence[str] = (),
    quick: bool = False,
    extended: bool = False,
    seed: int = 1,
    out: str | Path | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    backend: str = SIM,
    kernel: str | None = None,
    tell: Callable[[str], object] = lambda text: None,
) -> Reproduction:
    """Run the experiments of a paper and judge its claims.

    `name` is a paper of the package, or a folder with a `paper.toml`. `interpretations` is the number of
    interpretations: the chosen one, those that change one answer, then combinations. By default, all that
    change one answer are run. `claims` lists patterns of the claims to judge, by default all. With patterns,
    only the necessary cells run, and the result contains neither tables nor figures. `quick` runs few
    replicates, sometimes shorter runs, and one interpretation unless `interpretations` is larger.
    `extended` adds experiments beyond the paper. `out` is a folder for the runs, and a second call continues
    from it. `backend` `linux` adds a column with the TCP of the running kernel in real time. The backend
    `kernel` adds a column with a kernel in virtual time. The column has as many replicates as `quick`, unless
    `replicates` is given. `kernel` is the version, name or path of a built kernel, by default the one that
    was built last. `tell` receives the expected time of these runs, and the
    progress of the planning.
    Raises `AckclockError`.
    """
    replicates = optional_number("replicates", replicates, least=1)
    interpretations = optional_number("interpretations", interpretations, least=1)
    seed = whole_number("seed", seed)
    backend = chosen_backend(backend, kernel)
    paper = Paper.load(name)
    every = claims_of(paper)
    require_shown(paper)
    _require_answers(paper, every)
    asked = _asked(every, claims)
    only = [cells for claim in asked for cells in claim.cells(paper)] if claims else None
    sets = paper.quick.sets if quick else ()
    count = replicates or (paper.quick.replicates if quick else paper.replicates)
    few = min(count, paper.alternative_replicates)
    batch = Batch(CHOSEN, count, sets, extended, only)
    chosen = plan(paper, batch, seed)
    others, skipped = _plans(
        paper,
        chosen,
        replace(batch, replicates=few, extended=False),
        (seed, interpretations if interpretations or not quick else 1),
        tell,
    )
    jobs = (job for each in (chosen, *others) for job in each.jobs)
    with Store(out) as store:
        fill(jobs, store, workers=workers, progress=progress)
        runs = runs_of(paper, chosen, store, {})
        verdicts = tuple(judge(runs, claim) for claim in claims_run(paper, asked, extended=extended))
        tables = () if claims else tuple(tables_of(runs, extended=extended))
        figures = () if claims else tuple(figures_of(runs, extended=extended))
        known = runs.by_key
        judged = tuple((each.reading, _judge(paper, asked, each, store, known)) for each in others)
        emulated = None
        if backend != SIM:
            again = Batch(CHOSEN, replicates or paper.quick.replicates, sets, extended, only, backend)
            emulated = _emulate(paper, again, (seed, workers), store, (asked, bool(claims), tell, progress))
    return Reproduction(
        paper=paper,
        seed=seed,
        replicates=count,
        verdicts=verdicts,
        tables=tables,
        figures=figures,
        interpretations=judged,
        reading_replicates=few,
        skipped=tuple(skipped),
        support={verdict.claim.id: _support(paper, verdict, judged) for verdict in verdicts},
        emulated=emulated,
        cells=cells_of(chosen, seed),
        warnings=warnings_of((chosen, *others)),
    )


def _emulate(
    paper: Paper,
    batch: Batch,
    of_runs: tuple[int, int | None],
    store: Store,
    wanted: tuple[Sequence[Claim], bool, Callable[[str], object], Callable[[int, int], None]],
) -> Emulated:
    """Run the chosen interpretation with the kernel's TCP, and judge it."""
    (seed, workers), (claims, only_claims, tell, progress) = of_runs, wanted
    planned = plan(paper, batch, seed)
    count = sum(len(cell.study.jobs) for cell in planned.cells)
    at_once = workers_for(batch.backend, workers)
    if batch.backend == LINUX:
        seconds = sum(
            len(cell.study.jobs) * cell.scenario.describe(0)["duration_s"] for cell in planned.cells
        )
        minutes = seconds / (at_once or 1) / 60
        tell(f"{count} emulations, {at_once or 1} at once, take {minutes:.0f} minutes")
    else:
        tell(f"{count} runs of the kernel follow")
    fill(planned.jobs, store, workers=at_once, progress=progress)
    runs = runs_of(paper, planned, store, {})
    return Emulated(
        backend=kind_of(batch.backend),
        verdicts={
            claim.id: judge(runs, claim, with_note=False)
            for claim in claims_run(paper, claims, extended=batch.extended)
        },
        tables=() if only_claims else tuple(tables_of(runs, extended=batch.extended)),
        replicates=batch.replicates,
        runs=count,
        invalid=sum(bool(faults(run.document)) for run in runs.by_key.values()),
    )


def _plans(
    paper: Paper,
    chosen: Plan,
    batch: Batch,
    extent: tuple[int, int | None],
    tell: Callable[[str], object],
) -> tuple[list[Plan], list[Skipped]]:
    """Return the plans of all interpretations but the chosen one, and the skipped interpretations.

    `batch` contains the settings of each plan. `extent` is the seed and the number of interpretations, the
    chosen one included. `tell` receives a line every few seconds.
    """
    seed, interpretations = extent
    told_at = time.monotonic()
    plans: list[Plan] = []
    skipped: list[Skipped] = []
    alone = singles(paper.choices)
    more = () if interpretations is None else combinations(paper.choices, seed)
    in_vain = 0
    for reading in itertools.chain(alone, more):
        if (interpretations is not None and len(plans) + 1 >= interpretations) or in_vain >= _PATIENCE:
            break
        try:
            planned = plan(paper, replace(batch, reading=reading), seed)
        except (ScenarioError, ContradictionError) as error:
            skipped.append(Skipped(reading, str(error)))
            in_vain += 1
            continue
        if batch.only is None:
            require_change(paper, chosen, planned)
        plans.append(planned)
        in_vain = 0
        if time.monotonic() - told_at > _TELL_S:
            told_at = time.monotonic()
            tell(f"planned the runs of {len(plans) + 1} interpretations")
    return plans, skipped


def _judge(
    paper: Paper, claims: Sequence[Claim], planned: Plan, store: Store, known: Mapping[str, Run]
) -> dict[str, Verdict]:
    """Judge the claims whose cells an interpretation runs."""
    runs = runs_of(paper, planned, store, known)
    return {
        claim.id: judge(runs, claim, with_note=False)
        for claim in claims_run(paper, claims, reading=planned.reading)
    }


def _support(
    paper: Paper, verdict: Verdict, judged: Sequence[tuple[Reading, Mapping[str, Verdict]]]
) -> Support:
    """Return the support of a claim by all interpretations. A claim without runs has a single verdict."""
    name, is_exact = verdict.claim.id, not grids_of(paper, verdict.claim.measure)
    others = [] if is_exact else [(reading, found[name]) for reading, found in judged if name in found]
    return support([(CHOSEN, verdict), *others], paper.choices, is_exact=is_exact)


def _asked(claims: Sequence[Claim], patterns: Sequence[str]) -> list[Claim]:
    """Return the claims that any of the patterns matches, all without patterns. Raises `InputError`."""
    names = [claim.id for claim in claims]
    for pattern in patterns:
        if not filter_names(names, pattern):
            raise InputError(f"no claim is called {pattern!r}; {hint(pattern, names)}")
    wanted = {name for pattern in patterns for name in filter_names(names, pattern)}
    return [claim for claim in claims if not patterns or claim.id in wanted]


def _require_answers(paper: Paper, claims: Sequence[Claim]) -> None:
    """Raise `InputError` if an answer names an unknown claim or metric."""
    names = [claim.id for claim in claims]
    for choice in paper.choices:
        for answer in choice.answers:
            place = Place(
                str(paper.folder / FILE),
                f"alternatives[{answer.id}]" if answer.id else f"choices[{choice.id}]",
            )
            for pattern in answer.fits:
                if not filter_names(names, pattern):
                    place.at("fits").require(pattern, names, "claim")
            require_metrics(paper, answer.metrics, place.at("metrics"))
