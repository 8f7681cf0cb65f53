"""Atomic writing: a file is complete or not there, even if the process is killed.

A file is written under a random name that does not exist before. No file or link of another user is opened.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ackclock.errors import writing_error

#: Ends the name of a file that is being written, after the process and random digits.
_PARTIAL = ".partial"
_PARTIAL_NAME = re.compile(r"\.ackclock-(?P<process>\d+)-[0-9a-f]{32}\.partial")
#: A name that is there, or a link, is an error.
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def keeping_runs(path: Path) -> Iterator[None]:
    """Raise `StoreError` for a report that cannot be written. The message says that its runs are kept."""
    try:
        yield
    except OSError as error:
        raise writing_error(
            f"{path}: cannot be written: {error.strerror}; the runs are kept", error
        ) from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is complete or not there. Raises `OSError`."""
    # Another process may be writing the same result.
    partial = path.with_name(f".ackclock-{os.getpid()}-{os.urandom(16).hex()}{_PARTIAL}")
    descriptor = os.open(partial, _NEW | _FLAGS, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def write_target(path: Path, content: bytes) -> None:
    """Write a file that a user names, whole or not at all. A device or a pipe is written directly.

    Raises `OSError`.
    """
    if path.exists() and not path.is_file():
        # Such as /dev/stdout, which is a link.
        with os.fdopen(os.open(path, os.O_WRONLY | _FLAGS & ~getattr(os, "O_NOFOLLOW", 0)), "wb") as device:
            device.write(content)
    else:
        write_whole(path, content)


def open_lock(path: Path) -> BinaryIO:
    """Open a file that is only locked. It is created if it does not exist.

    Raises `OSError`, also for a link, a device or a pipe.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
    file = os.fdopen(os.open(path, flags | _FLAGS, 0o666), "r+b", buffering=0)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return file


def remove_partial(folder: Path) -> None:
    """Remove unfinished files of killed processes."""
    for partial in folder.glob(f"**/*{_PARTIAL}"):
        found = _PARTIAL_NAME.fullmatch(partial.name)
        if found is not None and not _is_alive(int(found["process"])):
            partial.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
