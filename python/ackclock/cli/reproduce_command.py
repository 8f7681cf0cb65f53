"""`ackclock reproduce`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import click

from ackclock.cli.console import emit, progress, say, show, talk, warn
from ackclock.cli.emulating import backend_of, backend_option, tell_invalid
from ackclock.cli.options import first_seed_option, interactive_option, json_option, workers_option
from ackclock.page.embedded import web
from ackclock.reproduce import reproduce
from ackclock.reproduce.page import write_page
from ackclock.reproduce.present import (
    changes_table,
    changes_text,
    claims_table,
    dependence_table,
    paper_table,
    reproduction_json,
    skipped_table,
)
from ackclock.running.backend import prepare
from ackclock.running.job import kind_of


@click.command("reproduce")
@click.argument("paper")
@click.option("--quick", is_flag=True, help="Few replicates and one interpretation, for a first impression.")
@click.option(
    "--interpretations",
    type=click.IntRange(1),
    help="Number of interpretations of open choices in the paper. Default: all that change one choice.",
)
@click.option(
    "--claim",
    "claims",
    multiple=True,
    help="Judge only claims that match, such as 'loss-*'. May be repeated.",
)
@click.option("--extended", is_flag=True, help="Include experiments that go beyond the paper.")
@click.option(
    "--replicates", type=click.IntRange(1), help="Replicates per cell. Default: the paper's number."
)
@first_seed_option
@workers_option
@backend_option
@click.option("--out", type=click.Path(file_okay=False), help="Folder for the runs and the report.")
@interactive_option
@json_option
def command(
    paper: str,
    quick: bool,
    interpretations: int | None,
    claims: tuple[str, ...],
    extended: bool,
    replicates: int | None,
    seed: int,
    workers: int | None,
    backend: str,
    kernel: str | None,
    out: str | None,
    interactive: bool,
    as_json: bool,
) -> None:
    """Run the experiments of PAPER and judge its claims: print tables and verdicts, write report.html.

    PAPER is a name (`ackclock list paper`), or a folder with a paper.toml. Runs that are already in the
    folder are not repeated. With --backend linux or kernel, the command also runs the chosen
    interpretation with the TCP of Linux. It then names the changed verdicts. A failed claim is a result and
    not an error: the exit code is 0.
    """
    backend = backend_of(backend, kernel)
    prepare(backend)
    if interactive:
        web()
    folder = Path(out or f"ackclock-out/reproduce-{Path(paper).name}")
    with progress("running") as tell:
        reproduction = reproduce(
            paper,
            quick=quick,
            interpretations=interpretations,
            claims=claims,
            extended=extended,
            replicates=replicates,
            seed=seed,
            workers=workers,
            out=folder,
            progress=tell,
            backend=backend,
            tell=talk,
        )
    page = write_page(
        reproduction,
        folder,
        command=shlex.join(["ackclock", *sys.argv[1:]]),
        is_interactive=interactive,
    )
    if as_json:
        emit(json.dumps(reproduction_json(reproduction), indent=2))
    else:
        emulated = {} if reproduction.emulated is None else {t.id: t for t in reproduction.emulated.tables}
        for table in reproduction.tables:
            show(paper_table(table, emulated.get(table.id), kind_of(backend)))
        show(claims_table(reproduction))
        if reproduction.interpretations:
            show(dependence_table(reproduction))
        if reproduction.skipped:
            show(skipped_table(reproduction))
        if reproduction.emulated is not None:
            show(changes_table(reproduction))
            say(changes_text(reproduction))
        say(reproduction.sentence)
    if reproduction.emulated is not None:
        tell_invalid(reproduction.emulated.invalid, reproduction.emulated.runs)
    warn(warned.line("cells") for warned in reproduction.warnings)
    talk(f"report: {page}")
