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

#: The default place of a capture.
SENDER = "sender"
#: Large enough for the headers of IP and TCP.
_SNAPLEN = 96
#: Larger than any packet, so packets are captured whole.
_WHOLE = 2**20
_QLOG_VERSION = "0.3"


def pcap_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a capture to a command."""
    options = (
        click.option("--pcap", metavar="FILE", help="File for captured packets, pcapng."),
        click.option(
            "--at",
            metavar="LINK|HOST",
            help="Place of the capture: the far end of a link, sender (default) or receiver.",
        ),
        click.option(
            "--capture",
            metavar="NAME,...",
            help="Flows or groups to capture. Default: all.",
        ),
        click.option(
            "--snaplen",
            type=click.IntRange(0, 65535),
            metavar="BYTES",
            help=f"Bytes to keep of each packet, 0 for all. Default: {_SNAPLEN}. Headers are kept whole.",
        ),
        click.option("--qlog", metavar="FILE", help="File for the events of senders, qlog."),
        click.option(
            "--qlog-version",
            type=click.Choice(["0.3", "draft"]),
            help="Version of qlog: 0.3 (default, the newest for qvis) or draft (the current IETF drafts).",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


class Wanted(NamedTuple):
    """The options of a capture."""

    pcap: str | None
    at: str | None
    capture: str | None
    snaplen: int | None
    qlog: str | None
    qlog_version: str | None

    def wanted(self, scenario: Scenario) -> Capture | None:
        """Return the capture, if one is wanted.

        Raises `UsageError`, `ArgumentError` for an unknown name, `InputError` for impossible files.
        """
        if self.qlog is not None and self.at not in (None, SENDER):
            raise click.UsageError(f"--qlog records senders, but --at is {self.at}; capture them in two runs")
        if self.pcap is None and (self.at, self.snaplen) != (None, None):
            raise click.UsageError("--at and --snaplen need --pcap FILE")
        if self.qlog is None and self.qlog_version is not None:
            raise click.UsageError("--qlog-version needs --qlog FILE")
        if self.pcap is None and self.qlog is None:
            if self.capture is not None:
                raise click.UsageError("--capture needs --pcap FILE or --qlog FILE")
            return None
        for path, option in ((self.pcap, "--pcap"), (self.qlog, "--qlog")):
            if path is not None:
                check_target(Path(path), option)
        if self.pcap is not None and self.qlog is not None and _are_one(Path(self.pcap), Path(self.qlog)):
            raise InputError(f"--qlog {self.qlog}: is also the file of --pcap; name two files")
        place = SENDER if self.at is None else self.at
        kept = _SNAPLEN if self.snaplen is None else self.snaplen or _WHOLE
        return Capture(
            place,
            check_flows(scenario, place, self.capture, "capture"),
            None if self.pcap is None else kept,
            None if self.qlog is None else self.qlog_version or _QLOG_VERSION,
        )

    def write(self, outcome: Outcome) -> None:
        """Write the files. Raises `StoreError`."""
        if self.pcap is not None and outcome.pcapng is not None:
            write_capture(Path(self.pcap), outcome.pcapng, "captured packets")
        if self.qlog is not None and outcome.qlog is not None:
            write_capture(Path(self.qlog), outcome.qlog.encode(), "events of senders")


def check_flows(scenario: Scenario, place: str, flows: str | None, option: str = "flows") -> tuple[str, ...]:
    """Return the names in the list of an option. Raises `ArgumentError` where there is nothing to capture."""
    names = () if flows is None else tuple(name.strip() for name in flows.split(","))
    if "" in names:
        raise ArgumentValueError(option, f"has an empty name in {flows!r}; write names such as test.0,test.1")
    try:
        scenario.check_capture(place, names)
    except _core.CaptureError as error:
        kind, name, known = error.args
        if kind == "link":
            raise ArgumentValueError("at", f"names no link: {place!r}; {hint(place, known)}") from None
        if kind == "flow":
            raise ArgumentValueError(option, f"names no flow: {name!r}; {hint(name, known)}") from None
        raise ArgumentValueError("at", f"is a link that none of these flows passes: {place!r}") from None
    return names


def _are_one(one: Path, other: Path) -> bool:
    """Return whether both names belong to one file. A device may have both."""
    return one.resolve() == other.resolve() and (one.is_file() or not one.exists())


def check_target(path: Path, option: str) -> None:
    """Check before a run that a file can be written afterwards. Raises `InputError`."""
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: the folder {path.parent} does not exist; create it first")


def write_capture(path: Path, content: bytes, what: str) -> None:
    """Write a file, which replaces an existing one. Raises `StoreError`."""
    try:
        write_target(path, content)
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}"
        raise writing_error(message, error) from None
    talk(f"{what} in {path}")
