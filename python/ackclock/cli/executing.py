"""Where the runs of a command go: threads of this machine, or a cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from ackclock.cli.console import talk
from ackclock.running.executor import Executor, Threads

dask_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--dask",
    metavar="ADDRESS",
    help="Run on the workers of this Dask scheduler, such as tcp://host:8786.",
)


@contextmanager
def executor_of(dask: str | None, workers: int | None) -> Iterator[Executor]:
    """Give the executor that `--dask` and `--workers` ask for."""
    if dask is None:
        with Threads(workers) as threads:
            yield threads
        return
    if workers is not None:
        raise click.UsageError("--workers sets the number of local threads; it cannot be used with --dask")
    from ackclock.running.cluster import dask_executor

    # Errors reach the user as one message and not in the log of Dask.
    logging.disable(logging.CRITICAL)
    with dask_executor(dask) as executor:
        if not executor.has_workers():
            talk(f"{dask} has no workers yet; waiting")
        yield executor
