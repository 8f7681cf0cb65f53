"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

Command = Callable[..., Any]

set_option: Callable[[Command], Command] = click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the scenario, such as flows.test.cc.increase=2. May be repeated.",
)
metric_option: Callable[[Command], Command] = click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Show this metric instead of the usual ones, such as 'share(cubic, bbr3)'. May be repeated.",
)
interactive_option: Callable[[Command], Command] = click.option(
    "--interactive",
    is_flag=True,
    help="Embed the simulator in report.html, so that readers can repeat any run in their browser.",
)
json_option: Callable[[Command], Command] = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON."
)
seed_option: Callable[[Command], Command] = click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=None,
    help="Seed of all random streams. Default: the scenario's.",
)
suite_option: Callable[[Command], Command] = click.option(
    "--suite", default="core", show_default=True, help="Name of a suite, or folder with a suite.toml."
)
first_seed_option: Callable[[Command], Command] = click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=1,
    show_default=True,
    help="Seed of all random streams.",
)


def check_seed(sets: Iterable[str], option: str | None) -> None:
    """Raise `UsageError` for a changed seed if an option gives the seed."""
    if option is not None and any(text.partition("=")[0].strip() == "seed" for text in sets):
        raise click.UsageError(f"--set seed reaches nothing: {option} gives the seed")


def budget_option(default: str) -> Callable[[Command], Command]:
    """Return the option of the budget of a search."""
    return click.option(
        "--budget",
        default=default,
        show_default=True,
        help="Number of runs, or a time such as '10 min', of everything.",
    )


workers_option: Callable[[Command], Command] = click.option(
    "--workers", type=click.IntRange(1), help="Number of threads. Default: one per core."
)
file_argument: Callable[[Command], Command] = click.argument("file", type=click.Path(readable=False))
