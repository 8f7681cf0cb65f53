"""`ackclock panel`."""

from __future__ import annotations

from pathlib import Path

import click

from ackclock.cli.console import emit, progress
from ackclock.cli.options import first_seed_option, suite_option, workers_option
from ackclock.errors import writing_error
from ackclock.evaluation import evaluate
from ackclock.evaluation.panel import PANEL_REPLICATES, panel_document, panel_path, panel_text
from ackclock.evaluation.suite import Suite
from ackclock.files.writing import write_whole


@click.command("panel")
@suite_option
@first_seed_option
@workers_option
@click.option(
    "--out", type=click.Path(dir_okay=False), help="File to write. Default: panel.json of the suite."
)
def command(suite: str, seed: int, workers: int | None, out: str | None) -> None:
    """Run the panel of a suite and store its scores in panel.json, in the folder of the suite.

    `ackclock evaluate` measures regret against the best of these scores. At least 40 replicates are run.
    """
    loaded = Suite.load(suite)
    path = panel_path(loaded) if out is None else Path(out)
    with progress("running") as tell:
        evaluation = evaluate(
            loaded.panel[0],
            against=loaded.panel,
            suite=suite,
            replicates=max(loaded.replicates, PANEL_REPLICATES),
            seed=seed,
            within_table=True,
            workers=workers,
            progress=tell,
        )
    try:
        write_whole(path, panel_text(panel_document(evaluation.board)).encode())
    except OSError as error:
        raise writing_error(f"{path}: cannot be written: {error.strerror}", error) from None
    emit(str(path))
