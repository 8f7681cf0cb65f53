"""Rows of different keys as one table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars


def frame_of(rows: Iterable[Mapping[str, Any]]) -> polars.DataFrame:
    """Return a table with a column for each key of any row, in the order in which keys come.

    A row without a key has no value there. Lists and tables become JSON; where a column has texts beside
    other values, all become texts.
    """
    import polars

    columns: dict[str, list[Any]] = {}
    height = 0
    for height, row in enumerate(rows, 1):
        for key, value in row.items():
            cells = columns.setdefault(key, [])
            cells.extend([None] * (height - 1 - len(cells)))
            cells.append(json.dumps(value) if isinstance(value, (dict, list)) else value)
    for cells in columns.values():
        cells.extend([None] * (height - len(cells)))
        if any(isinstance(cell, str) for cell in cells):
            cells[:] = [cell if cell is None else str(cell) for cell in cells]
    return polars.DataFrame({key: polars.Series(key, cells, strict=False) for key, cells in columns.items()})
