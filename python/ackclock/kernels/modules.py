"""Kernel modules of users, compiled for one kernel and kept with it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path, PurePath

from ackclock.errors import InputError
from ackclock.kernels.recipe import build_environment, check_tools, locked
from ackclock.kernels.store import Kernel

#: The folder of compiled modules in the folder of a kernel.
MODULES = "modules"
#: Lines of the compiler that a message contains.
_LINES = 12
_UNNAMED = re.compile(r"[^A-Za-z0-9_]+")
#: A message of the compiler, and a message of the checks after it.
_FAULT, _CHECK = re.compile(r":\d+:\d+: (error|warning|fatal error): "), "ERROR: modpost: "
#: A warning that is a mistake: the kernel would read behind the name.
_TOO_LONG = "initializer-string for array of"


def build(kernel: Kernel, source: str, code: str) -> Path:
    """Return a module for a kernel, compiled from the text of a source file.

    A module that is compiled already is returned at once. Raises `InputError` with the compiler's lines if it
    does not compile, or if the kernel's build tree is absent.
    """
    name = _UNNAMED.sub("_", PurePath(source).stem)
    target = kernel.folder / MODULES / f"{name}-{_digest(name, code)[:16]}.ko"
    if target.is_file():
        return target
    if (tree := kernel.tree) is None:
        raise InputError(
            f"{source}: cannot be compiled without the build tree of {kernel.name}; "
            f"build it again: ackclock kernel build {kernel.source}"
        )
    check_tools()
    target.parent.mkdir(exist_ok=True)
    # Two builds in one tree would disturb each other.
    with locked(target.parent, waits=True), tempfile.TemporaryDirectory() as folder:
        if not target.is_file():
            _compile(tree, Path(folder), name, source, code)
            # Another process sees the whole file or none.
            new = target.with_suffix(f".{os.getpid()}")
            shutil.copyfile(Path(folder, f"{name}.ko"), new)
            new.rename(target)
    return target


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _compile(tree: Path, folder: Path, name: str, source: str, code: str) -> None:
    (folder / f"{name}.c").write_text(code, encoding="utf-8")
    (folder / "Makefile").write_text(f"obj-m := {name}.o\n")
    words = ["make", "-C", str(tree / "source"), "ARCH=um", f"O={tree / 'out'}", f"M={folder}", "modules"]
    done = subprocess.run(
        words,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**build_environment(), "LOCALVERSION": ""},
        encoding="utf-8",
        errors="replace",
    )
    said = done.stderr.replace(f"{folder}/{name}.c", source).replace(f"{folder}/", "")
    lines = [line.rstrip() for line in said.splitlines()]
    is_too_long = any(_TOO_LONG in line and "warning" in line for line in lines)
    if done.returncode == 0 and not is_too_long:
        subprocess.run(["strip", "--strip-debug", folder / f"{name}.ko"], check=True, env=build_environment())
        return
    raise InputError(_refusal(source, lines))


def _refusal(source: str, lines: list[str]) -> str:
    """Return the message about a module that does not compile, with the compiler's lines."""
    checks = [line.removeprefix(_CHECK) for line in lines if line.startswith(_CHECK)]
    first = next((index for index, line in enumerate(lines) if _FAULT.search(line)), 0)
    shown = checks or [line for line in lines[first:] if not line.startswith("make")]
    return "\n  ".join([f"{source} does not compile:", *shown[:_LINES]])
