"""`ackclock query`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock.cli.console import show
from ackclock.cli.options import json_option
from ackclock.errors import InputError
from ackclock.query import TABLES, left_out, query
from ackclock.store import Store

if TYPE_CHECKING:
    import polars

#: Rows of a table; --json and --csv print all.
_MOST_ROWS = 100
_OUT = Path("ackclock-out")


@click.command("query")
@click.argument("sql", required=False)
@click.option(
    "--store",
    "folder",
    type=click.Path(file_okay=False),
    help="The folder of the results; by default the one in ackclock-out that was filled last.",
)
@click.option("--tables", is_flag=True, help="List the tables with their columns.")
@click.option(
    "--all-versions",
    is_flag=True,
    help="Take the runs of other versions of ackclock, too.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@json_option
def command(
    sql: str | None, folder: str | None, tables: bool, all_versions: bool, as_csv: bool, as_json: bool
) -> None:
    """Answer the query SQL over stored results: tables runs, flows, links and histograms.

    Columns carry their units; those of a study's settings have the names of the keys that vary, in quotes
    where there is a dot in them, as in 'SELECT "topology.rate", avg(goodput_bps) FROM runs GROUP BY 1'. A
    query reads the store and nothing else, and changes nothing.
    """
    if bool(sql) == tables:
        raise click.UsageError("give a query in quotes, or --tables")
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other")
    with Store.reading(folder or _newest()) as store:
        if sql is None:
            columns = {name: read(store, all_versions=all_versions).schema for name, read in TABLES.items()}
            for sentence in left_out(store, all_versions=all_versions):
                _tell(sentence)
            if as_json:
                named = {name: list(map(str, schema)) for name, schema in columns.items()}
                click.echo(json.dumps(named, indent=2))
            else:
                for name, schema in columns.items():
                    click.echo(f"{name}: {', '.join(schema)}")
            return
        answer = query(store, sql, all_versions=all_versions, tell=_tell)
    if as_json:
        click.echo(json.dumps(answer.to_dicts(), indent=2, default=str))
    elif as_csv:
        click.echo(answer.write_csv(), nl=False)
    else:
        _show(answer)


def _tell(sentence: str) -> None:
    click.echo(f"note: {sentence}", err=True)


def _newest() -> Path:
    stores = sorted(_OUT.glob("*/runs.sqlite"), key=lambda path: path.stat().st_mtime)
    if not stores:
        raise InputError(f"{_OUT}: holds no results; name a folder with --store")
    click.echo(f"from {stores[-1].parent}", err=True)
    return stores[-1].parent


def _show(answer: polars.DataFrame) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for name, kind in answer.schema.items():
        table.add_column(name, overflow="fold", justify="right" if kind.is_numeric() else "left")
    for row in answer.head(_MOST_ROWS).iter_rows():
        table.add_row(*map(_cell, row))
    show(table)
    if answer.height > _MOST_ROWS:
        click.echo(f"  and {answer.height - _MOST_ROWS} more rows (--csv and --json print all)")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
