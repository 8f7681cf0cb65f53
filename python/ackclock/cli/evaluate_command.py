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
from ackclock.cli.emulating import backend_of, backend_option, tell_invalid
from ackclock.cli.options import (
    first_seed_option,
    interactive_option,
    json_option,
    set_option,
    suite_option,
    workers_option,
)
from ackclock.evaluation import evaluate
from ackclock.evaluation.candidate import Candidate, split_list
from ackclock.evaluation.gate import METRICS, Baseline, Check, Condition, gate_json
from ackclock.evaluation.present import ranking_table, rivals_table
from ackclock.evaluation.ranking import METRICS as RANKED
from ackclock.evaluation.ranking import SHARES
from ackclock.evaluation.report import write_report
from ackclock.evaluation.scoreboard import WORST, legend, tables
from ackclock.evaluation.suite import Suite
from ackclock.page.embedded import web
from ackclock.running.backend import prepare
from ackclock.running.job import SIM, kind_of

#: Characters of an algorithm in the name of a folder.
MOST_OF_A_NAME = 100


@click.command("evaluate")
@click.argument("ccs", metavar="CC...", nargs=-1)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="TEXT",
    help="A rule as a candidate, such as 'grow = 1/w; cut = w/2' (docs/reference/rules.md). May be repeated.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="CC",
    help="Algorithms to compare with, such as cubic,aimd. May be repeated. The first is the reference.",
)
@suite_option
@click.option(
    "--replicates", type=click.IntRange(1), help="Replicates per environment. Default: the suite's number."
)
@click.option("--quick", is_flag=True, help="Three replicates, for a first impression.")
@click.option(
    "--budget",
    metavar="BUDGET",
    help="Limit of all runs: seconds of one core, such as 30s, or a number of runs. Clearly worse "
    "candidates are dropped early (docs/learn/how-algorithms-are-compared.md).",
)
@click.option(
    "--metric",
    type=click.Choice(RANKED),
    default=SHARES,
    show_default=True,
    help="Metric that makes the score.",
)
@first_seed_option
@set_option
@click.option(
    "--within-table",
    is_flag=True,
    help="Measure regret against the best of this table instead of the stored scores of the panel.",
)
@backend_option
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
    help="Exit with 1 if a metric changed by this much, such as 'goodput < -2 %'. May be repeated. "
    f"Metrics: {', '.join(METRICS)}.",
)
@click.option("--full", is_flag=True, help="Print all environments, regret and competitors.")
@interactive_option
@json_option
def command(
    ccs: tuple[str, ...],
    rules: tuple[str, ...],
    against: tuple[str, ...],
    suite: str,
    replicates: int | None,
    quick: bool,
    budget: str | None,
    metric: str,
    seed: int,
    sets: tuple[str, ...],
    within_table: bool,
    backend: str,
    kernel: str | None,
    workers: int | None,
    out: str | None,
    baseline: str | None,
    fail_if: tuple[str, ...],
    full: bool,
    interactive: bool,
    as_json: bool,
) -> int:
    """Compare the algorithm CC with a panel: print a scoreboard and a verdict, write report.html.

    CC is one of these:

    \b
    a name (`ackclock list cc`)  cubic
    a name with parameters       'aimd(increase=2)'
    a file                       my_cc.py:MyCc, my_cc.so, my-cc.rule
    a rule                       'rule grow = 1/w; cut = w/2'
    an inline table              '{ kind = "aimd", increase = 2 }'

    Several algorithms are ranked against each other with the same random draws. The command then prints the
    ranking, and the report shows the scores. Runs that are already in the folder are not repeated.
    """
    candidates = [*ccs, *(Candidate.from_rule(rule).text for rule in rules)]
    if not candidates:
        raise click.UsageError("give one CC or more, or --rule")
    if baseline and len(candidates) > 1:
        raise click.UsageError("--baseline takes one candidate")
    if bool(baseline) != bool(fail_if):
        raise click.UsageError("--baseline and --fail-if go together")
    loaded = Suite.load(suite)
    conditions = [Condition.parse(text, loaded) for text in fail_if]
    before = None if baseline is None else Baseline.load(baseline)
    if before is not None:
        before.require(loaded, seed, sets)
    backend = backend_of(backend, kernel)
    prepare(backend)
    if interactive:
        web()
    emulated = "" if backend == SIM else f"-{kind_of(backend)}"
    folder = Path(out or f"ackclock-out/evaluate-{_name(candidates)}{emulated}")
    with progress("running") as tell:
        evaluation = evaluate(
            candidates if len(candidates) > 1 else candidates[0],
            against=[name for text in against for name in split_list(text)] or None,
            suite=suite,
            replicates=replicates,
            quick=quick,
            budget=budget,
            metric=metric,
            seed=seed,
            sets=sets,
            within_table=within_table,
            out=folder,
            workers=workers,
            backend=backend,
            progress=tell,
        )
    board = evaluation.board
    checks = () if before is None else before.check(board, conditions)
    report = write_report(
        evaluation,
        folder,
        command=_again(),
        is_interactive=interactive,
    )
    if as_json:
        gate = {} if before is None else {"gate": gate_json(before, checks)}
        emit(json.dumps(evaluation.document | gate, indent=2))
    else:
        is_ranked = len(candidates) > 1 or budget is not None
        only = None if full else evaluation.worst_environments(WORST)
        if full or not is_ranked:
            say(legend(board))
            if only is not None and len(only) < len(board.results):
                say(f"the {len(only)} worst environments by score (--full prints all {len(board.results)})")
        shown = [ranking_table(evaluation.ranking)] if is_ranked else []
        if full or not is_ranked:
            shown += tables(board, only)
        if full and evaluation.competitors:
            shown.append(rivals_table(evaluation))
        for table in shown:
            show(table)
        if full:
            say(evaluation.verdict)
        say("\n".join(evaluation.lines))
    tell_invalid(evaluation.invalid, evaluation.runs)
    for warned in evaluation.warnings:
        talk(f"warning: {warned.line('environments')}")
    details = "" if full or as_json else f"   details: {_again()} --full"
    talk(f"report: {report}{details}")
    return _tell(checks) if evaluation.best is not None else 2


def _again() -> str:
    """Return the command line as it was typed."""
    return shlex.join(["ackclock", *sys.argv[1:]])


def _name(candidates: Sequence[str]) -> str:
    """Return the name of a folder for candidates."""
    first, others = _slug(candidates[0])[:MOST_OF_A_NAME], len(candidates) - 1
    return f"{first}-and-{others}-more" if others else first


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
