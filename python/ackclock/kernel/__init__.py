"""Algorithms in the running kernel: the compiled objects of the package, loading, listing and unloading."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ackclock import _core
from ackclock.errors import AckclockError
from ackclock.text.suggest import hint

#: How an object's file is called.
SUFFIX = ".bpf.o"
#: The program that runs rules given as text. It is also the default name of a rule.
_RULE = "rule"
#: Characters of a rule that `cc list` shows.
_LONGEST_RULE = 500
#: Names of algorithms whose files are called otherwise.
_ALIASES = {"aimd-fc+": "aimd_fc_plus"}


class KernelError(AckclockError):
    """The reason why an algorithm cannot run in the kernel."""


@dataclass(frozen=True)
class InKernel:
    """A congestion control of the running kernel."""

    #: The value for `TCP_CONGESTION`.
    name: str
    #: The algorithm that ackclock loaded under the name. Empty for one of the kernel or of another program.
    algorithm: str
    #: Its parameters.
    parameters: Mapping[str, float]


def folder() -> Path:
    """Return the folder with the compiled objects of the package."""
    return Path(str(files(__package__) / "objects"))


def algorithms() -> list[str]:
    """Return the algorithms that can be loaded, by their names in scenarios."""
    names = sorted(path.name.removesuffix(SUFFIX) for path in folder().glob(f"*{SUFFIX}"))
    return [name.replace("_", "-") for name in names if name != _RULE]


def object_of(algorithm: str) -> Path:
    """Return the file of an algorithm: one of the package by its name, or one's own. Raises `KernelError`."""
    if algorithm.endswith(".o"):
        return Path(algorithm)
    if algorithm == _RULE:
        raise KernelError("a rule is its text: --rule 'grow = 1 / w; cut = w / 2', or a file such as my.rule")
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


def compiled(rule: Mapping[str, Any]) -> bytes:
    """Return the object of a rule given as text, a `cc` of kind "rule". Raises `KernelError`."""
    try:
        return _core.compile_rule(str(folder() / f"{_RULE}{SUFFIX}"), json.dumps(rule))
    except _core.RunError as error:
        raise KernelError(f"{_RULE}: {error}") from None


def with_parameters(rule: Mapping[str, Any], parameters: Mapping[str, float]) -> dict[str, Any]:
    """Return a rule with other numbers for its parameters. Raises `KernelError`."""
    known = _numbers(rule)
    for name in parameters:
        if name not in known:
            raise KernelError(f"{_RULE}: it takes no parameter {name}; {hint(name, list(known))}")
    return {**rule, **parameters}


def load(algorithm: str | Mapping[str, Any], parameters: Mapping[str, float], name: str = "") -> str:
    """Load an algorithm, or a rule given as text, until it is unloaded, and return its name.

    Raises `KernelError`.
    """
    with _prepared(algorithm, parameters, name) as (path, given, name, about):
        _core.kernel_load(path, given, name, about)
    return name


def attach(
    algorithm: str | Mapping[str, Any], parameters: Mapping[str, float], name: str = ""
) -> tuple[str, _core.KernelLink]:
    """Load an algorithm, or a rule, until the link is closed or this process ends, however it ends.

    Returns its name and the link. Raises `KernelError`.
    """
    with _prepared(algorithm, parameters, name) as (path, given, name, about):
        return name, _core.kernel_attach(path, given, name, about)


@contextmanager
def _prepared(
    algorithm: str | Mapping[str, Any], parameters: Mapping[str, float], name: str
) -> Iterator[tuple[str, list[tuple[str, float]], str, str]]:
    """Give the object's file, its parameters, the name and its description."""
    with TemporaryDirectory(prefix="ackclock-") as temporary:
        if isinstance(algorithm, str):
            called, said, given = algorithm, algorithm, dict(parameters)
            path, name = object_of(algorithm), name or name_of(algorithm)
        else:
            rule = with_parameters(algorithm, parameters)
            called, said, given = _RULE, _text(rule), _numbers(rule)
            path, name = Path(temporary) / f"{_RULE}{SUFFIX}", name or _RULE
            path.write_bytes(compiled(rule))
        about = json.dumps({"algorithm": said, "parameters": given})
        try:
            # The numbers of a rule are in its object.
            yield str(path), list(given.items()) if called != _RULE else [], name, about
        except _core.RunError as error:
            raise KernelError(f"{called}: {error}") from None


def _numbers(rule: Mapping[str, Any]) -> dict[str, float]:
    """Return the parameters of a rule."""
    return {key: float(value) for key, value in rule.items() if not isinstance(value, str)}


def _text(rule: Mapping[str, Any]) -> str:
    """Return a rule on one line, without its parameters."""
    parts = []
    for key, text in rule.items():
        if key in ("grow", "cut"):
            parts.append(f"{key} = {text}")
        elif isinstance(text, str) and key != "kind":
            parts += [f"{key} {statement.strip()}" for statement in text.split(";") if statement.strip()]
    line = f"{_RULE} {'; '.join(parts)}"
    return line if len(line) <= _LONGEST_RULE else f"{line[:_LONGEST_RULE]}..."


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
