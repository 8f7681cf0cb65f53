"""`ackclock response`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from ackclock.cli.console import emit, progress, show, warn
from ackclock.cli.options import first_seed_option, json_option
from ackclock.cli.plotting import check_picture_file, write_picture_file

if TYPE_CHECKING:
    from ackclock.responses.response import Point, Response
    from ackclock.text.table import Table

_OVER = ("loss", "rtt", "buffer", "rate")
_MBIT = 1e6


@click.command("response")
@click.argument("algorithms", nargs=-1, required=True, metavar="CC...")
@click.option("--over", type=click.Choice(_OVER), default="loss", show_default=True, help="The axis.")
@click.option("--values", metavar="V,...", help="Values of the axis, such as '0.01%,0.1%,1%'.")
@click.option(
    "--rate", metavar="RATE", help="Rate of the bottleneck. Default: 100 Mbit/s (buffer: 20 Mbit/s)."
)
@click.option("--rtt", metavar="TIME", help="Base RTT. Default: 40 ms.")
@click.option("--limit", metavar="SIZE", help="Limit of the drop-tail queue in BDP. Default: 1 BDP.")
@click.option("--loss", metavar="PART", help="Loss rate. Default: none (rtt, rate: 0.1%).")
@click.option(
    "--loss-kind",
    type=click.Choice(("random", "periodic")),
    default="random",
    show_default=True,
    help="Random losses, or every n-th packet, as in the closed forms.",
)
@click.option("--duration", default="60 s", show_default=True, metavar="TIME", help="Length of a run.")
@click.option(
    "--replicates", default=5, show_default=True, type=click.IntRange(1), help="Seeds of each point."
)
@first_seed_option
@click.option(
    "--plot", "picture", metavar="FILE", help="Draw both axes logarithmically into this file (.svg, .png)."
)
@json_option
def command(
    algorithms: tuple[str, ...],
    over: str,
    values: str | None,
    rate: str | None,
    rtt: str | None,
    limit: str | None,
    loss: str | None,
    loss_kind: str,
    duration: str,
    replicates: int,
    seed: int,
    picture: str | None,
    as_json: bool,
) -> None:
    """Compare response functions: goodput over the loss rate, RTT, buffer or rate.

    Each algorithm CC runs alone on a bottleneck. CC is a name (`ackclock list cc`), a label such as
    'aimd(increase=2)', or a file. Where a closed form exists, a column shows it.
    """
    from ackclock.responses.response import response

    if picture is not None:
        check_picture_file(picture, "--plot")
    with progress("running") as tell:
        found = response(
            *algorithms,
            over=over,
            values=None if values is None else [value.strip() for value in values.split(",")],
            rate=rate,
            rtt=rtt,
            limit=limit,
            loss=loss,
            loss_kind=loss_kind,
            duration=duration,
            replicates=replicates,
            seed=seed,
            progress=tell,
        )
    if picture is not None:
        write_picture_file(picture, found)
    if as_json:
        emit(json.dumps(found.document, indent=2))
    else:
        show(_table(found))
    warn(warned.line("points") for warned in found.warnings)


def _table(found: Response) -> Table:
    """Return a row per value of the axis, with a column per algorithm and per closed form."""
    from ackclock.text.table import Column, Table

    names = list(dict.fromkeys(point.algorithm for point in found.points))
    by_place = {(point.algorithm, point.x): point for point in found.points}
    with_form = {point.algorithm for point in found.points if point.closed_form_bps is not None}
    columns = []
    for name in names:
        columns.append(Column(name, right=True))
        if name in with_form:
            columns.append(Column("closed form", right=True))
    words = {"rtt": "RTT", "limit": "buffer"}
    network = ", ".join(f"{words.get(key, key)} {value}" for key, value in found.conditions.items())
    table = Table(
        Column(found.axis.label, right=True),
        *columns,
        title=f"goodput, Mbit/s ({network})",
        caption="+- is the 95 % confidence interval of the mean. Without it, nothing is random.",
    )
    for x in dict.fromkeys(point.x for point in found.points):
        cells = []
        for name in names:
            point = by_place[name, x]
            cells.append(_goodput(point))
            if name in with_form:
                form = point.closed_form_bps
                cells.append("-" if form is None else f"{form / _MBIT:.4g}")
        table.add_row(f"{x:g}", *cells)
    return table


def _goodput(point: Point) -> str:
    mean = f"{point.goodput_bps / _MBIT:.4g}"
    if point.low_bps is None or point.high_bps is None:
        return mean
    return f"{mean} +- {(point.high_bps - point.low_bps) / 2 / _MBIT:.2g}"
