"""The module for browsers and Node gives the results of native runs."""

from __future__ import annotations

import itertools
from typing import Any

import golden_on_web
import polars
import pytest

import golden


@pytest.mark.parametrize(("place", "every"), [("node", 12), ("chromium", 40)])
def test_runs_give_the_bytes_of_native_ones(place: str, every: int) -> None:
    problem = golden_on_web.missing(place)
    if problem is not None:
        pytest.skip(problem)
    chosen = dict(itertools.islice(golden.scenarios(), 0, None, every))
    assert len(chosen) >= 4
    new = golden_on_web.measured(chosen.items(), place)
    assert golden.differences({name: golden.committed()[name] for name in chosen}, new) == []


def test_columns_are_read_as_they_lie_in_memory() -> None:
    columns: list[dict[str, Any]] = [
        {"name": "time_ns", "kind": "u64", "names": None, "length": 2},
        {"name": "cwnd", "kind": "f64", "names": None, "length": 2},
        {"name": "event", "kind": "u8", "names": ["sent", "dropped"], "length": 2},
        {"name": "again", "kind": "bool", "names": None, "length": 2},
    ]
    data = polars.Series([3, 4], dtype=polars.UInt64).to_numpy().tobytes()
    data += polars.Series([1.5, float("nan")]).to_numpy().tobytes() + bytes([1, 255, 0, 1])
    table, rest = golden_on_web.frame(columns, memoryview(data + b"more"))
    assert table.rows() == [(3, 1.5, "dropped", False), (4, None, None, True)]
    assert bytes(rest) == b"more"
