"""Sources of kernels: Debian's packages, tarballs and folders, and the copy that is built."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ackclock.errors import InputError
from ackclock.kernels import edits

#: The packages that a build of any source needs.
PACKAGES = "flex bison bc libelf-dev gcc make libc6-dev"
_VERSION = re.compile(r"\d+\.\d+(\.\d+)*")
_PACKED = (".tar.xz", ".tar.gz", ".tar.bz2", ".tar.zst", ".tar")
#: Assignments of the top Makefile that make up the version of a kernel.
_PARTS = ("VERSION", "PATCHLEVEL", "SUBLEVEL", "EXTRAVERSION")
#: The file in a build folder that contains the digest of the unpacked tarball.
_UNPACKED = "unpacked"


@dataclass(frozen=True)
class Source:
    """A kernel's source: a tarball or a folder."""

    #: The name that a user gives: a version, or an absolute path.
    name: str
    path: Path

    @classmethod
    def of(cls, name: str, packages: Path = Path("/usr/src")) -> Source:
        """Return the source of a version or a path. Raises `InputError` if it is absent."""
        if _VERSION.fullmatch(name):
            stem = f"linux-source-{name}"
            for folder in (packages, packages / stem):
                for suffix in _PACKED:
                    if (path := folder / f"{stem}{suffix}").is_file():
                        return cls(name, path)
            raise InputError(
                f"{packages} contains no source of Linux {name}: apt-get install {stem} {PACKAGES}; "
                "or give the path of a source tree"
            )
        path = Path(name).expanduser().absolute()
        if path.is_dir():
            if not (path / "arch/um").is_dir():
                raise InputError(f"{name}: is not a source tree of Linux: it contains no folder arch/um")
        elif not path.is_file():
            raise InputError(f"{name}: is neither a version such as 6.12 nor a source tree or tarball")
        elif not name.endswith(_PACKED):
            raise InputError(f"{name}: is not a tarball: expected a name that ends with {', '.join(_PACKED)}")
        return cls(str(path), path)

    @property
    def folder(self) -> str:
        """The name of the folder that the source is built in. A path has its own folder."""
        if _VERSION.fullmatch(self.name):
            return self.name
        stem = re.sub(r"[^A-Za-z0-9.]+", "-", self.path.name)
        return f"{stem}-{hashlib.sha256(self.name.encode()).hexdigest()[:8]}"

    def copy(self, folder: Path) -> tuple[Path, str]:
        """Unpack or copy the source to `folder`. Returns the tree and the digest of the source.

        A second copy transfers only changed files. Raises `InputError`.
        """
        tree, noted = folder / "source", folder / _UNPACKED
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.is_dir():
                return tree, _mirror(self.path, tree)
            with self.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if not noted.is_file() or noted.read_text() != digest:
                shutil.rmtree(tree, ignore_errors=True)
                _unpack(self.path, tree)
                noted.write_text(digest)
        except OSError as error:
            raise InputError(f"{error.filename or folder}: {error.strerror}") from None
        return tree, digest


def _unpack(tarball: Path, tree: Path) -> None:
    tree.mkdir(parents=True)
    done = subprocess.run(
        ["tar", "-xf", tarball, "-C", tree, "--strip-components=1", "--no-same-owner"],
        check=False,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode != 0 or not (tree / "arch/um").is_dir():
        lines = done.stderr.strip().splitlines() or ["it contains no folder arch/um"]
        raise InputError(f"{tarball}: cannot be unpacked as a source of Linux: {lines[-1]}")


def _mirror(source: Path, tree: Path) -> str:
    """Make a tree equal to a source folder. Returns the digest of names and contents."""
    digest = hashlib.sha256()
    names = _tracked(source) or _files(source)
    for name in sorted(_files(tree) - names):
        if not Path(name).is_relative_to(edits.AGENT) and Path(name) != edits.SEED:
            (tree / name).unlink()
    for name in sorted(names):
        path, target = source / name, tree / name
        digest.update(name.encode(errors="surrogateescape") + b"\0")
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            digest.update(os.fsencode(path.readlink()) + b"\0")
            target.unlink(missing_ok=True)
            target.symlink_to(path.readlink())
            continue
        content = path.read_bytes()
        digest.update(hashlib.sha256(content).digest())
        if not target.is_file() or target.read_bytes() != content:
            shutil.copy2(path, target)
    return digest.hexdigest()


def _tracked(folder: Path) -> set[str]:
    """Return the files of a working copy of git without the ignored ones. Empty for another folder."""
    if not (folder / ".git").exists() or shutil.which("git") is None:
        return set()
    listed = subprocess.run(
        ["git", "-C", folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="surrogateescape",
    )
    names = {name for name in listed.stdout.split("\0") if name}
    return {name for name in names if (folder / name).is_file() or (folder / name).is_symlink()}


def _files(folder: Path) -> set[str]:
    """Return the files and links below a folder, without the folder `.git`."""
    found = set()
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        links = [name for name in folders if (Path(at) / name).is_symlink()]
        below = os.path.relpath(at, folder)
        found |= {os.path.normpath(f"{below}/{name}") for name in [*files, *links] if name != ".git"}
    return found


def version_of(tree: Path) -> str:
    """Return the version of a source tree, such as 6.12.117. Raises `InputError`."""
    try:
        text = (tree / "Makefile").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{tree}: is not a source tree of Linux: Makefile: {error.strerror}") from None
    lines = [line.partition("=") for line in text.splitlines()[:20]]
    parts = {name.strip(): value.strip() for name, sign, value in lines if sign}
    if any(name not in parts for name in _PARTS):
        raise InputError(f"{tree}: is not a source tree of Linux: its Makefile contains no version")
    return ".".join(parts[name] for name in _PARTS[:3]) + parts[_PARTS[3]]
