"""Backends of a scenario: the simulation, the running kernel in real time, a kernel in virtual time."""

from __future__ import annotations

import os
from typing import Any

from ackclock import _core
from ackclock.errors import ArgumentValueError, BackendError
from ackclock.running.executor import default_workers
from ackclock.running.job import BACKENDS, KERNEL, LINUX, kernel_of, kind_of, with_kernel

#: Threads of an emulation that must not wait for a core.
_PROMPT_THREADS = 2


def chosen(backend: str, kernel: str | None = None) -> str:
    """Return a backend as jobs contain it.

    `kernel` is a version, a name or a path, by default the kernel that was built last. Raises
    `ArgumentValueError` for an unknown backend, or a kernel of another backend. Raises `InputError` if the
    kernel is not built, or this machine cannot run it.
    """
    if backend not in BACKENDS and kind_of(backend) != KERNEL:
        raise ArgumentValueError("backend", f"is {backend!r}, but must be one of {', '.join(BACKENDS)}")
    if kernel is not None and backend != KERNEL:
        raise ArgumentValueError("kernel", f"needs the backend {KERNEL}, and not {backend}")
    if backend != KERNEL:
        return backend
    # Imported here: most commands use no kernel.
    from ackclock.kernels import store as kernels

    kernels.check_host()
    return with_kernel(kernels.find(kernel).name)


def title(backend: str) -> str:
    """Return the name of a backend on pages."""
    # Imported here: commands start without pages.
    from ackclock.page import BACKENDS as TITLES

    name = kernel_of(backend)
    return f"{TITLES[kind_of(backend)]}{f' ({name})' if name else ''}"


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
            f"--backend linux needs namespaces, which this user may not create ({error}); run it as root"
        ) from None


def workers_for(backend: str, workers: int | None) -> int | None:
    """Return how many runs of a backend to do at once: by default as many as can keep their times."""
    if backend != LINUX or workers is not None:
        return workers
    return max(1, default_workers() // _PROMPT_THREADS)


def faults(document: dict[str, Any]) -> list[str]:
    """Return why the result of a run in real time is not valid. Empty for all other runs."""
    found: list[str] = document.get("emulation", {}).get("reasons", [])
    return found
