"""The data that pages keep of their cells, so that a browser can repeat the runs."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ackclock import _core
from ackclock.page.interactive import Kept, figures_kept
from ackclock.running.cells import Cell
from ackclock.running.job import SIM, Job
from ackclock.running.settable import settable
from ackclock.running.store import Store

_MISSING = "No run of this cell is stored, as the algorithm failed before."
_FOREIGN = "user-supplied code does not run in a browser. The command runs this cell again."
_EMULATED = "This cell ran with the TCP of a Linux kernel, which does not run in a browser."


def kept(
    store: Store, cells: Mapping[str, Cell], backend: str = SIM, watched: Mapping[str, str] | None = None
) -> dict[str, Kept]:
    """Return the data that a page keeps of cells. `watched` contains groups of flows by the name of a cell.

    Cells of algorithms that failed may not be stored.
    """
    most = figures_kept(len(cells))
    return {
        name: _kept(store, cell, backend, most, "" if watched is None else watched.get(name, ""))
        for name, cell in cells.items()
    }


def _kept(store: Store, cell: Cell, backend: str, most: int, watched: str) -> Kept:
    scenario = store.scenario(cell.scenario_hash)
    if scenario is None:
        return Kept(cell.title, "{}", cell.scenario_hash, cell.seed, 0, {}, refusal=_MISSING)
    jobs = (
        Job(cell.title, scenario, cell.scenario_hash, cell.seed, replicate, backend=backend)
        for replicate in range(min(cell.replicates, most))
    )
    found = ((job.replicate, store.get(job)) for job in jobs)
    return Kept(
        cell.title,
        json.dumps(settable(json.loads(scenario))),
        cell.scenario_hash,
        cell.seed,
        cell.replicates,
        {at: json.loads(outcome.result_json)["summary"] for at, outcome in found if outcome is not None},
        watched,
        refusal(scenario, backend),
    )


def refusal(scenario: str, backend: str = SIM) -> str:
    """Return why a resolved scenario does not run in a browser. Empty if it does."""
    if backend != SIM:
        return _EMULATED
    names = [source for _, source, _ in _core.Scenario.from_json(scenario, "<stored>").foreign]
    return f"{', '.join(names)}: {_FOREIGN}" if names else ""
