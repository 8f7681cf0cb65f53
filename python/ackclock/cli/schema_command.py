"""`ackclock schema`."""

from __future__ import annotations

import json

import click

from ackclock import _core
from ackclock.cli.console import emit
from ackclock.studies.keys import json_schema


@click.command("schema")
@click.argument("what", type=click.Choice(["scenario", "study"]), default="scenario")
def command(what: str) -> None:
    """Print the JSON Schema of scenario or study files, for editors and validators."""
    emit(_core.schema_json() if what == "scenario" else json.dumps(json_schema()))
