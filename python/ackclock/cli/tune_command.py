"""`ackclock tune`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from ackclock.attacks import CHECKS
from ackclock.attacks.finds import LEAST_REGRET
from ackclock.cli.console import emit, progress, say, show, talk, warn
from ackclock.cli.executing import dask_option, executor_of
from ackclock.cli.options import budget_option, first_seed_option, json_option, suite_option, workers_option
from ackclock.cli.weighing import weights_option
from ackclock.evaluation.ranking import METRICS
from ackclock.files.labels import slug, split_list
from ackclock.hardening import DEFAULT_ATTACK_BUDGET, DEFAULT_TURNS, Hardening, harden
from ackclock.hardening.page import write_page as write_hardening
from ackclock.hardening.present import comparisons_table, hardening_json, turns_table
from ackclock.hardening.present import sentence as hardening_sentence
from ackclock.tuning import DEFAULT_BUDGET, DEFAULT_METRIC, DEFAULT_REPLICATES, Tuning, tune
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
@click.option(
    "--against-adversary",
    is_flag=True,
    help="Tune and attack in turns: the finds of an attack on the best setting join the suite.",
)
@click.option(
    "--turns", type=click.IntRange(1), help=f"Most attacks to run. Default: {DEFAULT_TURNS}. [adversary]"
)
@click.option(
    "--attack-budget",
    help=f"Number of runs, or a time, of each attack. Default: {DEFAULT_ATTACK_BUDGET}. [adversary]",
)
@click.option(
    "--family",
    "families",
    metavar="NAME,...",
    help="Families of the attacks. Default: all that are not held out. [adversary]",
)
@click.option(
    "--held-out",
    metavar="NAME,...",
    help="Families of the finds that judge the result. Default: those left out by --family. [adversary]",
)
@click.option(
    "--threshold",
    type=click.FloatRange(LEAST_REGRET, 100),
    help=f"Least regret, in percent, of a find that counts. Default: {LEAST_REGRET:g}. [adversary]",
)
@click.option("--checks", type=click.IntRange(2), help=f"Seeds per find. Default: {CHECKS}. [adversary]")
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
    against_adversary: bool,
    turns: int | None,
    attack_budget: str | None,
    families: str | None,
    held_out: str | None,
    threshold: float | None,
    checks: int | None,
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

    With --against-adversary, an attack on the best setting follows each search. Its finds join the suite of
    the next search. --budget limits the first search. Options marked [adversary] need it.
    """
    of_attacks = {
        "turns": turns,
        "attack_budget": attack_budget,
        "families": split_list(families) if families else None,
        "held_out": split_list(held_out) if held_out else None,
        "threshold": threshold,
        "checks": checks,
    }
    given: dict[str, Any] = {name: value for name, value in of_attacks.items() if value is not None}
    if given and not against_adversary:
        raise click.UsageError("options marked [adversary] need --against-adversary")
    kind = "harden" if against_adversary else "tune"
    folder = Path(out or f"ackclock-out/{kind}-{slug(cc)}-{slug(Path(suite).name)}")
    line = shlex.join(["ackclock", *sys.argv[1:]])
    with executor_of(dask, workers) as executor, progress("running") as tell:
        search: dict[str, Any] = {
            "suite": suite,
            "budget": budget,
            "over": over,
            "metric": metric,
            "weights": weights,
            "constrained": constraints is not None,
            "keep": keep,
            "replicates": replicates,
            "check_replicates": check_replicates,
            "seed": seed,
            "out": folder,
            "executor": executor,
            "progress": tell,
        }
        found = harden(cc, **search, **given) if against_adversary else tune(cc, **search)
    if isinstance(found, Hardening):
        report = write_hardening(found, folder, command=line)
        _show_hardening(found, as_json)
    else:
        report = write_page(found, folder, command=line)
        _show_tuning(found, as_json)
    warn(warned.line("environments") for warned in found.warnings)
    talk(f"report: {report}")


def _show_hardening(found: Hardening, as_json: bool) -> None:
    if as_json:
        emit(json.dumps(hardening_json(found), indent=2))
        return
    show(turns_table(found))
    show(comparisons_table(found))
    say(hardening_sentence(found))


def _show_tuning(tuning: Tuning, as_json: bool) -> None:
    if as_json:
        emit(json.dumps(tuning_json(tuning), indent=2))
        return
    say(searched(tuning))
    show(finalists_table(tuning))
    show(others_table(tuning))
    say(conclusion(tuning))
