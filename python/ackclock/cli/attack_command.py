"""`ackclock attack`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import click

from ackclock.attacks import CHECKS, DEFAULT_BUDGET, DEFAULT_OBJECTIVE, attack
from ackclock.attacks.families import NAMES as FAMILIES
from ackclock.attacks.keeping import keep
from ackclock.attacks.objectives import NAMES as OBJECTIVES
from ackclock.attacks.present import attack_json, effort, finds_table, of_backend, sentence
from ackclock.attacks.report import write_page
from ackclock.cli.console import emit, progress, say, show, talk, warn
from ackclock.cli.emulating import KERNEL_HELP, backend_of
from ackclock.cli.executing import dask_option, executor_of
from ackclock.cli.options import budget_option, first_seed_option, json_option, set_option, workers_option
from ackclock.files.labels import slug, split_list
from ackclock.running.backend import prepare
from ackclock.running.job import KERNEL, LINUX, SIM


@click.command("attack")
@click.argument("cc")
@click.option(
    "--against",
    metavar="CC,...",
    help="References. The regret is the difference to the best of them. Default: the panel of core.",
)
@budget_option(DEFAULT_BUDGET)
@click.option(
    "--family",
    "families",
    metavar="NAME,...",
    help=f"Parts of the network that may change: {', '.join(FAMILIES)}. Default: all that fit the objective.",
)
@click.option(
    "--objective",
    type=click.Choice(OBJECTIVES),
    default=DEFAULT_OBJECTIVE,
    show_default=True,
    help="Metric by which CC is to be worse than the references.",
)
@set_option
@click.option(
    "--checks",
    type=click.IntRange(2),
    default=CHECKS,
    show_default=True,
    help="Fresh seeds that confirm a find.",
)
@click.option(
    "--confirm",
    type=click.Choice((LINUX, KERNEL)),
    help="Also run each confirmed find once with the kernel's own code, in real or in virtual time.",
)
@click.option("--kernel", metavar="VERSION|PATH", help=KERNEL_HELP.replace("--backend", "--confirm"))
@click.option(
    "--keep",
    "folder_of_finds",
    type=click.Path(file_okay=False),
    help="Add the confirmed finds to the suite in this folder.",
)
@first_seed_option
@workers_option
@dask_option
@click.option("--out", type=click.Path(file_okay=False), help="Folder for the runs and the report.")
@json_option
def command(
    cc: str,
    against: str | None,
    budget: str,
    families: str | None,
    objective: str,
    sets: tuple[str, ...],
    checks: int,
    confirm: str | None,
    kernel: str | None,
    folder_of_finds: str | None,
    seed: int,
    workers: int | None,
    dask: str | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Search for the network in which CC is much worse than other algorithms.

    CC takes the forms that `ackclock evaluate` takes. The search changes a link of 20 Mbit/s with an RTT of
    40 ms. Each find becomes the smallest network that still shows 80 % of the regret. Fresh seeds confirm it.
    Runs that are already in the folder are not repeated, so the same command continues an attack that was
    stopped.
    """
    backend = backend_of(confirm or SIM, kernel, "--confirm")
    prepare(backend)
    folder = Path(out or f"ackclock-out/attack-{slug(cc)}")
    with executor_of(dask, workers) as executor, progress("attack") as tell:
        found = attack(
            cc,
            against=split_list(against) if against else (),
            budget=budget,
            families=split_list(families) if families else (),
            objective=objective,
            sets=sets,
            checks=checks,
            confirm=backend if confirm else None,
            seed=seed,
            out=folder,
            executor=executor,
            progress=tell,
        )
    report = write_page(found, folder, command=shlex.join(["ackclock", *sys.argv[1:]]))
    kept = keep(found, Path(folder_of_finds)) if folder_of_finds else None
    if as_json:
        emit(json.dumps(attack_json(found), indent=2))
    else:
        if found.finds:
            show(finds_table(found))
        say(sentence(found))
        say(effort(found))
        for find in found.confirmed:
            if there := of_backend(found, find):
                say(f"{find.shrunk.network.text}: {there}.")
    warn(warned.line("networks") for warned in found.warnings)
    if kept is not None:
        talk(f"kept: {', '.join(kept) or 'no new network'} in {folder_of_finds}")
    talk(f"report: {report}")
