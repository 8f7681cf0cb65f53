"""The cells of a reproduction by name, so that each can be run again."""

from __future__ import annotations

from collections.abc import Iterable

from ackclock.reproduce.runs import Plan
from ackclock.running.cells import Cell, short
from ackclock.running.warned import Warned, gathered, merged


def warnings_of(plans: Iterable[Plan]) -> tuple[Warned, ...]:
    """Return the distinct warnings of the cells of several interpretations, each with its cells."""
    rows = (zip(_names(plan), plan.cells, strict=True) for plan in plans)
    return merged(gathered((name, planned.scenario.warnings) for name, planned in row) for row in rows)


def cells_of(plan: Plan, seed: int) -> dict[str, Cell]:
    """Return the runs of each cell by name."""
    found: dict[str, Cell] = {}
    for name, planned in zip(_names(plan), plan.cells, strict=True):
        values = ", ".join(f"{axis} {value}" for axis, value in planned.values.items())
        found[name] = Cell(
            f"{planned.grid.name}: {values}" if values else planned.grid.name,
            planned.scenario.hash,
            seed,
            len(planned.study.jobs),
        )
    return found


def _names(plan: Plan) -> list[str]:
    """Return the name of each cell: `GRID/VALUE-VALUE`, or `GRID/NUMBER` where a shell would need quotes."""
    names: dict[str, None] = {}
    for number, planned in enumerate(plan.cells):
        name = f"{planned.grid.name}/{short('-'.join(map(str, planned.values.values())), number)}"
        names[name if name not in names else f"{planned.grid.name}/{number}"] = None
    return list(names)
