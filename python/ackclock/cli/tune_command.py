"""`ackclock tune`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import click

from ackclock.cli.console import emit, progress, say, show, talk
from ackclock.cli.executing import dask_option, executor_of
from ackclock.cli.options import budget_option, first_seed_option, json_option, suite_option, workers_option
from ackclock.cli.weighing import weights_option
from ackclock.evaluation.ranking import METRICS
from ackclock.files.labels import slug
from ackclock.tuning import DEFAULT_BUDGET, DEFAULT_METRIC, DEFAULT_REPLICATES, tune
from ackclock.tuning.page import write_page
from ackclock.tuning.present import conclusion, finalists_table, others_table, searched, tuning_json


@click.command("tune")
@click.argument("cc")
@suite_option
@budget_option(DEFAULT_BUDGET)
@click.option(
    "--over",
    multiple=True,
    metavar="PARAM=lo..hi",
    help="Search this parameter in this range. May be repeated. Default: all with a known range.",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default=DEFAULT_METRIC,
    show_default=True,
    help="Metric whose worst-case regret is minimised.",
)
@weights_option
@click.option(
    "--constraints",
    type=click.Choice(["reddy"]),
    help="Constrain a linear control to AI <= 3, AD <= 3, MI > 0.1, MD < 0.9 (Reddy et al., section 3.2).",
)
@click.option(
    "--constraint",
    "keep",
    multiple=True,
    metavar="RELATION",
    help="Try only settings that keep this relation, such as 'alpha < beta'. May be repeated.",
)
@click.option(
    "--replicates",
    type=click.IntRange(1),
    default=DEFAULT_REPLICATES,
    show_default=True,
    help="Replicates per environment in the search.",
)
@click.option(
    "--check-replicates",
    type=click.IntRange(1),
    help="Replicates per environment in the final check. Default: the suite's number.",
)
@first_seed_option
@workers_option
@dask_option
@click.option(
    "--out", "--store", "out", type=click.Path(file_okay=False), help="Folder for the runs and the report."
)
@json_option
def command(
    cc: str,
    suite: str,
    budget: str,
    over: tuple[str, ...],
    metric: str,
    weights: dict[str, float],
    constraints: str | None,
    keep: tuple[str, ...],
    replicates: int,
    check_replicates: int | None,
    seed: int,
    workers: int | None,
    dask: str | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Search for the parameters of CC with the smallest worst-case regret over a suite.

    CC is a name (`ackclock list cc`), or a name with fixed parameters, such as 'aimd(increase=1)'. Total
    regret breaks ties. A final check runs the best settings and the default with seeds that the search did
    not use. Runs that are already in the folder are not repeated, so the same command continues a search
    that was stopped.
    """
    folder = Path(out or f"ackclock-out/tune-{slug(cc)}-{slug(Path(suite).name)}")
    with executor_of(dask, workers) as executor, progress("running") as tell:
        tuning = tune(
            cc,
            suite=suite,
            budget=budget,
            over=over,
            metric=metric,
            weights=weights,
            constrained=constraints is not None,
            keep=keep,
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
