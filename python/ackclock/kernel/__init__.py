"""Algorithms in the running kernel: the compiled objects of the package, loading, listing and unloading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ackclock import _core
from ackclock.errors import AckclockError
from ackclock.text.suggest import hint

#: How an object's file is called.
SUFFIX = ".bpf.o"
#: Names of algorithms whose files are called otherwise.
_ALIASES = {"aimd-fc+": "aimd_fc_plus"}


class KernelError(AckclockError):
    """What keeps an algorithm out of the kernel."""


@dataclass(frozen=True)
class InKernel:
    """A congestion control of the running kernel."""

    #: What `TCP_CONGESTION` takes.
    name: str
    #: What ackclock loaded under the name; empty for one of the kernel, or of another program.
    algorithm: str
    #: Its parameters.
    parameters: Mapping[str, float]


def folder() -> Path:
    """Return the folder with the compiled objects of the package."""
    return Path(str(files(__package__) / "objects"))


def algorithms() -> list[str]:
    """Return the algorithms that can be loaded, by their names in scenarios."""
    names = sorted(path.name.removesuffix(SUFFIX) for path in folder().glob(f"*{SUFFIX}"))
    return [name.replace("_", "-") for name in names]


def object_of(algorithm: str) -> Path:
    """Return the file of an algorithm: one of the package by its name, or one's own. Raises `KernelError`."""
    if algorithm.endswith(".o"):
        return Path(algorithm)
    name = _ALIASES.get(algorithm, algorithm).replace("-", "_")
    path = folder() / f"{name}{SUFFIX}"
    if "/" in algorithm or not path.is_file():
        raise KernelError(
            f"no algorithm for the kernel is called {algorithm!r}; {hint(algorithm, algorithms())}; one of "
            "your own is a file such as my_cc.bpf.o"
        )
    return path


def name_of(algorithm: str) -> str:
    """Return the name under which an algorithm is loaded unless another is given."""
    return object_of(algorithm).name.removesuffix(SUFFIX).removesuffix(".o")


def load(algorithm: str, parameters: Mapping[str, float], name: str = "") -> str:
    """Load an algorithm to stay until it is unloaded; return its name. Raises `KernelError`."""
    path, name, about = _checked(algorithm, parameters, name)
    try:
        _core.kernel_load(str(path), list(parameters.items()), name, about)
    except _core.RunError as error:
        raise KernelError(f"{algorithm}: {error}") from None
    return name


def attach(algorithm: str, parameters: Mapping[str, float], name: str = "") -> tuple[str, _core.KernelLink]:
    """Load an algorithm until the link is closed or this process ends, however it ends.

    Returns its name and the link. Raises `KernelError`.
    """
    path, name, about = _checked(algorithm, parameters, name)
    try:
        return name, _core.kernel_attach(str(path), list(parameters.items()), name, about)
    except _core.RunError as error:
        raise KernelError(f"{algorithm}: {error}") from None


def _checked(algorithm: str, parameters: Mapping[str, float], name: str) -> tuple[Path, str, str]:
    about = json.dumps({"algorithm": algorithm, "parameters": dict(parameters)})
    return object_of(algorithm), name or name_of(algorithm), about


def listing() -> list[InKernel]:
    """Return the congestion controls of the kernel. Raises `KernelError`."""
    try:
        rows = _core.kernel_list()
    except _core.RunError as error:
        raise KernelError(f"the kernel: {error}") from None
    found = []
    for name, about in rows:
        try:
            said = json.loads(about or "{}")
        except ValueError:
            said = {}
        found.append(InKernel(name, said.get("algorithm", ""), said.get("parameters", {})))
    return found


def unload(name: str) -> None:
    """Take an algorithm that ackclock loaded out of the kernel. Raises `KernelError`."""
    try:
        _core.kernel_unload(name)
    except _core.RunError as error:
        raise KernelError(str(error)) from None
