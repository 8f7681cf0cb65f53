"""`ackclock tune`."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import click

from ackclock.cli.console import emit, progress, say, show, talk
from ackclock.cli.executing import dask_option, executor_of
from ackclock.cli.options import json_option
from ackclock.tuning import DEFAULT_BUDGET, DEFAULT_METRIC, DEFAULT_REPLICATES, tune
from ackclock.tuning.objective import METRICS
from ackclock.tuning.page import write_page
from ackclock.tuning.present import conclusion, finalists_table, others_table, searched, tuning_json


@click.command("tune")
@click.argument("cc")
@click.option(
    "--suite", default="core", show_default=True, help="A suite by name, or a folder with a suite.toml."
)
@click.option(
    "--budget",
    default=DEFAULT_BUDGET,
    show_default=True,
    help="Runs of the search, or a time such as '10 min'; the check of the best comes on top.",
)
@click.option(
    "--over",
    multiple=True,
    metavar="PARAM=lo..hi",
    help="Search this parameter in this range; may be repeated. All with a known range by default.",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default=DEFAULT_METRIC,
    show_default=True,
    help="Whose worst case is made small.",
)
@click.option(
    "--constraints",
    type=click.Choice(["reddy"]),
    help="Keep a linear control to AI <= 3, AD <= 3, MI > 0.1, MD < 0.9 (Reddy et al., section 3.2).",
)
@click.option(
    "--replicates",
    type=click.IntRange(1),
    default=DEFAULT_REPLICATES,
    show_default=True,
    help="Paired seeds per environment in the search.",
)
@click.option(
    "--check-replicates",
    type=click.IntRange(1),
    help="Seeds per environment in the check of the best; the suite says how many.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True)
@click.option("--workers", type=click.IntRange(1), help="Threads; all cores by default.")
@dask_option
@click.option(
    "--out", "--store", "out", type=click.Path(file_okay=False), help="The folder of runs and report."
)
@json_option
def command(
    cc: str,
    suite: str,
    budget: str,
    over: tuple[str, ...],
    metric: str,
    constraints: str | None,
    replicates: int,
    check_replicates: int | None,
    seed: int,
    workers: int | None,
    dask: str | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Search the parameters of CC for the smallest worst case (C) over a suite, D as tie-break.

    CC is a name (`ackclock list cc`), or a name with parameters that stay, such as 'aimd(increase=1)'. The
    best settings and the default are then run on luck that the search did not see. Runs that the folder holds
    already are not run again, so a search that was stopped goes on with the same command.
    """
    folder = Path(out or f"ackclock-out/tune-{_slug(cc)}-{_slug(Path(suite).name)}")
    with executor_of(dask, workers) as executor, progress("running") as tell:
        tuning = tune(
            cc,
            suite=suite,
            budget=budget,
            over=over,
            metric=metric,
            constrained=constraints is not None,
            replicates=replicates,
            check_replicates=check_replicates,
            seed=seed,
            out=folder,
            executor=executor,
            progress=tell,
        )
    report = write_page(tuning, folder, command=shlex.join(["ackclock", *sys.argv[1:]]))
    if as_json:
        emit(json.dumps(tuning_json(tuning), indent=2))
    else:
        say(searched(tuning))
        show(finalists_table(tuning))
        show(others_table(tuning))
        say(conclusion(tuning))
    talk(f"report: {report}")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9+]+", "-", text.lower()).strip("-")
