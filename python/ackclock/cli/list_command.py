"""`ackclock list`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ackclock import _core
from ackclock.cli.console import emit, show
from ackclock.cli.options import json_option
from ackclock.text.suggest import hint

if TYPE_CHECKING:
    from ackclock.evaluation.suite import Suite

#: The lists of the core, and suites and papers, which are files.
_KINDS = ("cc", "recovery", "queue", "loss", "traffic", "topology", "channel", "suite", "paper")


@click.command("list")
@click.argument("kind", metavar="KIND")
@json_option
def command(kind: str, as_json: bool) -> None:
    """List everything of KIND: cc, recovery, queue, loss, traffic, topology, channel, suite or paper."""
    if kind not in _KINDS:
        raise click.UsageError(f"nothing of kind {kind!r} can be listed; {hint(kind, _KINDS)}")
    files = {"suite": _suites, "paper": _papers}
    entries = files[kind]() if kind in files else json.loads(_core.list_json(kind))
    if as_json:
        emit(json.dumps(entries, indent=2))
        return
    from ackclock.text.table import Table

    table = Table("name", "what it is", "parameters (defaults)")
    for entry in entries:
        parameters = ", ".join(map(_parameter, entry.get("parameters", ())))
        table.add_row(entry["name"], entry["summary"], parameters)
    show(table)


def _parameter(parameter: dict[str, Any]) -> str:
    name, default = parameter["name"], parameter["default"]
    if parameter["required"]:
        return f"{name} (needed)"
    return str(name) if default is None else f"{name}={_text(default)}"


def _text(value: Any) -> str:
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
            "summary": f"{suite.title} (version {suite.version}, {_counted(suite)})",
            "environments": [
                {
                    "id": environment.id,
                    "question": environment.question,
                    "fixed": not environment.base.is_random,
                }
                for environment in suite.environments
            ],
        }
        for suite in suites
    ]


def _counted(suite: Suite) -> str:
    """Say how many environments there are, and in how many of them nothing is random."""
    fixed = sum(not environment.base.is_random for environment in suite.environments)
    return f"{len(suite.environments)} environments{f', {fixed} fixed' if fixed else ''}"


def _papers() -> list[dict[str, Any]]:
    from ackclock.reproduce.claims import claims_of
    from ackclock.reproduce.paper import Paper, paper_names

    papers = [Paper.load(name) for name in paper_names()]
    return [
        {"name": paper.name, "summary": f"{paper.title} ({len(claims_of(paper))} claims)"} for paper in papers
    ]
