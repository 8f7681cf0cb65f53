"""`ackclock evaluate`."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ackclock.cli.console import emit, progress, say, show, talk
from ackclock.cli.options import first_seed_option, json_option, set_option, suite_option, workers_option
from ackclock.evaluation import evaluate
from ackclock.evaluation.candidate import Candidate, split_list
from ackclock.evaluation.gate import METRICS, Baseline, Check, Condition, gate_json
from ackclock.evaluation.report import write_report
from ackclock.evaluation.scoreboard import scoreboard_json, tables
from ackclock.evaluation.suite import Suite
from ackclock.evaluation.verdict import verdict

#: Characters of an algorithm in the name of a folder.
MOST_OF_A_NAME = 100


@click.command("evaluate")
@click.argument("cc", required=False)
@click.option(
    "--rule",
    "rule",
    metavar="TEXT",
    help="A rule in the place of CC, such as 'grow = 1/w; cut = w/2' (docs/rules.md).",
)
@click.option(
    "--against",
    multiple=True,
    metavar="CC",
    help="Algorithms to compare with, with commas between them; may be repeated. The first is the reference.",
)
@suite_option
@click.option(
    "--replicates", type=click.IntRange(1), help="Replicates per environment; the suite's number by default."
)
@click.option("--quick", is_flag=True, help="Three replicates, for a first impression.")
@first_seed_option
@set_option
@click.option(
    "--within-table",
    is_flag=True,
    help="Measure regret against the best of this table instead of the stored scores of the panel.",
)
@workers_option
@click.option("--out", type=click.Path(file_okay=False), help="Folder for the runs and the report.")
@click.option(
    "--baseline",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Folder of an earlier evaluation, for --fail-if.",
)
@click.option(
    "--fail-if",
    multiple=True,
    metavar="CONDITION",
    help="Exit with 1 if a metric changed by this much, such as 'goodput < -2 %'; may be repeated. "
    f"Metrics: {', '.join(METRICS)}.",
)
@json_option
def command(
    cc: str | None,
    rule: str | None,
    against: tuple[str, ...],
    suite: str,
    replicates: int | None,
    quick: bool,
    seed: int,
    sets: tuple[str, ...],
    within_table: bool,
    workers: int | None,
    out: str | None,
    baseline: str | None,
    fail_if: tuple[str, ...],
    as_json: bool,
) -> int:
    """Compare the algorithm CC with a panel: print a scoreboard and a verdict, write report.html.

    CC is a name (`ackclock list cc`), a name with parameters such as 'aimd(increase=2)', or an inline table
    such as '{ kind = "aimd", increase = 2 }'. Runs that are already in the folder are not repeated.
    """
    if (cc is None) == (rule is None):
        raise click.UsageError("give either CC or --rule")
    cc = Candidate.from_rule(rule).text if rule is not None else str(cc)
    if bool(baseline) != bool(fail_if):
        raise click.UsageError("--baseline and --fail-if go together")
    loaded = Suite.load(suite)
    conditions = [Condition.parse(text, loaded) for text in fail_if]
    before = None if baseline is None else Baseline.load(baseline)
    if before is not None:
        before.require(loaded, seed, sets)
    folder = Path(out or f"ackclock-out/evaluate-{_slug(cc)[:MOST_OF_A_NAME]}")
    with progress("running") as tell:
        evaluation = evaluate(
            cc,
            against=[name for text in against for name in split_list(text)] or None,
            suite=suite,
            replicates=replicates,
            quick=quick,
            seed=seed,
            sets=sets,
            within_table=within_table,
            out=folder,
            workers=workers,
            progress=tell,
        )
    board = evaluation.board
    checks = () if before is None else before.check(board, conditions)
    report = write_report(evaluation, folder, command=shlex.join(["ackclock", *sys.argv[1:]]))
    if as_json:
        gate = {} if before is None else {"gate": gate_json(before, checks)}
        emit(json.dumps(scoreboard_json(board) | gate, indent=2))
    else:
        for table in tables(board):
            show(table)
        say(verdict(board))
    talk(f"report: {report}")
    return _tell(checks)


def _tell(checks: Sequence[Check]) -> int:
    """Print the result of the gate to stderr, and return the exit code."""
    failed = [check for check in checks if check.failed]
    for check in failed:
        talk(f"gate: {check}; fails {check.condition.text!r}")
    if checks and not failed:
        talk(f"gate: passed, {len(checks)} checks")
    return 1 if failed else 0


def _slug(cc: str) -> str:
    return re.sub(r"[^a-z0-9+]+", "-", cc.lower()).strip("-")
