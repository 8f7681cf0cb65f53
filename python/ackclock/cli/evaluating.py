"""The commands that evaluate candidates: options, and output."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from ackclock.cli.console import emit, progress, say, show, talk, warn
from ackclock.cli.emulating import backend_of, backend_option, tell_invalid
from ackclock.cli.options import (
    first_seed_option,
    interactive_option,
    json_option,
    set_option,
    workers_option,
)
from ackclock.cli.weighing import weights_option
from ackclock.evaluation import evaluate
from ackclock.evaluation.gate import Baseline, Check, Condition, gate_json
from ackclock.evaluation.present import ranking_table, rivals_table
from ackclock.evaluation.ranking import METRICS as RANKED
from ackclock.evaluation.ranking import SHARES
from ackclock.evaluation.report import write_report
from ackclock.evaluation.score import METRICS
from ackclock.evaluation.scoreboard import WORST, legend, tables
from ackclock.evaluation.subject import QUEUE_DISCIPLINE
from ackclock.evaluation.suite import Suite
from ackclock.files.labels import slug, split_list
from ackclock.page.embedded import web
from ackclock.running.backend import prepare
from ackclock.running.job import SIM, kind_of

#: Characters of a candidate in the name of a folder.
MOST_OF_A_NAME = 100


class Options(NamedTuple):
    """The options of a command that evaluates."""

    against: tuple[str, ...]
    suite: str
    replicates: int | None
    quick: bool
    budget: str | None
    metric: str
    weights: dict[str, float]
    seed: int
    sets: tuple[str, ...]
    within_table: bool
    backend: str
    kernel: str | None
    workers: int | None
    out: str | None
    baseline: str | None
    fail_if: tuple[str, ...]
    full: bool
    interactive: bool
    as_json: bool


def evaluation_options(suite: str, metavar: str, against: str) -> Callable[..., Any]:
    """Add the options of an evaluation to a command. `suite` is the default, `against` an example."""
    options = (
        click.option(
            "--against",
            multiple=True,
            metavar=metavar,
            help=f"Candidates to compare with, such as {against}. The first is the reference. Repeatable.",
        ),
        click.option(
            "--suite", default=suite, show_default=True, help="Name of a suite, or folder with a suite.toml."
        ),
        click.option(
            "--replicates",
            type=click.IntRange(1),
            help="Replicates per environment. Default: the suite's number.",
        ),
        click.option("--quick", is_flag=True, help="Three replicates, for a first impression."),
        click.option(
            "--budget",
            metavar="BUDGET",
            help="Limit on all runs: CPU seconds, such as 30s, or a number of runs. Clearly worse "
            "candidates are dropped early (docs/learn/how-algorithms-are-compared.md).",
        ),
        click.option(
            "--metric",
            type=click.Choice(RANKED),
            default=SHARES,
            show_default=True,
            help="Metric that the score uses.",
        ),
        weights_option,
        first_seed_option,
        set_option,
        click.option(
            "--within-table",
            is_flag=True,
            help="Measure regret against the best of this table instead of the stored scores of the panel.",
        ),
        backend_option,
        workers_option,
        click.option("--out", type=click.Path(file_okay=False), help="Folder for the runs and the report."),
        click.option(
            "--baseline",
            type=click.Path(file_okay=False),
            metavar="DIR",
            help="Folder of an earlier evaluation, for --fail-if.",
        ),
        click.option(
            "--fail-if",
            multiple=True,
            metavar="CONDITION",
            help="Exit with 1 if a metric changed by this much, such as 'goodput < -2 %'. May be repeated. "
            f"Metrics: {', '.join(METRICS)}.",
        ),
        click.option("--full", is_flag=True, help="Print all environments, regret and competitors."),
        interactive_option,
        json_option,
    )

    def added(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return added


def run_evaluation(candidates: list[str], subject: str, options: Options) -> int:
    """Evaluate candidates, print tables and verdict, write the report, and return the exit code."""
    if options.baseline and len(candidates) > 1:
        raise click.UsageError("--baseline takes one candidate")
    if bool(options.baseline) != bool(options.fail_if):
        raise click.UsageError("--baseline and --fail-if go together")
    loaded = Suite.load(options.suite)
    if loaded.subject.name != subject:
        other = "evaluate" if subject == QUEUE_DISCIPLINE else "evaluate-queue"
        raise click.UsageError(f"suite {loaded.name} tests {loaded.subject.place}; use `ackclock {other}`")
    conditions = [Condition.parse(text, loaded) for text in options.fail_if]
    before = None if options.baseline is None else Baseline.load(options.baseline)
    if before is not None:
        before.require(loaded, options.seed, options.sets)
    backend = backend_of(options.backend, options.kernel)
    prepare(backend)
    if options.interactive:
        web()
    emulated = "" if backend == SIM else f"-{kind_of(backend)}"
    folder = Path(options.out or f"ackclock-out/evaluate-{_name(candidates)}{emulated}")
    with progress("running") as tell:
        evaluation = evaluate(
            candidates if len(candidates) > 1 else candidates[0],
            against=[name for text in options.against for name in split_list(text)] or None,
            suite=options.suite,
            replicates=options.replicates,
            quick=options.quick,
            budget=options.budget,
            metric=options.metric,
            weights=options.weights,
            seed=options.seed,
            sets=options.sets,
            within_table=options.within_table,
            out=folder,
            workers=options.workers,
            backend=backend,
            progress=tell,
        )
    board = evaluation.board
    checks = () if before is None else before.check(board, conditions)
    report = write_report(
        evaluation,
        folder,
        command=_again(),
        is_interactive=options.interactive,
    )
    if options.as_json:
        gate = {} if before is None else {"gate": gate_json(before, checks)}
        emit(json.dumps(evaluation.document | gate, indent=2))
    else:
        is_ranked = len(candidates) > 1 or options.budget is not None
        only = None if options.full else evaluation.worst_environments(WORST)
        if options.full or not is_ranked:
            say(legend(board))
            if only is not None and len(only) < len(board.results):
                say(f"the {len(only)} worst environments by score (--full prints all {len(board.results)})")
        shown = [ranking_table(evaluation.ranking)] if is_ranked else []
        if options.full or not is_ranked:
            shown += tables(board, only)
        if options.full and evaluation.competitors:
            shown.append(rivals_table(evaluation))
        for table in shown:
            show(table)
        if options.full:
            say(evaluation.verdict)
        say("\n".join(evaluation.lines))
    tell_invalid(evaluation.invalid, evaluation.runs)
    warn(warned.line("environments") for warned in evaluation.warnings)
    details = "" if options.full or options.as_json else f"   details: {_again()} --full"
    talk(f"report: {report}{details}")
    return _tell(checks) if evaluation.best is not None else 2


def _again() -> str:
    """Return the command line as it was typed."""
    return shlex.join(["ackclock", *sys.argv[1:]])


def _name(candidates: Sequence[str]) -> str:
    """Return the name of a folder for candidates."""
    first, others = slug(candidates[0])[:MOST_OF_A_NAME], len(candidates) - 1
    return f"{first}-and-{others}-more" if others else first


def _tell(checks: Sequence[Check]) -> int:
    """Print the result of the gate to stderr, and return the exit code."""
    failed = [check for check in checks if check.failed]
    for check in failed:
        talk(f"gate: {check}; fails {check.condition.text!r}")
    if checks and not failed:
        talk(f"gate: passed, {len(checks)} checks")
    return 1 if failed else 0
