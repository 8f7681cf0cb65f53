"""Options of commands that capture packets, and the files they write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from ackclock import _core
from ackclock.cli.console import talk
from ackclock.errors import ArgumentValueError, InputError, writing_error
from ackclock.files.writing import write_target
from ackclock.running.job import Capture
from ackclock.scenario import Scenario
from ackclock.text.suggest import hint

#: Headers of IP and TCP fit, and tools of any age take it.
_SNAPLEN = 96

flows_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--flows",
    metavar="NAME,...",
    help="Flows or groups to capture; all by default.",
)


def pcap_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a capture to a command."""
    options = (
        click.option("--pcap", metavar="FILE", help="File for captured packets, pcapng."),
        click.option(
            "--at",
            metavar="LINK|HOST",
            help="Where to capture: the far end of a link, sender or receiver; sender by default.",
        ),
        flows_option,
        click.option(
            "--snaplen",
            type=click.IntRange(0, 65535),
            metavar="BYTES",
            help=f"Bytes of each packet to keep, {_SNAPLEN} by default; 0 for all. Headers are always whole.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def names_of(flows: str | None) -> tuple[str, ...]:
    """Return the names in a list of flows."""
    if flows is None:
        return ()
    names = tuple(name.strip() for name in flows.split(","))
    if "" in names:
        raise ArgumentValueError("flows", f"has an empty name in {flows!r}; write names such as test.0,test.1")
    return names


def capture_of(scenario: Scenario, at: str | None, flows: Sequence[str], snaplen: int | None) -> Capture:
    """Return the capture that options ask for. Raises `ArgumentError` for a name that the scenario has not."""
    place = "sender" if at is None else at
    try:
        scenario.check_capture(place, flows)
    except _core.CaptureError as error:
        kind, name, known = error.args
        if kind == "link":
            raise ArgumentValueError("at", f"names no link: {place!r}; {hint(place, known)}") from None
        if kind == "flow":
            raise ArgumentValueError("flows", f"names no flow: {name!r}; {hint(name, known)}") from None
        raise ArgumentValueError("at", f"is a link that none of these flows passes: {place!r}") from None
    kept = _SNAPLEN if snaplen is None else snaplen or 2**31 - 1
    return Capture(place, tuple(flows), kept)


def check_target(path: Path, option: str) -> None:
    """Check before a run that a file can be written afterwards. Raises `InputError`."""
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: the folder {path.parent} does not exist; create it first")


def write_capture(path: Path, content: bytes) -> None:
    """Write a file that was asked for, in place of one that is there. Raises `StoreError`."""
    try:
        write_target(path, content)
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}"
        raise writing_error(message, error) from None
    talk(f"captured packets in {path}")
