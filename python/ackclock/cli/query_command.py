"""`ackclock query`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock.cli.console import emit, say, show, talk
from ackclock.cli.options import json_option
from ackclock.running.store import Store
from ackclock.studies.queries import TABLES, answer, left_out
from ackclock.studies.results import newest_store
from ackclock.text.cells import csv_text

if TYPE_CHECKING:
    import polars

#: Rows of a table. --json and --csv print all.
_MOST_ROWS = 100


@click.command("query")
@click.argument("sql", required=False)
@click.option(
    "--store",
    "folder",
    type=click.Path(file_okay=False),
    help="Folder of the results. Default: the most recent one in ackclock-out.",
)
@click.option("--tables", is_flag=True, help="List the tables and their columns.")
@click.option(
    "--all-versions",
    is_flag=True,
    help="Include runs of other versions of ackclock.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@json_option
def command(
    sql: str | None, folder: str | None, tables: bool, all_versions: bool, as_csv: bool, as_json: bool
) -> None:
    """Answer the query SQL over stored results.

    `--tables` lists the tables and columns, whose names contain their units. The settings of a study are
    columns with the names of the varied keys. Write names with a dot in double quotes:

    \b
    'SELECT "topology.rate", avg(goodput_bps) FROM runs GROUP BY 1 ORDER BY 1'

    A query cannot change the results.
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
                emit(json.dumps(named, indent=2))
            else:
                for name, schema in columns.items():
                    say(f"{name}: {', '.join(schema)}")
            return
        found = answer(store, sql, all_versions=all_versions, tell=_tell)
    if as_json:
        emit(json.dumps(found.to_dicts(), indent=2, default=str))
    elif as_csv:
        emit(csv_text(found))
    else:
        _show(found)


def _tell(sentence: str) -> None:
    talk(f"note: {sentence}")


def _newest() -> Path:
    folder = newest_store()
    talk(f"from {folder}")
    return folder


def _show(found: polars.DataFrame) -> None:
    from ackclock.text.table import Column, Table

    if not found.columns:
        say("no runs")
        return
    table = Table(*(Column(name, right=kind.is_numeric()) for name, kind in found.schema.items()))
    for row in found.head(_MOST_ROWS).iter_rows():
        table.add_row(*map(_cell, row))
    show(table)
    if found.height > _MOST_ROWS:
        say(f"  and {found.height - _MOST_ROWS} more rows (--csv and --json print all)")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
