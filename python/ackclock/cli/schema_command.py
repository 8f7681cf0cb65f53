"""`ackclock schema`."""

from __future__ import annotations

import json

import click

from ackclock import _core
from ackclock.cli.console import emit
from ackclock.evaluation import present
from ackclock.studies import keys


@click.command("schema")
@click.argument("what", type=click.Choice(["scenario", "study", "evaluation"]), default="scenario")
def command(what: str) -> None:
    """Print the JSON Schema of scenario or study files, or of what `evaluate --json` prints."""
    if what == "scenario":
        emit(_core.schema_json())
    else:
        emit(json.dumps(keys.json_schema() if what == "study" else present.json_schema()))
