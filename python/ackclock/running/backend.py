"""Backends of a scenario: the simulation, or the emulator with the kernel's TCP in real time."""

from __future__ import annotations

import os
from typing import Any

from ackclock import _core
from ackclock.errors import BackendError
from ackclock.running.executor import default_workers
from ackclock.running.job import LINUX

#: Threads of an emulation that must not wait for a core.
_PROMPT_THREADS = 2


def prepare(backend: str) -> None:
    """Get ready for runs of a backend, before any thread starts: a user becomes root of a namespace.

    Raises `BackendError` where this user may not emulate.
    """
    if backend != LINUX or not hasattr(os, "geteuid") or os.geteuid() == 0:
        return
    try:
        _core.enter_user_namespace()
    except _core.BackendError as error:
        raise BackendError(
            f"--backend linux makes network namespaces, which this user may not, nor one of users ({error}); "
            "run it as root"
        ) from None


def workers_for(backend: str, workers: int | None) -> int | None:
    """Return how many runs of a backend to do at once: by default as many as can keep their times."""
    if backend != LINUX or workers is not None:
        return workers
    return max(1, default_workers() // _PROMPT_THREADS)


def faults(document: dict[str, Any]) -> list[str]:
    """Return why the result of a run is not valid. Empty for a valid run and for a simulation."""
    found: list[str] = document.get("emulation", {}).get("reasons", [])
    return found
