"""Reproductions: tables, figures and claims of a paper, printed beside measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ackclock.arguments import optional_number, whole_number
from ackclock.reproduce import models as models  # registers its measures
from ackclock.reproduce import robustness as robustness  # registers its measures
from ackclock.reproduce.claims import VERDICTS, Verdict, claims_of, claims_run, judge
from ackclock.reproduce.figures import Figure, figures_of
from ackclock.reproduce.paper import Alternative, Paper
from ackclock.reproduce.runs import Batch, run_batches
from ackclock.reproduce.shown import require_shown
from ackclock.reproduce.tables import Table, tables_of
from ackclock.store import Store


@dataclass(frozen=True)
class Reproduction:
    """What came out."""

    paper: Paper
    seed: int
    replicates: int
    verdicts: tuple[Verdict, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    #: The verdicts under each other answer to what the paper leaves open, by claim; with few replicates, and
    #: only of claims whose runs are made again.
    alternatives: tuple[tuple[Alternative, Mapping[str, Verdict]], ...]

    @property
    def sentence(self) -> str:
        """How many claims hold."""
        return tally(self.verdicts)


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
    quick: bool = False,
    extended: bool = False,
    seed: int = 1,
    out: str | Path | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Reproduction:
    """Run what a paper ran, and judge its claims.

    `name`: a paper of the package, or a folder with a `paper.toml`. `quick`: few replicates, maybe shorter
    runs, and no other answers to what the paper leaves open. `extended`: also what goes beyond the paper.
    `out`: a folder to keep the runs in, which a second call takes up.
    Raises `AckclockError`.
    """
    replicates = optional_number("replicates", replicates, least=1)
    seed = whole_number("seed", seed)
    paper = Paper.load(name)
    claims = claims_of(paper)
    require_shown(paper)
    sets = (*paper.sets, *(paper.quick.sets if quick else ()))
    count = replicates or (paper.quick.replicates if quick else paper.replicates)
    others = () if quick else paper.alternatives
    few = min(count, paper.alternative_replicates)
    batches = [
        Batch(sets, count, extended=extended),
        *(Batch(sets, few, instead=other) for other in others),
    ]
    with Store(out) as store:
        chosen, *rest = run_batches(paper, batches, store, seed=seed, workers=workers, progress=progress)
    return Reproduction(
        paper=paper,
        seed=seed,
        replicates=count,
        verdicts=tuple(judge(chosen, claim) for claim in claims_run(paper, claims, extended=extended)),
        tables=tuple(tables_of(chosen, extended=extended)),
        figures=tuple(figures_of(chosen, extended=extended)),
        alternatives=tuple(
            (
                other,
                {
                    claim.id: judge(runs, claim, with_note=False)
                    for claim in claims_run(paper, claims, instead=other)
                },
            )
            for other, runs in zip(others, rest, strict=True)
        ),
    )
