"""The built kernels of a user, side by side in a folder."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ackclock.errors import InputError
from ackclock.text.suggest import hint

#: The folder of the kernels, if it is not in the user's cache.
VARIABLE = "ACKCLOCK_KERNELS"
#: Files of a kernel's folder.
IMAGE, DOCUMENT = "linux", "kernel.json"
#: The folder of build trees, and the file in each that names the kernel built from it.
BUILD, BUILT = "build", "kernel"
_BUILD_COMMAND = "ackclock kernel build"
#: Where a guest keeps its memory.
_MEMORY = "/dev/shm"
#: A program that succeeds if it may be traced: `PTRACE_TRACEME` is 0.
_TRACE = "import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0, 0, 0, 0) != 0)"


@dataclass(frozen=True)
class Digests:
    """SHA-256 of the files of a kernel."""

    image: str
    config: str


@dataclass(frozen=True)
class Kernel:
    """A built kernel."""

    #: The name of its folder: the version and 8 digits of the recipe.
    name: str
    version: str
    #: The name of the source: a version, or a path.
    source: str
    #: The digest of the recipe: source, configuration, files of the guest, compiler.
    recipe: str
    sha256: Digests
    #: Wished options that the source lacks.
    missing: tuple[str, ...]
    #: Seconds since 1970.
    built: int
    #: The folder that contains the image.
    folder: Path

    @property
    def image(self) -> Path:
        """The program that is the kernel."""
        return self.folder / IMAGE

    @property
    def title(self) -> str:
        """The kernel's name in tables and reports."""
        return f"Linux {self.version} in virtual time"

    @property
    def tree(self) -> Path | None:
        """The folder that the kernel was built in. None if it was removed, or contains another kernel."""
        for noted in (self.folder.parent / BUILD).glob(f"*/{BUILT}"):
            if noted.read_text() == self.name:
                return noted.parent
        return None

    def document(self) -> dict[str, Any]:
        """Return the content of `kernel.json`."""
        fields = asdict(self)
        del fields["folder"]
        return fields


def check_machine() -> None:
    """Raise `InputError` if kernels of this backend cannot run on this machine."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise InputError(
            "--backend kernel needs Linux on an x86-64 processor, "
            f"this is {platform.system()} on {platform.machine()}"
        )


def check_host() -> None:
    """Raise `InputError` if this machine, or a container around this process, denies the needs of a guest."""
    check_machine()
    try:
        with tempfile.TemporaryFile(dir=_MEMORY) as file:
            file.truncate(mmap.PAGESIZE)
            mmap.mmap(file.fileno(), mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
    except OSError as error:
        raise InputError(
            f"--backend kernel keeps the memory of guests in {_MEMORY}, with execute permission: "
            f"{error.strerror}; remount it: mount -o remount,exec {_MEMORY}"
        ) from None
    # A process of its own, because a traced one stays traced.
    traced = subprocess.run([sys.executable, "-S", "-c", _TRACE], check=False, stderr=subprocess.DEVNULL)
    if traced.returncode != 0:
        raise InputError(
            "--backend kernel needs ptrace, which this machine denies; in a container, allow it: "
            "--cap-add SYS_PTRACE"
        )


def folder() -> Path:
    """Return the folder of the built kernels."""
    if given := os.environ.get(VARIABLE):
        return Path(given).absolute()
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # The rule of XDG: a relative path is ignored.
    root = Path(cache) if cache.startswith("/") else Path.home() / ".cache"
    return root / "ackclock" / "kernels"


def kernels() -> list[Kernel]:
    """Return all built kernels, the newest first. Raises `InputError` for one that cannot be read."""
    found = [load(path.parent) for path in folder().glob(f"*/{DOCUMENT}")]
    return sorted(found, key=lambda kernel: (-kernel.built, kernel.name))


def load(path: Path) -> Kernel:
    """Return the kernel of a folder. Raises `InputError` if its document cannot be read."""
    try:
        fields = json.loads((path / DOCUMENT).read_text(encoding="utf-8"))
        digests = fields.pop("sha256")
        missing = tuple(fields.pop("missing"))
        return Kernel(
            **fields, sha256=Digests(digests["image"], digests["config"]), missing=missing, folder=path
        )
    except OSError as error:
        raise InputError(f"{path / DOCUMENT}: cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputError(
            f"{path / DOCUMENT}: describes no kernel of this ackclock; remove {path}, and build it again"
        ) from None


def find(which: str | None = None) -> Kernel:
    """Return a built kernel: the newest, or the newest of a version, a name or a path.

    A path is a source that was built. Raises `InputError` if there is no such kernel, or its files differ
    from its document.
    """
    built = kernels()
    if not built:
        command = _BUILD_COMMAND if which is None else f"{_BUILD_COMMAND} {which}"
        raise InputError(f"no kernel is built in {folder()}; build one: {command}")
    if which is None:
        return _checked(built[0])
    path = str(Path(which).expanduser().absolute())
    for kernel in built:
        if which == kernel.name or kernel.source in (which, path) or _begins(kernel.version, which):
            return _checked(kernel)
    raise InputError(
        f"kernel {which} is not built; {hint(which, [kernel.name for kernel in built])}; "
        f"build it: {_BUILD_COMMAND} {which}"
    )


def named(name: str) -> Kernel:
    """Return the built kernel of a name. Raises `InputError` if there is none."""
    names = [kernel.name for kernel in kernels()]
    if name not in names:
        raise InputError(f"no kernel is called {name!r}; {hint(name, names)}")
    return load(folder() / name)


def remove(kernel: Kernel, *, only_tree: bool = False) -> None:
    """Remove a kernel and its build tree, or only the tree. Raises `InputError` if that fails."""
    tree = kernel.tree
    if only_tree and tree is None:
        raise InputError(f"{kernel.name}: has no build tree")
    try:
        if tree is not None:
            shutil.rmtree(tree)
        if not only_tree:
            shutil.rmtree(kernel.folder)
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be removed: {error.strerror}") from None


def digest(path: Path) -> str:
    """Return the SHA-256 of a file. Raises `OSError`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _begins(version: str, wanted: str) -> bool:
    return version == wanted or version.startswith((f"{wanted}.", f"{wanted}-"))


def _checked(kernel: Kernel) -> Kernel:
    """Return a kernel whose image is the one of its document."""
    try:
        is_same = digest(kernel.image) == kernel.sha256.image
    except OSError as error:
        raise InputError(f"{kernel.image}: cannot be read: {error.strerror}; {_again(kernel)}") from None
    if not is_same:
        raise InputError(f"{kernel.image}: differs from the file that was built; {_again(kernel)}")
    return kernel


def _again(kernel: Kernel) -> str:
    return f"build it again: ackclock kernel remove {kernel.name} && {_BUILD_COMMAND} {kernel.source}"
