"""Reference pages that follow from the product: commands, Python names and suites.

`generate.py` writes them. Texts come from click, docstrings and the files of the suite.
"""

import inspect
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import click

import ackclock
from ackclock.cli import GROUPS, cli
from ackclock.evaluation.suite import Environment, Suite
from markdown_table import table

#: The names of the Python reference, by section.
NAMES = {
    "Functions": (
        "run",
        "study",
        "evaluate",
        "coexist",
        "league",
        "attack",
        "tune",
        "harden",
        "query",
        "queue",
        "model",
        "check_cc",
        "include_dir",
    ),
    "Scenarios and results": ("Scenario", "RunResult", "StudyResult"),
    "Algorithms": ("CongestionControl", "Event", "Ack", "Congestion", "Loss", "Recovery", "Sent", "Finding"),
    "Executors": ("Executor", "dask_executor"),
    "Errors": ("AckclockError", "ArgumentError", "ScenarioError", "RunError", "StoreError"),
}
#: The pages of the suites, in `docs/reference/suites`.
SUITES = {
    "core": "core",
    "environments": "environments",
    "environments-cbr": "environments",
    "environments-drr": "environments",
    "tcpeval": "tcpeval",
    "rfc9743": "rfc9743",
    "coexist": "coexist",
    "random-loss": "random-loss",
    "shallow": "shallow",
    "bufferbloat": "bufferbloat",
    "ecn-bulk": "ecn-bulk",
    "datacentre": "datacentre",
    "wireless": "wireless",
    "satellite": "satellite",
    "call": "call",
    "app-limited": "app-limited",
    "policed": "policed",
    "aqm": "aqm",
    "l4s": "l4s",
    "rfc8867": "rfc8867",
    "video": "video",
    "web": "web",
    "found": "found",
}
MEGABIT, KILOBIT = 1e6, 1e3


#: A quoted argument of a command, which is not an apostrophe.
_QUOTED = re.compile(r"(?<![\w`])'([^'`]+)'(?!\w)")


def _plain(text: str | None) -> str:
    """A text of help as one line."""
    return _QUOTED.sub(r"`\1`", " ".join((text or "").split()))


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
            # click separates a default from its range by a semicolon.
            rows.append((f"`{record[0]}`", _plain(re.sub(r"; (?=[\dx<=>]+\]$)", ", ", record[1]))))
    parts.append(table(rows))
    return "\n\n".join(parts)


def _paragraphs(text: str | None) -> str:
    """Paragraphs, lists with an item on each line, and tables of click as blocks."""
    items = []
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            items.append(f"```text\n{paragraph[2:]}\n```")
        else:
            lines = "\n".join(map(_plain, re.split(r"\n(?=- )", paragraph)))
            items.append(lines.replace("<", "\\<"))
    return "\n\n".join(items)


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


def _range(values: list[float]) -> str:
    """One value, or the least and the largest."""
    least, largest = f"{values[0]:.4g}", f"{values[-1]:.4g}"
    return least if least == largest else f"{least} to {largest}"


def _rate(bits: float) -> str:
    return f"{bits / MEGABIT:g} Mbit/s" if bits >= MEGABIT else f"{bits / KILOBIT:g} kbit/s"


def _queue(text: str) -> str:
    """A queue with whole numbers of packets."""
    return re.sub(r"\d{3,}\.\d+", lambda found: f"{float(found[0]):.0f}", text.replace(";", ","))


def _environment(environment: Environment, section: str | None) -> tuple[str, ...]:
    document = json.loads(environment.base.resolved_json)
    # Replicates draw RTTs and rates around these.
    drawn = [f"replicates.{key}=0" for key in document.get("replicates") or ()]
    described = environment.base.with_sets(drawn).describe()
    bottleneck = next(link for link in described["links"] if link["name"] == described["bottleneck"])
    rtts = sorted(1e3 * flow["base_rtt_s"] for flow in described["flows"] if flow.get("base_rtt_s"))
    flows = ", ".join(f"{flow['count']} `{flow['name']}`" for flow in document["flows"])
    return (
        f"`{environment.id}`",
        *(() if section is None else (section,)),
        _rate(bottleneck["rate_bps"]),
        f"{_range(rtts)} ms",
        _queue(bottleneck["queue"]),
        flows,
        _plain(environment.question),
    )


def _sections(suite: Suite) -> dict[str, str]:
    """The sections of the criteria that use each environment, or nothing for a suite without criteria."""
    assert suite.folder is not None
    file = suite.folder / "criteria.toml"
    sections: dict[str, str] = {}
    for criterion in tomllib.loads(file.read_text(encoding="utf-8"))["criteria"] if file.exists() else ():
        for measure in criterion.get("measures", ()):
            before = sections.get(measure["environment"])
            found = criterion["section"]
            sections[measure["environment"]] = found if before in (None, found) else f"{before}, {found}"
    return sections


def environments(name: str) -> str:
    """The environments of a suite: rate, base RTT, queue, flows and question."""
    suite = Suite.load(name)
    sections = _sections(suite)
    head = ["environment", "rate", "base RTT", "queue", "flows", "question"]
    if sections:
        head.insert(1, "sections")
    found = (
        _environment(each, sections.get(each.id, "") if sections else None) for each in suite.environments
    )
    return table([tuple(head), ("---",) * len(head), *found])


def suites() -> str:
    """The suites in one table."""
    rows = [("suite", "environments", "replicates", "content"), ("---",) * 4]
    for name, page in SUITES.items():
        suite = Suite.load(name)
        shown = (f"[`{name}`]({page}.md)", str(len(suite.environments)), str(suite.replicates), suite.title)
        rows.append(shown)
    return table(rows)


def core_pictures() -> str:
    """A picture of each environment of `core`, two in a row."""
    cells = [
        f"{environment.title} (`{environment.id}`)<br>"
        f"![Windows and RTTs of CUBIC in {environment.id}](../../images/core/{environment.id}.svg)"
        for environment in Suite.load("core").environments
    ]
    return table([("", ""), ("---",) * 2, *zip(cells[::2], cells[1::2], strict=True)])
