"""`python -m ackclock.foreign.worker`: calls functions that come through a pipe, until it ends."""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import sys
import threading
from queue import SimpleQueue
from typing import IO, Any

from ackclock import _core
from ackclock.foreign.process import FRAME, become_worker


def main() -> None:
    """Serve until the other side closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    become_worker()
    # The map lives as long as the process, because callbacks write to it.
    _core.share_progress(mmap.mmap(int(sys.argv[1]), mmap.PAGESIZE))
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Output of the code goes to stderr at once, also if the process crashes. Its input is empty.
    os.dup2(2, 1)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    jobs: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests, jobs), daemon=True).start()
    while True:
        content = pickle.dumps(_answer(jobs.get()))
        answers.write(FRAME.pack(len(content)) + content)
        answers.flush()


def _listen(requests: IO[bytes], jobs: SimpleQueue[bytes]) -> None:
    """Pass requests to the main thread. The process ends with the other side, even during a run."""
    while True:
        head = requests.read(FRAME.size)
        if len(head) < FRAME.size:
            os._exit(0)
        (size,) = FRAME.unpack(head)
        jobs.put(requests.read(size))


def _answer(request: bytes) -> tuple[bool, Any]:
    """Return whether a call raised an error, and the result or the error."""
    try:
        function, arguments = pickle.loads(request)
        return False, function(*arguments)
    except Exception as error:
        return True, error


if __name__ == "__main__":
    main()
