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
from ackclock.files.kinds import hint_for_text
from ackclock.text.printable import printable


@click.command("exchange")
@click.argument("files", metavar="FILE.pkt...", nargs=-1, required=True, type=click.Path())
@json_option
def command(files: tuple[str, ...], as_json: bool) -> int:
    """Run packetdrill scripts against the simulated sender and receiver.

    The exit code is 1 if a script sees a segment that it does not expect, and 2 if one cannot be read.
    """
    reports = [_run(file, quiet=as_json) for file in files]
    count = {status: sum(report["status"] == status for report in reports) for status in _STATUSES}
    if as_json:
        emit(json.dumps({**count, "reports": reports}, indent=2))
    else:
        unreadable = f", {count['unreadable']} unreadable" if count["unreadable"] else ""
        say(f"{count['passed']} passed, {count['failed']} failed{unreadable}")
    return 2 if count["unreadable"] else int(count["failed"] > 0)


_STATUSES = ("passed", "failed", "unreadable")


def _run(file: str, *, quiet: bool) -> dict[str, Any]:
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: not a text in UTF-8") from None
    report: dict[str, Any] = json.loads(exchange_json(text, file))
    if report["status"] == "unreadable" and (hint := hint_for_text(Path(file), text, "script")):
        raise InputError(f"{file}: {hint}")
    if not quiet:
        emit(printable(f"{report['status']:<10} {file}"))
        if report["message"]:
            emit(printable(report["message"]))
        for note in report["notes"]:
            talk(f"note: {note['message']}")
    return report
