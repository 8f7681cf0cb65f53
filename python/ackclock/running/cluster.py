"""Runs on an existing Dask cluster, as `docs/how-to/many-machines.md` describes.

The scheduler gets chunks of a few seconds. If a worker dies, other workers repeat only its chunks. Results go
to this process, which alone writes the store.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.errors import BuildError, ClusterError, RunError
from ackclock.running.executor import Chunk, execute_chunk
from ackclock.running.job import Job

if TYPE_CHECKING:
    from distributed import Client

#: How long a scheduler may take to answer.
_CONNECT_S = 4.0
#: Seconds of work of a chunk. A worker returns the chunk after this time, also if it is not complete.
_CHUNK_S, _MOST_S = 2.0, 5.0
#: Chunks for each thread of a worker: one to run, and the next one.
_AHEAD = 2
#: How long a number of threads is valid.
_COUNT_AGAIN_S = 2.0
_SAME = "all must have the same build: install the same wheel everywhere and restart the workers"
_KEPT = "finished runs are kept, so the same command continues where it stopped"

#: On a worker: the signals that stop the chunks of an executor, by its name.
_switches: dict[str, _core.Cancel] = {}


class DaskExecutor:
    """Chunks as tasks of a Dask client. `dask_executor` makes one, and checks the workers."""

    chunk_s = _CHUNK_S

    def __init__(self, client: Client) -> None:
        self._client = client
        self._name = uuid.uuid4().hex
        self._threads, self._counted = 0, float("-inf")
        #: Whether the scheduler is gone, so that no message reaches the workers.
        self._lost = False

    def capacity(self) -> int:
        """Return how many chunks to keep in flight, from the current number of workers."""
        if time.monotonic() - self._counted > _COUNT_AGAIN_S:
            # If the scheduler is gone, the chunks report it.
            with contextlib.suppress(Exception):
                self._threads = sum(self._client.nthreads().values())
            self._counted = time.monotonic()
        return _AHEAD * max(self._threads, 1)

    def has_workers(self) -> bool:
        """Return whether there is a worker."""
        return bool(self._client.nthreads())

    def submit(self, jobs: Sequence[Job]) -> Future[Chunk]:
        """Start a chunk. Its errors name the worker."""
        answer: Future[Chunk] = Future()
        task = self._client.submit(_run_chunk, self._name, jobs, pure=False)
        answer.add_done_callback(lambda done: task.cancel() if done.cancelled() else None)
        self._client.loop.add_callback(self._collect, task, answer)
        return answer

    def stop(self) -> None:
        """Tell the workers to end the runs of this executor."""
        if self._lost:
            return
        with contextlib.suppress(Exception):
            self._client.run(_stop, self._name, on_error="ignore")

    async def _collect(self, task: Any, answer: Future[Chunk]) -> None:
        """Fetch the result of a task of Dask, in the loop of the client."""
        try:
            chunk = await task
        except BaseException as error:
            if answer.set_running_or_notify_cancel():
                # The task has not failed: it cannot be fetched, or the client has given up on it.
                self._lost = task.status != "error"
                answer.set_exception(
                    ClusterError(f"the scheduler is lost; {_KEPT}") if self._lost else _told(error)
                )
            return
        # Otherwise the scheduler would have it computed again if the worker died now.
        task.release()
        if answer.set_running_or_notify_cancel():
            answer.set_result(chunk)


@contextmanager
def dask_executor(address: str) -> Iterator[DaskExecutor]:
    """Connect to a scheduler, such as `tcp://host:8786`, and check that its workers are of this ackclock.

    Raises `ClusterError`.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            "--dask needs the package distributed: python -m pip install distributed"
        ) from None
    try:
        asyncio.run(_greet(address))
        client = Client(address, timeout=_CONNECT_S, set_as_default=False)
    # Another program at this address may send any answer.
    except Exception as error:
        raise ClusterError(
            f"{address}: no Dask scheduler answers ({_reason(error)}); "
            "an address looks like tcp://host:8786, as `dask scheduler` prints it"
        ) from None
    try:
        _require_build(client)
        yield DaskExecutor(client)
    finally:
        client.close(timeout=_CONNECT_S)


async def _greet(address: str) -> None:
    """Connect and leave: a client that could not connect would complain once more at the end."""
    from distributed.comm import connect
    from distributed.security import Security

    arguments = Security().get_connection_args("client")
    try:
        # Its own time limit covers only the connection and not the first answer.
        async with asyncio.timeout(_CONNECT_S):
            comm = await connect(address, timeout=_CONNECT_S, **arguments)
    except TimeoutError:
        raise OSError(await _silence(address)) from None
    await comm.close()


async def _silence(address: str) -> str:
    """Return why nothing came from an address: Dask itself retries without telling."""
    from distributed.comm import parse_host_port
    from distributed.comm.addressing import parse_address

    host, port = parse_host_port(parse_address(address)[1])
    try:
        async with asyncio.timeout(_CONNECT_S):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return f"no answer within {_CONNECT_S:g} s"
    except ConnectionRefusedError:
        return "connection refused: nothing listens on this port"
    except OSError as error:
        return error.strerror or str(error)
    writer.close()
    return "it accepts the connection, but does not answer"


def _require_build(client: Client) -> None:
    """Refuse workers whose ackclock gives other results, or that have none."""

    # Sent as code and not by name, so that a worker without ackclock can also run it.
    def build() -> str:
        try:
            from ackclock import _core
        except ImportError:
            return ""
        return str(_core.BUILD)

    for worker, found in sorted(client.run(build).items()):
        if found != _core.BUILD:
            has = f"has ackclock {found}" if found else "has no ackclock"
            raise ClusterError(f"worker {worker} {has}, but this is {_core.BUILD}; {_SAME}")


def _run_chunk(name: str, jobs: Sequence[Job]) -> Chunk:
    """Run a chunk, on a worker."""
    from distributed import get_worker

    try:
        return execute_chunk(jobs, _switches.setdefault(name, _core.Cancel()), _MOST_S)
    except BuildError as error:
        # The worker joined after the check of the others.
        raise ClusterError(f"worker {get_worker().address} {error}; {_SAME}; {_KEPT}") from None


def _stop(name: str) -> None:
    """Stop the chunks of an executor, on a worker."""
    _switches.setdefault(name, _core.Cancel()).set()


def _told(error: BaseException) -> BaseException:
    """Return the failure of a chunk as one message."""
    from distributed import KilledWorker

    if isinstance(error, (ClusterError, RunError, _core.Interrupted)):
        return error
    if isinstance(error, KilledWorker):
        return ClusterError(
            f"{error.allowed_failures + 1} workers died over the same runs, the last one was "
            f"{error.last_worker.address}; they may have run out of memory; {_KEPT}"
        )
    return ClusterError(f"a run failed on a worker: {type(error).__name__}: {_reason(error)}; {_KEPT}")


def _reason(error: BaseException) -> str:
    """Return the first line of an error."""
    return (str(error).splitlines() or [type(error).__name__])[0]
