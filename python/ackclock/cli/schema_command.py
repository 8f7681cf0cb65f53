"""`ackclock schema`."""

from __future__ import annotations

import click

from ackclock import _core


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of scenario files, for editors and validators."""
    click.echo(_core.schema_json())
