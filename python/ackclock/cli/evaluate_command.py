"""`ackclock evaluate`."""

from __future__ import annotations

from typing import Any

import click

from ackclock.cli.evaluating import Options, evaluation_options, run_evaluation
from ackclock.evaluation.candidate import Candidate
from ackclock.evaluation.subject import ALGORITHM


@click.command("evaluate")
@click.argument("ccs", metavar="CC...", nargs=-1)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="TEXT",
    help="A rule as a candidate, such as 'grow = 1/w; cut = w/2' (docs/reference/rules.md). May be repeated.",
)
@evaluation_options("core", "CC", "cubic,aimd")
def command(ccs: tuple[str, ...], rules: tuple[str, ...], **options: Any) -> int:
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
    return run_evaluation(candidates, ALGORITHM, Options(**options))
