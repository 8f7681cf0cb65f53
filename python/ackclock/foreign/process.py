"""Separate processes that run user-supplied code.

A crash there ends one run. The processes are kept for further runs. They end with this process, also if it is
killed, and do not receive Ctrl-C of the terminal.
"""

from __future__ import annotations

import atexit
import contextlib
import mmap
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, Any, ParamSpec, TypeVar

from ackclock import _core
from ackclock.errors import RunError
from ackclock.foreign.source import SESSION

P = ParamSpec("P")
T = TypeVar("T")

#: The size of a frame, in front of it.
FRAME = struct.Struct("<Q")
#: Notes of the worker: callback, count, time in the run in ns, thread.
_NOTES = struct.Struct("=QQQQ")
#: Interval at which to check for the end and for callbacks that do not return.
_CHECK_S = 0.05
#: Time after the limit in which a callback may still end.
_GRACE_S = 2.0
#: How long a worker may take to end by itself.
_END_S = 1.0

#: Set in the process of a worker.
_in_worker = False
_idle: list[Worker] = []
_lock = threading.Lock()


class CrashError(RunError):
    """A process that ended in the middle of a run: how it did, and in which callback."""


class Worker:
    """A process that runs user-supplied code."""

    def __init__(self) -> None:
        self._page = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        self._page.truncate(mmap.PAGESIZE)
        self._notes = mmap.mmap(self._page.fileno(), mmap.PAGESIZE)
        # The worker imports nothing from the current folder and does not receive Ctrl-C.
        command = [sys.executable, "-P", "-m", "ackclock.foreign.worker", str(self._page.fileno())]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[self._page.fileno()],
            process_group=0,
        )

    def call(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], cancel: _core.Cancel | None
    ) -> Any:
        """Call a function in the process, and raise its errors. `Interrupted` and `CrashError` end it."""
        try:
            self._send(pickle.dumps((function, arguments)))
            is_error, result = pickle.loads(self._receive(cancel))
        except BaseException:
            self.end(at_once=True)
            raise
        if is_error:
            raise result
        return result

    def end(self, *, at_once: bool = False) -> None:
        """End the process, and wait for it."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()
        if at_once:
            self._process.kill()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._notes.close()
        self._page.close()

    def _send(self, content: bytes) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(FRAME.pack(len(content)) + content)
            pipe.flush()
        except OSError:
            raise self._crash() from None

    def _receive(self, cancel: _core.Cancel | None) -> bytes:
        pipe = self._process.stdout
        assert pipe is not None
        (size,) = FRAME.unpack(self._read(pipe, FRAME.size, cancel))
        return self._read(pipe, size, cancel)

    def _read(self, pipe: IO[bytes], size: int, cancel: _core.Cancel | None) -> bytes:
        parts = bytearray()
        seen, since = -1, time.monotonic()
        while len(parts) < size:
            if not select.select([pipe], [], [], _CHECK_S)[0]:
                if cancel is not None and cancel.is_set():
                    raise _core.Interrupted("interrupted")
                callback, count, *_ = _NOTES.unpack_from(self._notes)
                if not callback or count != seen:
                    seen, since = count, time.monotonic()
                elif time.monotonic() - since > _core.callback_limit_s() + _GRACE_S:
                    raise CrashError(f"{self._place()} does not end")
                continue
            part = os.read(pipe.fileno(), size - len(parts))
            if not part:
                raise self._crash()
            parts += part
        return bytes(parts)

    def _crash(self) -> CrashError:
        """Return how the process ended."""
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return CrashError(f"its process closed the connection{self._where()}")
        if code < 0:
            with contextlib.suppress(ValueError):
                return CrashError(f"its process was ended by {signal.Signals(-code).name}{self._where()}")
        return CrashError(f"its process ended with exit code {abs(code)}{self._where()}")

    def _place(self) -> str:
        callback, _, now_ns, _ = _NOTES.unpack_from(self._notes)
        return f"{_core.callback_names()[callback]}, at {1e-9 * now_ns:g} s,"

    def _where(self) -> str:
        callback, _, now_ns, _ = _NOTES.unpack_from(self._notes)
        if not callback:
            return ""
        return f" in {_core.callback_names()[callback]}, at {1e-9 * now_ns:g} s"


def is_needed(foreign: Sequence[tuple[str, str, str]]) -> bool:
    """Return whether to run elsewhere: machine code may crash, and of Python one thread runs at a time.

    Programs for the kernel run in a machine that checks them, and may run here.

    `foreign`: kind, source and title of each algorithm, as a scenario of the core has them.
    """
    if is_worker() or any(source.startswith(SESSION) for _, source, _ in foreign):
        return False
    is_free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
    return any(kind == "library" or (kind == "python" and not is_free_threaded) for kind, *_ in foreign)


def call(function: Callable[P, T], *arguments: P.args, **none: P.kwargs) -> T:
    """Call a function of this package in a worker. Raises its errors, and `CrashError`."""
    return _call(function, arguments, None)


def call_until(
    cancel: _core.Cancel | None, function: Callable[P, T], *arguments: P.args, **none: P.kwargs
) -> T:
    """Do the same until `cancel` is set. The worker is then ended, and `Interrupted` raised."""
    return _call(function, arguments, cancel)


def _call(function: Callable[..., T], arguments: tuple[Any, ...], cancel: _core.Cancel | None) -> T:
    with _lock:
        worker = _idle.pop() if _idle else None
    worker = worker or Worker()
    try:
        result: T = worker.call(function, arguments, cancel)
    except (CrashError, _core.Interrupted):
        raise
    except Exception:
        _put_back(worker)
        raise
    _put_back(worker)
    return result


def _put_back(worker: Worker) -> None:
    with _lock:
        _idle.append(worker)


@atexit.register
def end_workers() -> None:
    """End the processes that are kept."""
    with _lock:
        workers, _idle[:] = list(_idle), []
    for worker in workers:
        worker.end()


def is_worker() -> bool:
    """Return whether this process is a worker."""
    return _in_worker


def become_worker() -> None:
    """Note that this process is a worker."""
    global _in_worker
    _in_worker = True
