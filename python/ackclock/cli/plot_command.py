"""`ackclock plot`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ackclock.cli.console import show, talk
from ackclock.cli.plotting import TERMINAL, check_picture, write_picture
from ackclock.errors import InputError
from ackclock.metrics.frames import samples_frame
from ackclock.running.rows import SOUND
from ackclock.running.store import Store

_QUERY = f"""
SELECT key, scenario, seed, replicate, result_json, samples_checksum
FROM runs WHERE samples AND {SOUND} ORDER BY rowid
"""


@click.command("plot")
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("--run", "number", type=click.IntRange(1), metavar="N", help="Number of the run in --list.")
@click.option("--list", "listed", is_flag=True, help="List the stored runs that have samples over time.")
@click.option(
    "--out",
    default=TERMINAL,
    show_default=True,
    metavar="FILE",
    help=f"File for the plot (.svg, .png), or {TERMINAL} for a line of text per flow.",
)
def command(folder: str, number: int | None, listed: bool, out: str) -> None:
    """Draw a stored run over time: window, RTT, goodput and queue.

    FOLDER is the folder of an earlier `ackclock run --out`, `study` or `evaluate`. Only runs with samples
    over time can be drawn.
    """
    check_picture(out, "--out")
    with Store.reading(Path(folder)) as store:
        rows = list(store.rows(_QUERY))
        if not rows:
            raise InputError(
                f"{folder}: no run in it has samples over time; `ackclock run FILE --out {folder}` and "
                "`ackclock study FILE --samples all` keep them"
            )
        if listed:
            _list(rows)
            return
        if number is None and len(rows) > 1:
            raise InputError(f"{folder}: has {len(rows)} runs with samples; choose with --run N, see --list")
        if number is not None and number > len(rows):
            raise InputError(f"--run {number}: {folder} has {len(rows)} runs with samples; see --list")
        key, scenario, seed, replicate, result, expected = rows[(number or 1) - 1]
        if broken := store.broken_samples(key):
            raise InputError(f"{broken[0]}: is lost or cut off; run the command that filled {folder} again")
        samples = store.samples(key, expected)
        if samples is None:
            raise InputError(f"{folder}: samples of {key} are damaged; run the command that filled it again")
        from ackclock.page.over_time import over_time

        flows, links = map(samples_frame, samples)
        title = f"{scenario}: seed {seed}, replicate {replicate}"
        write_picture(out, over_time(flows, links, json.loads(result)["duration_s"], title))


def _list(rows: list[tuple[Any, ...]]) -> None:
    from ackclock.text.table import Column, Table

    table = Table(Column("run", right=True), "scenario", Column("seed", right=True), "replicate", "flows")
    for number, (_, scenario, seed, replicate, result, _) in enumerate(rows, 1):
        names = dict.fromkeys(flow["cc"] for flow in json.loads(result)["flows"])
        table.add_row(str(number), scenario, str(seed), str(replicate), ", ".join(names))
    show(table)
    talk("draw one of them with --run N --out plot.svg")
