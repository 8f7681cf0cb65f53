"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]

set_option: Callable[[Command], Command] = click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a key after shorthand is expanded, such as flows.test.cc.increase=2; may be repeated.",
)
json_option: Callable[[Command], Command] = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON."
)
seed_option: Callable[[Command], Command] = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=None, help="Seed of all random streams."
)
file_argument: Callable[[Command], Command] = click.argument("file", type=click.Path(readable=False))
