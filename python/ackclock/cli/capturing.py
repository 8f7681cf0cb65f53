"""Options of commands that capture packets, and the files that they write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from ackclock import _core
from ackclock.cli.console import talk
from ackclock.errors import ArgumentValueError, InputError, writing_error
from ackclock.files.writing import write_target
from ackclock.running.job import Capture, Outcome
from ackclock.scenario import Scenario
from ackclock.text.suggest import hint

#: The place of a capture where nothing else is said.
SENDER = "sender"
#: Headers of IP and TCP fit.
_SNAPLEN = 96
#: More than any packet has.
_WHOLE = 2**20
_QLOG_VERSION = "0.3"

#: An option that several commands have.
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
        click.option("--qlog", metavar="FILE", help="File for what senders do, qlog."),
        click.option(
            "--qlog-version",
            type=click.Choice(["0.3", "draft"]),
            help="0.3 (by default), the newest that qvis opens, or that of the current drafts.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


class Wanted(NamedTuple):
    """What the options of a capture say."""

    pcap: str | None
    at: str | None
    flows: str | None
    snaplen: int | None
    qlog: str | None
    qlog_version: str | None

    def capture(self, scenario: Scenario) -> Capture | None:
        """Return the capture, if one is wanted.

        Raises `UsageError`, `ArgumentError` for an unknown name, `InputError` for files that cannot be.
        """
        if self.qlog is not None and self.at not in (None, SENDER):
            raise click.UsageError(
                f"--qlog is of senders, but --at is {self.at}; capture one after the other"
            )
        if self.pcap is None and (self.at, self.snaplen) != (None, None):
            raise click.UsageError("--at and --snaplen say what --pcap captures; give it a file")
        if self.qlog is None and self.qlog_version is not None:
            raise click.UsageError("--qlog-version is that of the file of --qlog; give it a file")
        if self.pcap is None and self.qlog is None:
            if self.flows is not None:
                raise click.UsageError("--flows are those that --pcap and --qlog capture; give a file")
            return None
        for path, option in ((self.pcap, "--pcap"), (self.qlog, "--qlog")):
            if path is not None:
                check_target(Path(path), option)
        if self.pcap is not None and self.qlog is not None and _are_one(Path(self.pcap), Path(self.qlog)):
            raise InputError(f"--qlog {self.qlog}: is the file of --pcap, too; name two files")
        place = SENDER if self.at is None else self.at
        kept = _SNAPLEN if self.snaplen is None else self.snaplen or _WHOLE
        return Capture(
            place,
            check_flows(scenario, place, self.flows),
            None if self.pcap is None else kept,
            None if self.qlog is None else self.qlog_version or _QLOG_VERSION,
        )

    def write(self, outcome: Outcome) -> None:
        """Write the files. Raises `StoreError`."""
        if self.pcap is not None and outcome.pcapng is not None:
            write_capture(Path(self.pcap), outcome.pcapng, "captured packets")
        if self.qlog is not None and outcome.qlog is not None:
            write_capture(Path(self.qlog), outcome.qlog.encode(), "events of senders")


def check_flows(scenario: Scenario, place: str, flows: str | None) -> tuple[str, ...]:
    """Return the names in a list of flows. Raises `ArgumentError` where there is nothing to capture."""
    names = () if flows is None else tuple(name.strip() for name in flows.split(","))
    if "" in names:
        raise ArgumentValueError(
            "flows", f"has an empty name in {flows!r}; write names such as test.0,test.1"
        )
    try:
        scenario.check_capture(place, names)
    except _core.CaptureError as error:
        kind, name, known = error.args
        if kind == "link":
            raise ArgumentValueError("at", f"names no link: {place!r}; {hint(place, known)}") from None
        if kind == "flow":
            raise ArgumentValueError("flows", f"names no flow: {name!r}; {hint(name, known)}") from None
        raise ArgumentValueError("at", f"is a link that none of these flows passes: {place!r}") from None
    return names


def _are_one(one: Path, other: Path) -> bool:
    """Whether both names are those of one file, which a device may be."""
    return one.resolve() == other.resolve() and (one.is_file() or not one.exists())


def check_target(path: Path, option: str) -> None:
    """Check before a run that a file can be written afterwards. Raises `InputError`."""
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: the folder {path.parent} does not exist; create it first")


def write_capture(path: Path, content: bytes, what: str) -> None:
    """Write a file that was asked for, in place of one that is there. Raises `StoreError`."""
    try:
        write_target(path, content)
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}"
        raise writing_error(message, error) from None
    talk(f"{what} in {path}")
