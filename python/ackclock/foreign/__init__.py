"""Algorithms whose code comes with the scenario, as `docs/how-to/write-an-algorithm.md` describes.

The core calls the functions here by their names. `complete_json` completes each user-supplied
algorithm of a scenario. `load_class` loads it as a run begins. `failure` describes an exception of its code.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.foreign.complete import complete_json as complete_json
    from ackclock.foreign.loading import failure as failure
    from ackclock.foreign.loading import load_class as load_class

#: Where the names are. Most scenarios have no such algorithm, so a module is imported at its first use.
_HOME = {"complete_json": "complete", "failure": "loading", "load_class": "loading"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"ackclock.foreign.{_HOME[name]}"), name)


def include_dir() -> str:
    """Return the folder of `ackclock_cc.h`, for a compiler's `-I`."""
    return str(Path(__file__).parents[1] / "include")
