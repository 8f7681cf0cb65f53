"""`ackclock coexist`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock.cli.console import emit, progress, say, show, span, talk, warn
from ackclock.cli.emulating import backend_of, backend_option
from ackclock.cli.options import first_seed_option, json_option, set_option, workers_option
from ackclock.errors import RunError
from ackclock.files.labels import slug, split_list
from ackclock.running.backend import prepare

if TYPE_CHECKING:
    from ackclock.coexistence.matrix import Coexistence
    from ackclock.running.cost import Cost
    from ackclock.statistics.estimates import Estimate
    from ackclock.text.table import Table

#: Rows of the table and sentences without `--full`.
_ROWS, _SENTENCES = 10, 5
_CAPTION = (
    "Share: the goodput of a flow of the first over the mean of all. Harm: the lost part of the goodput that "
    "the second achieves alone. Own harm: the same against itself. Delay harm: the part of the second's RTT "
    "that it does not see alone. A * marks a significant difference of both harms."
)
#: Characters of the algorithms in the name of a folder.
_LONGEST = 100


@click.command("coexist")
@click.argument("algorithms", nargs=-1, required=True, metavar="CC...")
@click.option(
    "--grid",
    type=click.Choice(("six", "full")),
    default="six",
    show_default=True,
    help="All pairs in six networks, or each CC against Reno, CUBIC, BBRv1, BBRv3 and Prague in many.",
)
@click.option("--networks", metavar="ID,...", help="Only these networks of the full grid.")
@click.option("--replicates", type=click.IntRange(1), help="Replicates of each pair. Default: 5.")
@click.option("--quick", is_flag=True, help="Two replicates, for a first impression.")
@first_seed_option
@set_option
@backend_option
@workers_option
@click.option("--out", type=click.Path(file_okay=False), help="Folder for the runs and the report.")
@click.option("--full", is_flag=True, help="Print all pairs.")
@click.option("--plot", "picture", metavar="FILE", help="Draw the first pair over the buffer (.svg, .png).")
@json_option
def command(
    algorithms: tuple[str, ...],
    grid: str,
    networks: str | None,
    replicates: int | None,
    quick: bool,
    seed: int,
    sets: tuple[str, ...],
    backend: str,
    kernel: str | None,
    workers: int | None,
    out: str | None,
    full: bool,
    picture: str | None,
    as_json: bool,
) -> int:
    """Measure how algorithms share a bottleneck, and the harm that they do to each other.

    Each CC is an algorithm in a form that `ackclock evaluate` takes, such as a name or my_cc.py:MyCc. Harm is
    the lost part of the goodput that flows achieve alone (Ware et al. 2019). The report compares it with the
    harm that the same flows do to each other.
    """
    from ackclock.cli.plotting import check_picture_file, write_picture_file
    from ackclock.coexistence.matrix import QUICK_REPLICATES, REPLICATES, coexist, networks_of
    from ackclock.coexistence.networks import series
    from ackclock.coexistence.report import Picture, document, sentences, write_report

    wanted = [] if networks is None else [name.strip() for name in networks.split(",")]
    if picture is not None:
        check_picture_file(picture, "--plot")
        if not series(networks_of(grid, wanted)):
            raise click.UsageError("--plot needs several depths of the buffer. Use --grid full.")
    names = [name for text in algorithms for name in split_list(text)]
    folder = Path(out or f"ackclock-out/coexist-{slug('-'.join(names))[:_LONGEST]}")
    backend = backend_of(backend, kernel)
    prepare(backend)
    with progress("running") as tell:
        found = coexist(
            *names,
            grid=grid,
            networks=wanted,
            replicates=replicates or (QUICK_REPLICATES if quick else REPLICATES),
            seed=seed,
            sets=sets,
            out=folder,
            workers=workers,
            backend=backend,
            progress=tell,
            announce=_announce,
        )
    report = write_report(found, folder, command=shlex.join(["ackclock", *sys.argv[1:]]))
    if as_json:
        emit(json.dumps(document(found), indent=2))
    else:
        show(_table(found, None if full else _ROWS))
        for each in found.failed:
            say(f"{each.first} against {each.second}, {each.network.title}: no figures: {each.message}")
        told = sentences(found)
        for sentence in told if full else told[:_SENTENCES]:
            say(sentence)
    warn(warned.line("networks") for warned in found.warnings)
    talk(f"report: {report}")
    if picture is not None:
        drawn = Picture(found)
        if drawn.is_empty:
            raise RunError("--plot: no pair has figures for several depths, because runs failed")
        write_picture_file(picture, drawn)
    return 0


def _announce(cost: Cost) -> None:
    left = cost.runs - cost.stored
    stored = f", {cost.stored:,} of them stored" if cost.stored else ""
    time = f", about {span(cost.time_s)} on {cost.workers} threads" if left else ""
    talk(f"{cost.runs:,} runs{stored}{time}")


def _table(found: Coexistence, rows: int | None) -> Table:
    from ackclock.text.table import Column, Table

    shown = found.worst[:rows]
    hidden = len(found.pairs) - len(shown)
    table = Table(
        "network",
        "first against second",
        Column("share", right=True),
        Column("harm", right=True),
        Column("own harm", right=True),
        Column("delay harm", right=True),
        title=f"The {len(shown)} worst of {len(found.pairs)} pairs" if hidden else "All pairs",
        caption=_CAPTION + (" --full prints all pairs." if hidden else ""),
    )
    for each in shown:
        table.add_row(
            each.network.title,
            f"{each.first} against {each.second}",
            _mean(each.share),
            f"{_interval(each.harm)}{' *' if each.judgement else '  '}",
            _mean(each.own_harm),
            _mean(each.delay_harm),
        )
    return table


def _mean(value: Estimate | None) -> str:
    # Zero has no sign.
    return "-" if value is None else f"{round(value.mean, 2) + 0.0:.2f}"


def _interval(value: Estimate) -> str:
    half = value.half_width
    return _mean(value) if half is None else f"{_mean(value)} +- {half:.2f}"
