"""Reference pages that follow from the product: commands, Python names and the suite core.

`generate.py` writes them. Texts come from click, docstrings and the files of the suite.
"""

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import click

import ackclock
from ackclock.cli import GROUPS, cli
from ackclock.evaluation.suite import Environment, Suite
from markdown_table import table

#: The names of the Python reference, by section.
NAMES = {
    "Functions": ("run", "study", "evaluate", "tune", "query", "model", "check_cc", "include_dir"),
    "Scenarios and results": ("Scenario", "RunResult", "StudyResult"),
    "Algorithms": ("CongestionControl", "Event", "Ack", "Congestion", "Loss", "Recovery", "Sent", "Finding"),
    "Executors": ("Executor", "dask_executor"),
    "Errors": ("AckclockError", "ArgumentError", "ScenarioError", "RunError", "StoreError"),
}
MEGABIT = 1e6


def _plain(text: str | None) -> str:
    """A text of help as one line."""
    return " ".join((text or "").replace("\b", " ").split())


# The command line


def _commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            if below is not None:
                yield from _commands(f"{name} {each}", below)


def _found(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None, name
    return command


def _section(name: str, command: click.Command, level: str) -> str:
    context = click.Context(command, info_name=f"ackclock {name}")
    parts = [f"{level} ackclock {name}", _paragraphs(command.help)]
    usage = " ".join(["ackclock", name, *command.collect_usage_pieces(context)])
    parts.append(f"```text\n{usage}\n```")
    rows = [("option", "meaning"), ("---",) * 2]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        # An argument without a text is in the usage line.
        if record is not None and record[1]:
            rows.append((f"`{record[0]}`", _plain(record[1])))
    parts.append(table(rows))
    return "\n\n".join(parts)


def _paragraphs(text: str | None) -> str:
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(_plain(paragraph).replace("<", "\\<") for paragraph in paragraphs)


def command_pages() -> Iterator[tuple[str, str]]:
    """Name and text of each page of the command-line reference."""
    for name in cli.list_commands(click.Context(cli)):
        sections = list(_commands(name, _found(name)))
        text = "\n\n".join(
            _section(each, command, "##" if at else "#") for at, (each, command) in enumerate(sections)
        )
        yield name, f"{text}\n"


def command_index() -> str:
    """All commands, a line each, in their groups."""
    parts = []
    for group, names in GROUPS.items():
        rows = [("command", "purpose"), ("---",) * 2]
        rows += [(f"[`{name}`]({name}.md)", _plain(_found(name).get_short_help_str(200))) for name in names]
        parts.append(f"## {group}\n\n{table(rows)}")
    return "\n\n".join(parts)


# Python


def _signature(name: str, found: Any) -> str:
    try:
        # Annotations are texts.
        text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", f"{name}{inspect.signature(found)}")
        # A default without a name has an address, which changes.
        return re.sub(r"<[^=]*? at 0x[0-9a-f]+>", "...", text)
    except (TypeError, ValueError):
        return name


def _members(found: type) -> list[tuple[str, str]]:
    rows = [("attribute", "meaning"), ("---",) * 2]
    for name, member in inspect.getmembers(found):
        if name.startswith("_"):
            continue
        document = inspect.getdoc(member)
        if document and (
            inspect.isroutine(member) or isinstance(member, property) or hasattr(member, "__get__")
        ):
            rows.append((f"`{name}{'()' if inspect.isroutine(member) else ''}`", _plain(document)))
    return rows


def python_reference() -> str:
    """Signature, docstring and attributes of each public name."""
    parts = []
    for section, names in NAMES.items():
        parts.append(f"## {section}")
        for name in names:
            found = getattr(ackclock, name)
            parts += [
                f"### {name}",
                f"```text\n{_signature(name, found)}\n```",
                _paragraphs(inspect.getdoc(found)),
            ]
            members = _members(found) if inspect.isclass(found) and not issubclass(found, Exception) else []
            if len(members) > 2:
                parts.append(table(members))
    return "\n\n".join(parts)


# Suites


def _environment(environment: Environment) -> tuple[str, ...]:
    document = json.loads(environment.base.resolved_json)
    # Replicates draw RTTs and rates around these.
    drawn = [f"replicates.{key}=0" for key in document.get("replicates") or ()]
    described = environment.base.with_sets(drawn).describe()
    bottleneck = next(link for link in described["links"] if link["name"] == described["bottleneck"])
    rtts = sorted(
        {round(1e3 * flow["base_rtt_s"], 3) for flow in described["flows"] if flow.get("base_rtt_s")}
    )
    flows = ", ".join(f"{flow['count']} {flow['name']}" for flow in document["flows"])
    shown = f"{rtts[0]:g}" if len(rtts) == 1 else f"{rtts[0]:g} to {rtts[-1]:g}"
    rate = f"{bottleneck['rate_bps'] / MEGABIT:g} Mbit/s"
    return (
        f"`{environment.id}`",
        rate,
        f"{shown} ms",
        bottleneck["queue"],
        flows,
        _plain(environment.question),
    )


def core_environments() -> str:
    """The environments of `core`: rate, base RTT, queue, flows and question."""
    rows = [("environment", "rate", "base RTT", "queue", "flows", "question"), ("---",) * 6]
    return table([*rows, *map(_environment, Suite.load("core").environments)])
