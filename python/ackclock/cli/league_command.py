"""`ackclock league`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock.cli.console import emit, progress, show, talk, warn
from ackclock.cli.emulating import backend_of, backend_option
from ackclock.cli.executing import dask_option, executor_of
from ackclock.cli.options import first_seed_option, json_option, workers_option
from ackclock.files.labels import split_list
from ackclock.running.backend import prepare, workers_for

if TYPE_CHECKING:
    from ackclock.leagues.scores import League
    from ackclock.text.table import Table


@click.command("league")
@click.argument("candidates", nargs=-1, metavar="[CC]...")
@click.option("--algorithms", metavar="CC,...", help="Only these algorithms. Default: all over TCP.")
@click.option("--suites", metavar="NAME,...", help="Only these suites. Default: all for algorithms over TCP.")
@click.option(
    "--quick",
    is_flag=True,
    help="Ten algorithms, three environments of each suite, at most 100 Mbit/s, two replicates.",
)
@click.option(
    "--no-coexistence",
    is_flag=True,
    help="Leave out all pairs on a common bottleneck, which take about a third of the time.",
)
@click.option("--replicates", type=click.IntRange(1), help="Replicates per environment. Default: 5.")
@first_seed_option
@backend_option
@workers_option
@dask_option
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    default="ackclock-out/league",
    show_default=True,
    help="Folder for the runs and the site.",
)
@json_option
def command(
    candidates: tuple[str, ...],
    algorithms: str | None,
    suites: str | None,
    quick: bool,
    no_coexistence: bool,
    replicates: int | None,
    seed: int,
    backend: str,
    kernel: str | None,
    workers: int | None,
    dask: str | None,
    out: str,
    as_json: bool,
) -> int:
    """Rank all algorithms over all suites, and write a static site.

    Each CC is one more algorithm, in a form that `ackclock evaluate` takes, such as my_cc.py:MyCc. The site
    contains a front page, a page for each algorithm and each pair, and the report of each suite. Runs that
    are already in the folder are not repeated, so the same command continues a league that was stopped.
    """
    from ackclock.leagues.pairs import pairs
    from ackclock.leagues.profiles import profiles
    from ackclock.leagues.scores import league
    from ackclock.leagues.site import document, warnings, write_site

    backend, folder = backend_of(backend, kernel), Path(out)
    prepare(backend)
    with executor_of(dask, workers_for(backend, workers)) as executor:
        found = league(
            *(name for text in candidates for name in split_list(text)),
            algorithms=None if algorithms is None else split_list(algorithms),
            suites=None if suites is None else split_list(suites),
            quick=quick,
            replicates=replicates,
            seed=seed,
            backend=backend,
            out=folder,
            executor=executor,
            progress=progress,
        )
        behaviour = profiles(
            found, folder, coexistence=not no_coexistence, executor=executor, progress=progress
        )
    path = write_site(found, behaviour, folder, command=shlex.join(["ackclock", *sys.argv[1:]]))
    if as_json:
        emit(json.dumps(document(found, behaviour, pairs(found)), indent=2))
    else:
        show(_table(found))
    warn(warned.line("environments") for warned in warnings(found, behaviour))
    talk(f"site: {path}")
    return 0


def _table(found: League) -> Table:
    from ackclock.leagues.texts import text
    from ackclock.text.table import Column, Table

    table = Table(
        Column("place", right=True),
        "algorithm",
        Column("mean of suites", right=True),
        "best suite",
        "worst suite",
        title="mean regret %, less is better",
        caption="A quick league: the order is not significant." if found.is_quick else "Intervals are 95 %.",
    )
    for rank, place in enumerate(found.algorithms, 1):
        scores = {name: entry.score.value.mean for name, entry in place.entries.items() if entry.score}
        ordered = sorted(scores, key=scores.__getitem__)
        if not ordered:
            table.add_row(str(rank), place.label, "-", "-", "-")
            continue
        best, worst = (f"{name} {round(scores[name], 2) + 0.0:.2f}" for name in (ordered[0], ordered[-1]))
        table.add_row(str(rank), place.label, text(place.score), best, worst)
    return table
