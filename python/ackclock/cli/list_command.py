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
@click.argument("name", metavar="[NAME]", required=False)
@json_option
def command(kind: str, name: str | None, as_json: bool) -> None:
    """List everything of KIND: cc, recovery, queue, loss, traffic, topology, channel, suite or paper.

    NAME shows one of them with its parameters.
    """
    if kind not in _KINDS:
        raise click.UsageError(f"nothing of kind {kind!r} can be listed; {hint(kind, _KINDS)}")
    files = {"suite": _suites, "paper": _papers}
    entries = files[kind]() if kind in files else json.loads(_core.list_json(kind))
    if name is not None:
        names = {known: entry for entry in entries for known in (entry["name"], *entry.get("aliases", ()))}
        if name not in names:
            raise click.UsageError(f"no {kind} is called {name!r}; {hint(name, list(names))}")
        entries = [names[name]]
    if as_json:
        emit(json.dumps(entries if name is None else entries[0], indent=2))
    elif name is not None:
        _show_one(entries[0])
    else:
        _show_all(kind, entries)


def _show_all(kind: str, entries: list[dict[str, Any]]) -> None:
    from ackclock.text.table import Table

    has_parameters = any(entry.get("parameters") for entry in entries)
    more = f"ackclock list {kind} NAME shows the parameters." if has_parameters else ""
    table = Table("name", "what it is", caption=more)
    family = None
    for entry in entries:
        if entry.get("family") != family:
            family = entry["family"]
            table.add_section(family)
        name = ", ".join((entry["name"], *entry.get("aliases", ())))
        table.add_row(name, _first_sentence(entry["summary"]) if family else entry["summary"])
    show(table)


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].removesuffix(".")


def _show_one(entry: dict[str, Any]) -> None:
    from ackclock.text.table import Table

    facts = Table("name", ", ".join((entry["name"], *entry.get("aliases", ()))))
    named = {
        "family": entry.get("family"),
        "what it is": entry["summary"],
        "reference": entry.get("reference"),
    }
    for label, value in named.items():
        if value:
            facts.add_row(label, value)
    show(facts)
    if entry.get("parameters"):
        table = Table("parameter", "default", "takes", "meaning")
        for parameter in entry["parameters"]:
            table.add_row(parameter["name"], _default(parameter), parameter["takes"], parameter["help"])
        show(table)


def _default(parameter: dict[str, Any]) -> str:
    if parameter["required"]:
        return "needed"
    return "" if parameter["default"] is None else _text(parameter["default"])


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
