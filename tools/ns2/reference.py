"""Reads the outputs of ns-2's validation suites where Debian's package `ns2-examples` installs them.

The suites write points for xgraph: `time value`, in named blocks. `raw2xg`, which made them, writes a packet
as `flow + 0.01 * (number modulo 90)`, once when it comes to the queue and once when its transmission begins.
"""

import dataclasses
import gzip
import re
import subprocess
import tempfile
from pathlib import Path

TESTS = Path("/usr/share/doc/ns2/examples/tcl/test")
# Packet numbers are known modulo this.
MODULUS = 90
# raw2xg repeats as many of the first drops.
REPEATED_DROPS = 4
SETUP = re.compile(r"Test/(\w+) instproc run \{\} \{.*?\$self setup (\w+) \{([\d ]*)\}", re.DOTALL)


class ReferenceMissing(Exception):
    """The package is not installed."""


@dataclasses.dataclass(frozen=True)
class Point:
    """A packet at a moment: its time in seconds, and its number modulo 90."""

    time: float
    number: int


@dataclasses.dataclass(frozen=True)
class Packets:
    """What passes a queue, and what does not."""

    arrivals: list[Point]
    departures: list[Point]


@dataclasses.dataclass(frozen=True)
class Transfer:
    """One case: data and its drops, and ACKs, at the two ends of the slow link."""

    data: Packets
    acks: Packets
    drops: list[Point]


def names(suite: str) -> list[str]:
    """The cases of a suite that has outputs.

    Raises:
        ReferenceMissing: if there are none.
    """
    found = sorted(path.stem for path in (TESTS / f"test-output-{suite}").glob("*.gz"))
    if not found:
        raise ReferenceMissing(
            "ns2-examples is not installed; on Debian and Ubuntu: apt-get install ns2-examples"
        )
    return found


def scripted_drops(script: str) -> dict[str, tuple[str, list[int]]]:
    """The sender and the numbers of the dropped packets of each case of a suite's script."""
    text = (TESTS / script).read_text()
    return {name: (sender, [int(n) for n in drops.split()]) for name, sender, drops in SETUP.findall(text)}


def tests(script: str) -> list[str]:
    """The tests of a suite's script."""
    return re.findall(r"^Class Test/(\w+)", (TESTS / script).read_text(), re.MULTILINE)


def clock_offsets(flows: int, tick: float) -> list[float]:
    """How far the clock of each sender is ahead, in seconds.

    ns-2 draws it below a tick when it makes a sender, and again as the simulation begins. The second counts.
    """
    script = (
        f"for {{set draw 0}} {{$draw < 2 * {flows}}} {{incr draw}} {{puts [$defaultRNG uniform 0 {tick}]}}"
    )
    with tempfile.NamedTemporaryFile("w", suffix=".tcl") as file:
        file.write(script)
        file.flush()
        draws = subprocess.run(["ns", file.name], capture_output=True, check=True, text=True)
    return [float(draw) for draw in draws.stdout.split()[flows:]]


def drops_of_flows(script: str, name: str, flows: int) -> list[list[int]]:
    """Which packets of each flow ns-2 drops in front of the slow link, counted from 1: by a run of the case.

    A run is needed where RED drops by ns-2's random numbers. It fails behind its end, for want of the
    tools that make the outputs.
    """
    with tempfile.TemporaryDirectory() as folder:
        for part in TESTS.glob("*.tcl"):
            (Path(folder) / part.name).symlink_to(part)
        subprocess.run(["ns", script, name, "QUIET"], cwd=folder, capture_output=True, check=False)
        # op time from to type size flags flow source destination number id
        lines = [line.split() for line in (Path(folder) / "all.tr").read_text().splitlines()]
    slow = [line for line in lines if line[0] in "+d" and line[2:4] == ["2", "3"]]
    dropped: list[list[int]] = [[] for _ in range(flows)]
    orders: list[dict[str, int]] = [{} for _ in range(flows)]
    for line in slow:
        flow, packet = int(line[7]), line[11]
        place = orders[flow].setdefault(packet, len(orders[flow]) + 1)
        if line[0] == "d":
            dropped[flow].append(place)
    return dropped


def text_of(suite: str, name: str) -> str:
    """The output of a case."""
    return gzip.decompress((TESTS / f"test-output-{suite}" / f"{name}.gz").read_bytes()).decode()


def transfer(suite: str, name: str) -> Transfer:
    """A case of packets."""
    blocks: dict[str, list[Point]] = {}
    for block in re.split(r'\n(?=")', text_of(suite, name))[1:]:
        title, *lines = block.split("\n")
        points = [point(line) for line in lines if line]
        # The part of the ACKs has an empty block of packets, too.
        blocks.setdefault(title, []).extend(points)
    drops = blocks['"drops']
    drops = drops[min(REPEATED_DROPS, len(drops) // 2) :]
    return Transfer(queue(blocks['"packets'], drops), queue(blocks['"acks'], []), drops)


def point(line: str) -> Point:
    """A line: its time and the number behind the flow's."""
    time, value = map(float, line.split())
    return Point(time, round(100 * value) % 100)


def queue(points: list[Point], drops: list[Point]) -> Packets:
    """Tells arrivals from departures: a queue is first in, first out."""
    # The sort is stable: at one time the order of the file holds.
    points = sorted(points, key=lambda point: point.time)
    dropped = {(drop.time, drop.number) for drop in drops}
    waiting: list[int] = []
    packets = Packets([], [])
    for point in points:
        if waiting and waiting[0] == point.number:
            waiting.pop(0)
            packets.departures.append(point)
        else:
            packets.arrivals.append(point)
            if (point.time, point.number) not in dropped:
                waiting.append(point.number)
    return packets


def windows(suite: str, name: str) -> list[tuple[float, float]]:
    """A case of `time cwnd` lines."""
    lines = text_of(suite, name).splitlines()
    return [(float(time), float(cwnd)) for time, cwnd in (line.split() for line in lines if line.strip())]
