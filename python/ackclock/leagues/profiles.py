"""The behaviour of each algorithm of a league: response function, traces, and all pairs on a bottleneck."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ackclock.coexistence.matrix import Coexistence, coexist
from ackclock.evaluation.candidate import Candidate
from ackclock.leagues.roster import COEXISTENCE, PROFILES
from ackclock.leagues.scores import League
from ackclock.leagues.traces import Trace, traces
from ackclock.responses.response import Response, response
from ackclock.running.cells import Cell
from ackclock.running.executor import Executor
from ackclock.running.job import SIM
from ackclock.running.store import Store
from ackclock.running.warned import Warned, merged

#: The axis of the response functions.
OVER = "loss"

#: Takes a name. Gives a function of finished runs and all runs, within a context.
Progress = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]


@dataclass(frozen=True)
class Profile:
    """The behaviour of an algorithm outside of the suites."""

    #: Goodput over the loss rate. None if the simulator did not run.
    response: Response | None
    #: The reasons for missing points.
    failures: tuple[str, ...]
    traces: tuple[Trace, ...]

    @property
    def document(self) -> dict[str, Any]:
        """Everything but the curves of the traces, as JSON."""
        return {
            "response": None if self.response is None else self.response.document,
            "response_failures": list(self.failures),
            "traces": [
                {"trace": each.kind.id, "cell": each.cell, "failure": each.failure or None}
                for each in self.traces
            ],
        }


@dataclass(frozen=True)
class Profiles:
    """The behaviour of all algorithms of a league."""

    by_label: dict[str, Profile]
    #: None if it was left out.
    coexistence: Coexistence | None
    cells: dict[str, Cell] = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """The distinct warnings of response functions and pairs, each with points and networks."""
        responses = (each.response.warnings for each in self.by_label.values() if each.response is not None)
        together = () if self.coexistence is None else self.coexistence.warnings
        return merged([*responses, [each.within(COEXISTENCE) for each in together]])


def profiles(
    league: League,
    folder: Path,
    *,
    coexistence: bool = True,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Profiles:
    """Run the missing response functions, traces and pairs of a league.

    `folder`: the folder of the league. `coexistence`: whether to run all pairs on six bottlenecks. Response
    functions and pairs need the simulator. An algorithm that fails has the reason instead. Raises
    `StoreError`.
    """
    # The given order does not depend on the scores, and the labels of equal classes follow from it.
    named = [(each.label, each.candidate) for each in sorted(league.algorithms, key=lambda each: each.index)]
    tell = progress or (lambda name: nullcontext(lambda done, total: None))
    run: dict[str, Any] = {"executor": executor, "workers": workers}
    responses: dict[str, tuple[Response, list[str]]] = {}
    together: Coexistence | None = None
    with tell("traces") as told, Store(folder / PROFILES) as store:
        traced, cells = traces(named, store, seed=league.seed, backend=league.backend, progress=told, **run)
    if league.backend == SIM:
        with tell("response functions") as told:
            responses = _responses(league, named, folder, told, run)
        if coexistence and len(named) > 1:
            with tell("pairs of algorithms") as told:
                together = _together(league, named, folder, told, run)
    return Profiles(
        {label: Profile(*_of(responses.get(label)), traced[label]) for label, _ in named},
        together,
        cells,
    )


def _of(found: tuple[Response, list[str]] | None) -> tuple[Response | None, tuple[str, ...]]:
    return (None, ()) if found is None else (found[0], tuple(found[1]))


def _responses(
    league: League,
    named: Sequence[tuple[str, Candidate]],
    folder: Path,
    progress: Callable[[int, int], None],
    run: dict[str, Any],
) -> dict[str, tuple[Response, list[str]]]:
    """Return the response function of each algorithm, and the reasons for missing points."""
    failures: dict[str, list[str]] = {label: [] for label, _ in named}
    labels = list(failures)
    found = response(
        *(candidate.text for _, candidate in named),
        over=OVER,
        replicates=league.replicates,
        seed=league.seed,
        out=folder / PROFILES,
        progress=progress,
        failed=lambda at, message: failures[labels[at]].append(message),
        **run,
    )
    return {
        label: (
            replace(found, points=tuple(point for point in found.points if point.algorithm == label)),
            failures[label],
        )
        for label in labels
    }


def _together(
    league: League,
    named: Sequence[tuple[str, Candidate]],
    folder: Path,
    progress: Callable[[int, int], None],
    run: dict[str, Any],
) -> Coexistence:
    """Return shares and harm of all pairs."""
    return coexist(
        *(candidate.text for _, candidate in named),
        replicates=league.replicates,
        seed=league.seed,
        out=folder / COEXISTENCE,
        progress=progress,
        **run,
    )
