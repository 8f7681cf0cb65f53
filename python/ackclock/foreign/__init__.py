"""Algorithms whose code comes with the scenario, as `docs/how-to/write-an-algorithm.md` describes.

The core calls the functions here by their names. `complete_json` completes each user-supplied
algorithm of a scenario. `load_class` loads it as a run begins. `failure` describes an exception of its code.
"""

from __future__ import annotations

from pathlib import Path

from ackclock.foreign.complete import complete_json as complete_json
from ackclock.foreign.loading import failure as failure
from ackclock.foreign.loading import load_class as load_class


def include_dir() -> str:
    """Return the folder of `ackclock_cc.h`, for a compiler's `-I`."""
    return str(Path(__file__).parents[1] / "include")
