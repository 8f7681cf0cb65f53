"""Runs the panel of a suite and stores its scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ackclock.errors import writing_error
from ackclock.evaluation import evaluate
from ackclock.evaluation.panel import PANEL_REPLICATES, panel_document, panel_path, panel_text
from ackclock.evaluation.suite import Suite
from ackclock.files.writing import write_whole
from ackclock.running.executor import Executor


def store_panel(
    suite: Suite,
    *,
    path: Path | None = None,
    seed: int = 1,
    out: str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Write the scores of a suite's panel, and return the path of the file.

    At least 40 replicates are run. `path`: by default `panel.json` in the folder of the suite. `out`: a
    folder for the runs. Raises `AckclockError`.
    """
    path = panel_path(suite) if path is None else path
    evaluation = evaluate(
        suite.panel[0],
        against=suite.panel,
        suite=suite,
        replicates=max(suite.replicates, PANEL_REPLICATES),
        seed=seed,
        within_table=True,
        out=out,
        executor=executor,
        workers=workers,
        progress=progress,
    )
    try:
        write_whole(path, panel_text(panel_document(evaluation.board)).encode())
    except OSError as error:
        raise writing_error(f"{path}: cannot be written: {error.strerror}", error) from None
    return path
