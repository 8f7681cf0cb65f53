"""`ackclock exchange`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ackclock import _core
from ackclock.cli.console import emit, say, show, talk
from ackclock.cli.emulating import KERNEL_HELP, chosen, names_of
from ackclock.cli.options import json_option
from ackclock.errors import BackendError, InputError
from ackclock.files.documents import text_of
from ackclock.files.kinds import hint_for_text
from ackclock.kernels import store as kernels
from ackclock.running.job import KERNEL, SIM, kernel_of
from ackclock.text.printable import printable
from ackclock.text.table import Table

Report = dict[str, Any]


@click.command("exchange")
@click.argument("paths", metavar="FILE.pkt|FOLDER...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--profile",
    metavar="NAME",
    default="rfc",
    show_default=True,
    help="Transport profile at the start of scripts. A script that runs `defaults.sh` selects linux.",
)
@click.option(
    "--backend",
    "backends",
    type=click.Choice((SIM, KERNEL)),
    multiple=True,
    help="TCP of the scripts: sim simulates, kernel runs a kernel in virtual time. Several are compared.",
)
@click.option("--kernel", "kernel_names", metavar="VERSION|PATH", multiple=True, help=KERNEL_HELP)
@json_option
def command(
    paths: tuple[str, ...],
    profile: str,
    backends: tuple[str, ...],
    kernel_names: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run packetdrill scripts against the simulated sender and receiver, or against a kernel.

    Given a folder, it runs every script in it, including subfolders. The exit code is 1 if a script sees an
    unexpected segment, and 2 if a script cannot be read. Scripts that need more than a sender and a receiver
    are named and skipped.

    \b
    --backend kernel  opens the sockets of a script in a guest, and needs a
                      built kernel
    --backend sim --backend kernel
                      prints the segments in which the two differ
    """
    names = names_of(chosen(backends, kernel_names, is_program=False))
    files = [file for path in paths for file in _files(path)]
    reports: dict[str, list[Report]] = {name: [] for name in names.values()}
    for file in files:
        text = _text(file)
        both = {name: _run(file, text, profile, backend) for backend, name in names.items()}
        for name, report in both.items():
            reports[name].append(report)
        if not as_json:
            _show(file, both)
    counts = {name: _counts(found) for name, found in reports.items()}
    if as_json:
        documents = {name: {**counts[name], "reports": found} for name, found in reports.items()}
        (first, *others) = documents.values()
        emit(json.dumps({"backends": documents} if others else first, indent=2))
    else:
        for name, count in counts.items():
            say(f"{f'{name}: ' if len(counts) > 1 else ''}{_summary(count)}")
    return max(
        2 if count["unreadable"] else int(count["failed"] > 0) for count in counts.values()
    )


_STATUSES = ("passed", "failed", "skipped", "unreadable")


def _counts(reports: Sequence[Report]) -> dict[str, int]:
    return {status: sum(report["status"] == status for report in reports) for status in _STATUSES}


def _summary(count: Mapping[str, int]) -> str:
    more = "".join(f", {count[status]} {status}" for status in ("skipped", "unreadable") if count[status])
    return f"{count['passed']} passed, {count['failed']} failed{more}"


def _files(path: str) -> list[str]:
    """The scripts of a folder, or a file itself."""
    if not Path(path).is_dir():
        return [path]
    found = sorted(str(file) for file in Path(path).rglob("*.pkt") if file.is_file())
    if not found:
        raise InputError(f"{path}: no script in this folder; their names end with .pkt")
    return found


def _text(file: str) -> str:
    try:
        return text_of(Path(file))
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: not a text in UTF-8") from None


def _run(file: str, text: str, profile: str, backend: str) -> Report:
    name = kernel_of(backend)
    kernel = kernels.named(name).image if name else None
    try:
        report: Report = json.loads(_core.exchange_json(text, file, profile, kernel))
    except ValueError as error:
        raise InputError(f"--profile {profile}: {error}") from None
    except _core.BackendError as error:
        raise BackendError(f"{file}: {error}") from None
    if report["status"] == "unreadable" and (hint := hint_for_text(Path(file), text, "script")):
        raise InputError(f"{file}: {hint}")
    return report


def _show(file: str, reports: Mapping[str, Report]) -> None:
    """Print the results of a script, and the segments in which several backends differ."""
    for name, report in reports.items():
        column = f"{name:<8} " if len(reports) > 1 else ""
        emit(printable(f"{column}{report['status']:<10} {file}"))
        if report["message"]:
            emit(printable(report["message"]))
        for note in report["notes"]:
            talk(f"note: {note['message']}")
    if len(reports) > 1 and (rows := _differences([report["answers"] for report in reports.values()])):
        table = Table("line", *reports, title="segments that differ")
        for row in rows:
            table.add_row(*row)
        show(table)


def _differences(answers: Sequence[Sequence[Mapping[str, Any]]]) -> list[tuple[str, ...]]:
    """Return the lines of a script with different answers, and the answer of each backend."""
    sides = [{answer["line"]: answer for answer in side} for side in answers]
    rows = []
    for line in sorted({line for side in sides for line in side}):
        found = [side.get(line) for side in sides]
        shown = [(answer or {}).get("segment") for answer in found]
        if len({(text, (answer or {}).get("at_ns")) for text, answer in zip(shown, found, strict=True)}) > 1:
            rows.append((str(line), *map(_answer, found)))
    return rows


def _answer(answer: Mapping[str, Any] | None) -> str:
    if answer is None:
        return "not reached"
    if answer["segment"] is None:
        return "no segment"
    return f"{answer['at_ns'] / 1e9:.6f} s  {answer['segment']}"
