"""`ackclock schema`."""

from __future__ import annotations

import json

import click

from ackclock import _core
from ackclock.cli.console import emit
from ackclock.evaluation import present as evaluation
from ackclock.evidence import present as evidence
from ackclock.studies import keys


@click.command("schema")
@click.argument(
    "what", type=click.Choice(["scenario", "study", "evaluation", "evidence"]), default="scenario"
)
def command(what: str) -> None:
    """Print the JSON Schema of scenario or study files, or of the output of `evaluate` or `evidence`."""
    written = {
        "study": keys.json_schema,
        "evaluation": evaluation.json_schema,
        "evidence": evidence.json_schema,
    }
    emit(_core.schema_json() if what == "scenario" else json.dumps(written[what]()))
