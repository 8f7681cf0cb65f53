"""`ackclock exchange`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ackclock._core import exchange_json
from ackclock.cli.console import emit, say, talk
from ackclock.cli.options import json_option
from ackclock.errors import InputError
from ackclock.files.documents import text_of
from ackclock.files.kinds import hint_for_text
from ackclock.text.printable import printable


@click.command("exchange")
@click.argument("paths", metavar="FILE.pkt|FOLDER...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--profile",
    metavar="NAME",
    default="rfc",
    show_default=True,
    help="Transport profile at the start of scripts. A script that runs `defaults.sh` selects linux.",
)
@json_option
def command(paths: tuple[str, ...], profile: str, as_json: bool) -> int:
    """Run packetdrill scripts against the simulated sender and receiver.

    Given a folder, it runs every script in it, including subfolders. The exit code is 1 if a script sees an
    unexpected segment, and 2 if a script cannot be read. Scripts that need more than a sender and a receiver
    are named and skipped.
    """
    files = [file for path in paths for file in _files(path)]
    reports = [_run(file, profile, quiet=as_json) for file in files]
    count = {status: sum(report["status"] == status for report in reports) for status in _STATUSES}
    if as_json:
        emit(json.dumps({**count, "reports": reports}, indent=2))
    else:
        more = "".join(f", {count[status]} {status}" for status in ("skipped", "unreadable") if count[status])
        say(f"{count['passed']} passed, {count['failed']} failed{more}")
    return 2 if count["unreadable"] else int(count["failed"] > 0)


_STATUSES = ("passed", "failed", "skipped", "unreadable")


def _files(path: str) -> list[str]:
    """The scripts of a folder, or a file itself."""
    if not Path(path).is_dir():
        return [path]
    found = sorted(str(file) for file in Path(path).rglob("*.pkt") if file.is_file())
    if not found:
        raise InputError(f"{path}: no script in this folder; their names end with .pkt")
    return found


def _run(file: str, profile: str, *, quiet: bool) -> dict[str, Any]:
    try:
        text = text_of(Path(file))
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: not a text in UTF-8") from None
    try:
        report: dict[str, Any] = json.loads(exchange_json(text, file, profile))
    except ValueError as error:
        raise InputError(f"--profile {profile}: {error}") from None
    if report["status"] == "unreadable" and (hint := hint_for_text(Path(file), text, "script")):
        raise InputError(f"{file}: {hint}")
    if not quiet:
        emit(printable(f"{report['status']:<10} {file}"))
        if report["message"]:
            emit(printable(report["message"]))
        for note in report["notes"]:
            talk(f"note: {note['message']}")
    return report
