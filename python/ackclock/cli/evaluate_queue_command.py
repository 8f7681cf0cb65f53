"""`ackclock evaluate-queue`."""

from __future__ import annotations

from typing import Any

import click

from ackclock.cli.evaluating import Options, evaluation_options, run_evaluation
from ackclock.evaluation.subject import QUEUE_DISCIPLINE


@click.command("evaluate-queue")
@click.argument("queues", metavar="QUEUE...", nargs=-1, required=True)
@evaluation_options("aqm", "QUEUE", "drop-tail,codel")
def command(queues: tuple[str, ...], **options: Any) -> int:
    """Compare the queue discipline QUEUE with a panel: print a scoreboard and a verdict, write report.html.

    QUEUE is one of these:

    \b
    a name (`ackclock list queue`)  codel
    a name with parameters          'codel(target=10 ms)'
    an inline table                 '{ kind = "red", ecn = true }'

    The bottleneck of each environment gets the queue. The environment sets the buffer, unless the queue
    names a limit. The flows keep their algorithms. Several queues are ranked against each other.
    """
    return run_evaluation([*queues], QUEUE_DISCIPLINE, Options(**options))
