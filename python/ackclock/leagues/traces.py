"""Three standard traces of an algorithm: alone, with a second flow, and behind a link of varying capacity."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.errors import BackendError, RunError, ScenarioError
from ackclock.evaluation.candidate import Candidate
from ackclock.metrics.frames import samples_frame
from ackclock.page.curves import Panel
from ackclock.page.over_time import QUEUE, RTT, WINDOW, over_time
from ackclock.running.cells import Cell, short
from ackclock.running.executor import Executor
from ackclock.running.job import Job, Outcome
from ackclock.running.store import Store
from ackclock.running.work import Study, fill
from ackclock.scenario import SCHEMA, Scenario

#: The link of all traces: its rate, its base RTT, and its drop-tail buffer.
RATE_MBPS, RTT_MS, BUFFER_BDP = 20, 40, 1
#: The length of a run, and the times at which its second and its last part begin.
END_S, SECOND_S, LAST_S = 60, 20, 40
#: The names of the flows.
_FLOWS = ("first", "second")
#: The link whose queue is drawn.
_BOTTLENECK = "bottleneck"


@dataclass(frozen=True)
class Kind:
    """A standard scenario."""

    id: str
    title: str
    #: The start of each flow in seconds.
    starts_s: tuple[float, ...]
    #: The times in seconds of the changes, which are marked.
    events_s: tuple[float, ...]
    #: Whether the link has half of its rate between the changes.
    halves: bool = False

    def scenario(self, candidate: Candidate) -> Scenario:
        """Return the scenario with an algorithm. Raises `ScenarioError` if it does not fit."""
        half, full = f"{RATE_MBPS / 2:g} Mbit/s", f"{RATE_MBPS} Mbit/s"
        times = ["0 s", *(f"{time} s" for time in self.events_s)]
        varies = {"varies": {"kind": "steps", "rates": [full, half, full], "times": times}}
        return Scenario.from_dict(
            {
                "schema": SCHEMA,
                "name": f"{candidate.label}: {self.title}"[:200],
                "duration": f"{END_S} s",
                "topology": {
                    "kind": "dumbbell",
                    "rate": full,
                    "delay": f"{RTT_MS / 2:g} ms",
                    "queue": {"kind": "drop-tail", "limit": f"{BUFFER_BDP} BDP"},
                    **(varies if self.halves else {}),
                },
                "flows": [
                    {"name": name, "cc": candidate.written, "start": f"{start} s"}
                    for name, start in zip(_FLOWS, self.starts_s, strict=False)
                ],
            }
        )


KINDS = (
    Kind("alone", "One flow alone", (0,), ()),
    Kind("second-flow", f"A second flow starts after {SECOND_S} s", (0, SECOND_S), (SECOND_S,)),
    Kind(
        "capacity-step",
        f"Half of the capacity from {SECOND_S} to {LAST_S} s",
        (0,),
        (SECOND_S, LAST_S),
        halves=True,
    ),
)


@dataclass(frozen=True)
class Trace:
    """One standard scenario with an algorithm."""

    kind: Kind
    #: The cell that `ackclock run --from` takes.
    cell: str
    #: Window, RTT and queue over time. Empty after a failure.
    panels: tuple[Panel, ...]
    #: The reason for missing curves.
    failure: str = ""


def traces(
    algorithms: Sequence[tuple[str, Candidate]],
    store: Store,
    *,
    seed: int,
    backend: str,
    progress: Callable[[int, int], None],
    executor: Executor | None = None,
    workers: int | None = None,
) -> tuple[dict[str, tuple[Trace, ...]], dict[str, Cell]]:
    """Run the missing traces of algorithms, given by label. Return them by label, and their cells.

    A trace that fails contains the reason. Raises `StoreError`.
    """
    found: dict[str, tuple[Trace, ...]] = {label: () for label, _ in algorithms}
    cells: dict[str, Cell] = {}
    for place, kind in enumerate(KINDS):
        each = _Traces(kind, algorithms, seed, backend)
        told = _part(progress, place, len(algorithms))
        each.fill(store, executor=executor, workers=workers, progress=told)
        cells |= each.cells
        for number, (label, _) in enumerate(algorithms):
            found[label] += (each.trace(label, number),)
    return found, cells


def _part(progress: Callable[[int, int], None], place: int, runs: int) -> Callable[[int, int], None]:
    """Return the progress of the runs of one scenario as a part of all."""
    return lambda done, _: progress(place * runs + done, len(KINDS) * runs)


class _Traces:
    """One standard scenario with all algorithms."""

    def __init__(
        self, kind: Kind, algorithms: Sequence[tuple[str, Candidate]], seed: int, backend: str
    ) -> None:
        self._kind = kind
        self._jobs: list[Job] = []
        #: The labels of the algorithms that a run serves.
        self._labels: dict[str, list[str]] = {}
        self._panels: dict[str, tuple[Panel, ...]] = {}
        self._failures: dict[str, str] = {}
        self.cells: dict[str, Cell] = {}
        for number, (label, candidate) in enumerate(algorithms):
            try:
                scenario = kind.scenario(candidate)
            except ScenarioError as error:
                self._failures[label] = str(error)
                continue
            (job,) = Study.of(scenario, seed=seed, samples=True, backend=backend).jobs
            self._jobs.append(job)
            self._labels.setdefault(job.key, []).append(label)
            self.cells[self._cell(label, number)] = Cell(scenario.name, scenario.hash, seed, 1)

    def fill(self, store: Store, **others: Any) -> None:
        """Run the missing runs. Without a backend that supports them, all of them fail."""

        def keep(key: str, outcome: Outcome) -> None:
            self._panels.update(dict.fromkeys(self._labels[key], _panels(outcome, self._kind)))

        def failed(job: Job, error: RunError | BackendError) -> None:
            self._failures.update(dict.fromkeys(self._labels[job.key], str(error)))

        try:
            fill(self._jobs, store, keep=keep, failed=failed, **others)
        except BackendError as error:
            for job in self._jobs:
                failed(job, error)

    def trace(self, label: str, number: int) -> Trace:
        """Return the trace of an algorithm."""
        panels = () if label in self._failures else self._panels[label]
        return Trace(self._kind, self._cell(label, number), panels, self._failures.get(label, ""))

    def _cell(self, label: str, number: int) -> str:
        return f"{self._kind.id}/{short(label, number)}"


def _panels(outcome: Outcome, kind: Kind) -> tuple[Panel, ...]:
    """Return window, RTT and queue over time. The curves of a flow begin when it starts."""
    document: Mapping[str, Any] = json.loads(outcome.result_json)
    links = samples_frame(outcome.link_samples)
    drawing = over_time(
        samples_frame(outcome.flow_samples),
        links.filter(links["link"].cast(str) == _BOTTLENECK),
        document["duration_s"],
        "",
    )
    starts = dict(zip(_FLOWS, kind.starts_s, strict=False))
    return tuple(
        Panel(
            panel.title,
            {
                name: [point for point in curve if point[0] >= starts.get(name, 0.0)]
                for name, curve in panel.curves.items()
            },
        )
        for panel in drawing.panels
        if panel.title in (WINDOW, RTT, QUEUE)
    )
