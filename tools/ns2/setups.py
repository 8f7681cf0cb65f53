"""The configuration and the events of a case of ns-2's validation suites, by its run in ns-2."""

import dataclasses
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import ns2

TESTS = Path("/usr/share/doc/ns2/examples/tcl/test")
SETUP = Path(__file__).with_name("setup.tcl")


@dataclasses.dataclass(frozen=True)
class Link:
    """One direction of a link. `limit` is the queue limit in packets."""

    bits_per_s: float
    delay_s: float
    queue: str
    limit: int


@dataclasses.dataclass(frozen=True)
class Errors:
    """Which packets of a flow, from 0, an error model in front of a link's queue drops, marks or delays."""

    link: tuple[int, int]
    flow: int
    # 0 where it does not delay.
    delay_s: float
    packets: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Command:
    """A command of an application."""

    time_s: float
    words: tuple[str, ...]


@dataclasses.dataclass
class Sender:
    """A TCP sender of ns-2, its sink, and its application."""

    kind: str
    source: int
    destination: int
    flow: int
    sink: str = ""
    options: dict[str, float] = dataclasses.field(default_factory=dict)
    # What ns-2 begins with, for options whose value differs.
    changed: dict[str, float] = dataclasses.field(default_factory=dict)
    commands: list[Command] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Event:
    """A line of a trace: an event of a packet at a link.

    `packet` is its number over the whole run. A `marked` packet experienced congestion, and an ACK that
    `echoes` reports it.
    """

    kind: str
    time_s: float
    link: tuple[int, int]
    is_ack: bool
    flow: int
    number: int
    packet: int
    marked: bool
    echoes: bool


@dataclasses.dataclass
class Setup:
    """A case: links by their ends, senders by flow, and the trace of the run."""

    links: dict[tuple[int, int], Link] = dataclasses.field(default_factory=dict)
    errors: list[Errors] = dataclasses.field(default_factory=list)
    senders: list[Sender] = dataclasses.field(default_factory=list)
    # Agents that are not TCP.
    others: list[str] = dataclasses.field(default_factory=list)
    end_s: float = 0.0
    trace: list[Event] = dataclasses.field(default_factory=list)


def run(script: str, case: str, settings: Mapping[str, object] | None = None) -> Setup:
    """Runs a case in ns-2, with `settings` of its senders.

    The run fails behind its end, for want of the tools that make the outputs.

    Raises:
        ns2.Ns2Error: if ns-2 is missing.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in TESTS.glob("*.tcl"):
            (folder / part.name).symlink_to(part)
        words = " ".join(f"{option} {value}" for option, value in (settings or {}).items())
        command = [ns2.require(), str(SETUP), "setup.txt", words, script, case, "QUIET"]
        subprocess.run(command, cwd=folder, capture_output=True, check=False)
        setup = parse((folder / "setup.txt").read_text())
        setup.trace = events((folder / "all.tr").read_text())
    return setup


def parse(text: str) -> Setup:
    """Read the output of `setup.tcl`."""
    setup = Setup()
    senders: dict[str, Sender] = {}
    for line in text.splitlines():
        kind, *words = shlex.split(line.replace("{", '"').replace("}", '"'))
        match kind:
            case "link":
                ends = (int(words[0]), int(words[1]))
                setup.links[ends] = Link(float(words[2]), float(words[3]), words[4], int(words[5]))
            case "error":
                packets = tuple(map(int, words[4].split()))
                ends = (int(words[0]), int(words[1]))
                setup.errors.append(Errors(ends, int(words[2]), float(words[3]), packets))
            case "sender":
                source, destination, flow = map(int, words[2:5])
                senders[words[0]] = Sender(words[1], source, destination, flow)
            case "sink":
                senders[words[0]].sink = words[1]
            case "option":
                note_option(senders[words[0]], *words[1:])
            case "other":
                setup.others.append(words[0])
            case "time":
                senders[words[1]].commands.append(Command(float(words[0]), tuple(words[2:])))
            case "end":
                setup.end_s = float(words[0])
    setup.senders = sorted(senders.values(), key=lambda sender: sender.flow)
    return setup


def note_option(sender: Sender, option: str, value: str, default: str) -> None:
    """An option of a sender or its sink."""
    now, before = number(value), number(default)
    if now is None or before is None:
        return
    sender.options[option] = now
    if now != before:
        sender.changed[option] = now


def number(word: str) -> float | None:
    """A value of ns-2, or `None` for a name."""
    words: Mapping[str, float] = {"true": 1.0, "false": 0.0}
    if word in words:
        return words[word]
    scale = 1e-3 if word.endswith("ms") else 1.0
    try:
        return float(word.removesuffix("ms")) * scale
    except ValueError:
        return None


def events(text: str) -> list[Event]:
    """The packets of a trace."""
    found = []
    for line in text.splitlines():
        # op time from to type size flags flow source destination number id, and more with show_tcphdr_
        words = line.split()
        if words[0] in {"+", "-", "d", "r"}:
            found.append(
                Event(
                    kind=words[0],
                    time_s=float(words[1]),
                    link=(int(words[2]), int(words[3])),
                    is_ack=words[4] == "ack",
                    flow=int(words[7]),
                    number=int(words[10]),
                    packet=int(words[11]),
                    # "C" an ECN echo, "A" a window that was cut, "E" congestion experienced, "N" ECN-capable
                    marked="E" in words[6],
                    echoes="C" in words[6],
                )
            )
    return found
