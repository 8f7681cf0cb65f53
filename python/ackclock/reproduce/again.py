"""The cells of a reproduction by name, so that each can be run again."""

from __future__ import annotations

from ackclock.reproduce.runs import Plan
from ackclock.running.cells import Cell, short


def cells_of(plan: Plan, seed: int) -> dict[str, Cell]:
    """Return the runs of each cell: `GRID/VALUE-VALUE`, or `GRID/NUMBER` where a shell would need quotes."""
    found: dict[str, Cell] = {}
    for number, planned in enumerate(plan.cells):
        name = f"{planned.grid.name}/{short('-'.join(map(str, planned.values.values())), number)}"
        values = ", ".join(f"{axis} {value}" for axis, value in planned.values.items())
        cell = Cell(
            f"{planned.grid.name}: {values}" if values else planned.grid.name,
            planned.scenario.hash,
            seed,
            len(planned.study.jobs),
        )
        found[name if name not in found else f"{planned.grid.name}/{number}"] = cell
    return found
