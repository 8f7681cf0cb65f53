"""Algorithms whose code comes with the scenario; `docs/how-to/write-an-algorithm.md`.

The core calls the functions here by their names: `complete_json` for each algorithm from outside as a
scenario is read, `load_class` as a run begins, `failure` for an exception of its code.
"""

from __future__ import annotations

from pathlib import Path

from ackclock.foreign.complete import complete_json as complete_json
from ackclock.foreign.loading import failure as failure
from ackclock.foreign.loading import load_class as load_class


def include_dir() -> str:
    """Return the folder of `ackclock_cc.h`, for a compiler's `-I`."""
    return str(Path(__file__).parents[1] / "include")
