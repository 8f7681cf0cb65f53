"""The recipe of a kernel: source, edits, configuration, build."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ackclock.errors import InputError
from ackclock.files.writing import open_lock
from ackclock.kernels import edits
from ackclock.kernels.source import PACKAGES, Source, version_of
from ackclock.kernels.store import (
    BUILD,
    BUILT,
    DOCUMENT,
    IMAGE,
    Digests,
    Kernel,
    check_machine,
    digest,
    folder,
    load,
)

#: A function of the finished and of all steps of a build.
Progress = Callable[[int, int], None]

#: The guest's sources in the package.
GUEST = Path(__file__).parent / "guest"
#: Programs that a build calls.
TOOLS = ("make", "gcc", "ld", "strip", "flex", "bison", "bc", "tar", "xz")
#: The comment of the configuration before its optional part.
_OPTIONAL = "# Optional"
#: Lines that a build of the whole kernel prints, about.
_STEPS = 1130
#: The version text is an input of the kernel's random numbers, so it is the same in all builds.
_FIXED = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_VERSION": "1",
    "KBUILD_BUILD_USER": "ackclock",
    "KBUILD_BUILD_HOST": "ackclock",
}
#: A line of a finished step, and a line that names an error.
_STEP, _ERROR = re.compile(r"  [A-Z]"), re.compile(r"\berror\b|\*\*\*", re.IGNORECASE)
#: Files of a build inside the source tree, which make refuses.
_UNCLEAN = (".config", "include/config", "arch/x86/include/generated")


def build(source: str, *, jobs: int = 1, progress: Progress = lambda done, total: None) -> Kernel:
    """Build a kernel from Debian's source of a version, from a source tree or from a tarball.

    A kernel that is built already, with its tree, is returned at once. Raises `InputError` if this machine
    cannot build it, the source is absent or cannot be edited, or a step fails.
    """
    check_machine()
    given = Source.of(source)
    check_tools()
    place = folder() / BUILD / given.folder
    with locked(place):
        tree, source_digest = given.copy(place)
        version = version_of(tree)
        recipe = recipe_digest(source_digest, GUEST, _compiler())
        name = f"{version}-{recipe[:8]}"
        target, built = folder() / name, place / BUILT
        if (target / DOCUMENT).is_file() and built.is_file() and built.read_text() == name:
            return load(target)
        built.unlink(missing_ok=True)
        run = _Run(f"Linux {version}", place / "build.log")
        make = ["make", "-C", str(tree), "ARCH=um", f"O={place / 'out'}", "LOCALVERSION="]
        if any((tree / path).exists() for path in _UNCLEAN):
            run([*make[:-2], "mrproper"])
        edits.apply(tree, version)
        edits.add_files(tree, GUEST)
        run([*make, "allnoconfig"], KCONFIG_ALLCONFIG=str(GUEST / "config"))
        missing = lacking(GUEST / "config", place / "out/.config", version)
        run([*make, f"-j{jobs}", "linux", "modules"], progress=progress)
        kernel = _stored(
            run,
            place / "out",
            target,
            Kernel(name, version, given.name, recipe, Digests("", ""), missing, int(time.time()), target),
        )
        built.write_text(name)
    return kernel


def check_tools() -> None:
    """Raise `InputError` if a program that the build needs is missing."""
    if absent := [tool for tool in TOOLS if shutil.which(tool) is None]:
        raise InputError(f"{', '.join(absent)}: not installed; install: apt-get install {PACKAGES}")


def recipe_digest(source: str, guest: Path, compiler: str) -> str:
    """Return the digest of everything that a kernel depends on."""
    inputs = [source, compiler, repr(edits.EDITS), repr(sorted(_FIXED.items()))]
    paths = [guest / "config", guest / "seed.c", *edits.agent_files(guest)]
    inputs += [f"{path.relative_to(guest)} {digest(path)}" for path in paths]
    return hashlib.sha256("\0".join(inputs).encode()).hexdigest()


def lacking(wished: Path, configured: Path, version: str) -> tuple[str, ...]:
    """Return the optional options of a configuration that a kernel lacks.

    Raises `InputError` for options that are needed.
    """
    needed, _, optional = wished.read_text(encoding="utf-8").partition(_OPTIONAL)
    has = set(configured.read_text(encoding="utf-8").splitlines())
    if absent := [line for line in _options(needed) if line not in has]:
        raise InputError(f"Linux {version}: cannot be configured with {', '.join(absent)}")
    return tuple(
        line.partition("=")[0].removeprefix("CONFIG_") for line in _options(optional) if line not in has
    )


def _options(text: str) -> list[str]:
    return re.findall(r"^CONFIG_\w+=.+$", text, re.MULTILINE)


def _compiler() -> str:
    """Return the versions of the compiler and the linker, which the kernel's version text contains."""
    texts = [
        subprocess.run(
            [tool, "--version"], check=True, stdout=subprocess.PIPE, env=build_environment(), encoding="utf-8"
        )
        for tool in ("gcc", "ld")
    ]
    return "\n".join(text.stdout.splitlines()[0] for text in texts)


def build_environment() -> dict[str, str]:
    """Return the environment of a build. Variables of the user do not change the kernel."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LC_ALL": "C", **_FIXED}


@contextmanager
def locked(place: Path, *, waits: bool = False) -> Iterator[None]:
    """Keep other builds out of a folder. Waits for another one, or raises `InputError` if one is there."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        with open_lock(place / "lock") as file:
            fcntl.flock(file, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except BlockingIOError:
        raise InputError(f"{place}: another build is running there") from None
    except subprocess.CalledProcessError as error:
        raise InputError(f"{error.cmd[0]}: failed with exit code {error.returncode}") from None
    except OSError as error:
        raise InputError(f"{error.filename or place}: {error.strerror}") from None


class _Run:
    """The commands of a build, whose output goes to a file."""

    def __init__(self, title: str, log: Path) -> None:
        self._title, self._log = title, log
        log.unlink(missing_ok=True)

    def __call__(
        self, words: Sequence[str], *, progress: Progress = lambda done, total: None, **environment: str
    ) -> None:
        """Run a command. Raises `InputError` with its first error if it fails."""
        steps, errors = 0, []
        with (
            self._log.open("a", buffering=1, encoding="utf-8") as log,
            subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**build_environment(), **environment},
                encoding="utf-8",
                errors="replace",
            ) as process,
        ):
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    log.write(line)
                    if _STEP.match(line):
                        steps += 1
                        progress(steps, max(steps + 1, _STEPS))
                    elif _ERROR.search(line):
                        errors.append(line.strip())
            except BaseException:
                process.terminate()
                raise
        if process.returncode != 0:
            reason = errors[0] if errors else f"exit code {process.returncode}"
            raise InputError(f"{self._title}: {words[0]} failed: {reason}; see {self._log}")


def _stored(run: _Run, out: Path, target: Path, kernel: Kernel) -> Kernel:
    """Put a kernel's files into its folder, whole or not at all."""
    new = Path(tempfile.mkdtemp(dir=target.parent, prefix=".new-"))
    try:
        new.chmod(0o755)
        run(["strip", "-o", str(new / IMAGE), str(out / "linux")])
        kernel = replace(kernel, sha256=Digests(digest(new / IMAGE), digest(out / ".config")))
        (new / DOCUMENT).write_text(json.dumps(kernel.document(), indent=2) + "\n")
        shutil.rmtree(target, ignore_errors=True)
        new.rename(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return kernel
