"""Tables: rows of different keys as one, and samples as they are stored."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars


def frame_of(rows: Iterable[Mapping[str, Any]]) -> polars.DataFrame:
    """Return a table with a column for each key of any row, in the order in which keys come.

    A row without a key has no value there. Lists and tables become JSON. If a column contains texts and other
    values, all become texts.
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


def samples_frame(content: bytes | None) -> polars.DataFrame:
    """Return samples over time from their Parquet file, or an empty table without one."""
    import polars

    return polars.DataFrame() if content is None else polars.read_parquet(io.BytesIO(content))
