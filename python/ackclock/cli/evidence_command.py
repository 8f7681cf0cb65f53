"""`ackclock evidence`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import click

from ackclock.cli.console import emit, progress, say, show, talk, warn
from ackclock.cli.options import first_seed_option, json_option, set_option, workers_option
from ackclock.evidence import gather
from ackclock.evidence.present import evidence_json, sentences, summary_table
from ackclock.evidence.report import write_report
from ackclock.files.labels import slug, split_list

#: Characters of an algorithm in the name of a folder.
_LONGEST = 100


@click.command("evidence")
@click.argument("cc", metavar="CC")
@click.option(
    "--against",
    multiple=True,
    metavar="CC",
    help="Algorithms to compare with. Default: CUBIC, Reno and BBRv3, which the criteria name.",
)
@click.option(
    "--criteria",
    default="rfc9743",
    show_default=True,
    help="Criteria by name, or a folder with a suite.toml and a criteria.toml.",
)
@click.option("--only", multiple=True, metavar="SECTION", help="A section, such as 5.1. May be repeated.")
@click.option("--replicates", type=click.IntRange(1), help="Replicates per environment. Default: 20.")
@click.option("--quick", is_flag=True, help="Two replicates, for a first impression.")
@first_seed_option
@set_option
@workers_option
@click.option("--out", type=click.Path(file_okay=False), help="Folder for the runs and the report.")
@json_option
def command(
    cc: str,
    against: tuple[str, ...],
    criteria: str,
    only: tuple[str, ...],
    replicates: int | None,
    quick: bool,
    seed: int,
    sets: tuple[str, ...],
    workers: int | None,
    out: str | None,
    as_json: bool,
) -> int:
    """Measure the criteria of RFC 9743 for CC, and write a report by criterion.

    CC is an algorithm in a form that `ackclock evaluate` takes, such as a name or my_cc.py:MyCc. Each
    criterion is measured, measured in part, or needs a human. The command does not judge whether a criterion
    is met. It writes evidence.html, evidence.md and evidence.json. Runs that are already in the folder are
    not repeated.
    """
    folder = Path(out or f"ackclock-out/evidence-{slug(cc)[:_LONGEST]}")
    with progress("running") as tell:
        evidence = gather(
            cc,
            against=[name for text in against for name in split_list(text)] or None,
            criteria=criteria,
            only=only,
            replicates=replicates,
            quick=quick,
            seed=seed,
            sets=sets,
            out=folder,
            workers=workers,
            progress=tell,
        )
    report = write_report(evidence, folder, command=shlex.join(["ackclock", *sys.argv[1:]]))
    if as_json:
        emit(json.dumps(evidence_json(evidence, folder), indent=2))
    else:
        show(summary_table(evidence))
        say(" ".join(sentences(evidence)))
    warn(warned.line("environments") for warned in evidence.warnings)
    talk(f"report: {report}")
    return 0
