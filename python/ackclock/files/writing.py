"""Atomic writing: a file is complete or not there, even if the process is killed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

#: Ends the name of a file that is being written, after the number of the process.
_PARTIAL = ".partial"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is complete or not there. Raises `OSError`."""
    # Another process may be writing the same result.
    partial = path.with_name(f"{path.name}.{os.getpid()}{_PARTIAL}")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def write_target(path: Path, content: bytes) -> None:
    """Write a file that a user names, whole or not at all; a device or a pipe directly. Raises `OSError`."""
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            device.write(content)
    else:
        write_whole(path, content)


def remove_partial(folder: Path) -> None:
    """Remove unfinished files of killed processes."""
    for partial in folder.glob(f"**/*{_PARTIAL}"):
        process = partial.name.removesuffix(_PARTIAL).rpartition(".")[2]
        if process.isdecimal() and not _is_alive(int(process)):
            partial.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
