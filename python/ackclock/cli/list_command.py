"""`ackclock list`."""

from __future__ import annotations

import json
from typing import Any

import click

from ackclock import _core
from ackclock.cli import suggestion
from ackclock.cli.options import json_option

#: What the core can list, and the suites, which are files.
_KINDS = ("cc", "recovery", "queue", "loss", "traffic", "topology", "suite")


@click.command("list")
@click.argument("kind", metavar="KIND")
@json_option
def command(kind: str, as_json: bool) -> None:
    """List what there is of KIND: cc, recovery, queue, loss, traffic, topology or suite."""
    if kind not in _KINDS:
        raise click.UsageError(f"nothing of kind {kind!r} can be listed{suggestion(kind, _KINDS)}")
    entries = _suites() if kind == "suite" else json.loads(_core.list_json(kind))
    if as_json:
        click.echo(json.dumps(entries, indent=2))
        return
    from rich import box
    from rich.table import Table

    from ackclock.cli.console import show

    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("name", "what it is", "parameters (defaults)"):
        table.add_column(heading)
    for entry in entries:
        parameters = ", ".join(
            f"{parameter['name']}={_text(parameter['default'])}" for parameter in entry.get("parameters", ())
        )
        table.add_row(entry["name"], entry["summary"], parameters)
    show(table)


def _text(value: Any) -> str:
    if value is None:
        return "(needed)"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _suites() -> list[dict[str, Any]]:
    from importlib import resources
    from pathlib import Path

    from ackclock.evaluation.suite import Suite

    folder = Path(str(resources.files("ackclock.suites")))
    suites = [Suite.load(path.parent.name) for path in sorted(folder.glob("*/suite.toml"))]
    return [
        {
            "name": suite.name,
            "summary": f"{suite.title} (version {suite.version}, {len(suite.environments)} environments)",
            "environments": [
                {"id": environment.id, "question": environment.question} for environment in suite.environments
            ],
        }
        for suite in suites
    ]
