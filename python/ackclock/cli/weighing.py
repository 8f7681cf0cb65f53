"""The option for the weights of the default score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ackclock.evaluation.ranking import WEIGHTED


def _weights(_context: click.Context, _parameter: click.Parameter, text: str) -> dict[str, float]:
    """Read `NAME=NUMBER,...`."""
    found = {}
    for part in text.split(",") if text else ():
        name, _, number = part.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise click.BadParameter(f"{part!r}: expected NAME=NUMBER, as in delay_score=0") from None
    return found


weights_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--weights",
    default="",
    callback=_weights,
    metavar="NAME=NUMBER,...",
    help="Weights of metrics in the default score, such as delay_score=0. Others weigh 1. "
    f"Names: {', '.join(WEIGHTED)}.",
)
