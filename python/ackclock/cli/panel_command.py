"""`ackclock panel`."""

from __future__ import annotations

from pathlib import Path

import click

from ackclock.cli.console import emit, progress, warn
from ackclock.cli.options import first_seed_option, suite_option, workers_option
from ackclock.evaluation.storing import store_panel
from ackclock.evaluation.suite import Suite


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
    with progress("running") as tell:
        path = store_panel(
            loaded, path=None if out is None else Path(out), seed=seed, workers=workers, progress=tell
        )
    panel = [loaded.subject.parse(text) for text in loaded.panel]
    warn(warned.line("environments") for warned in loaded.warnings(panel))
    emit(str(path))
