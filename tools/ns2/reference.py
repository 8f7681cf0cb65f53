"""Reads ns-2's validation suites and their outputs where Debian's package `ns2-examples` installs them.

Most outputs are points for xgraph: `time value`, in named blocks. `raw2xg` made them. It writes a packet as
`flow + 0.01 * (number modulo 90)`, at its arrival at the queue and at the start of its transmission.
"""

import collections
import gzip
import re
import subprocess
import tempfile
from collections.abc import Sequence

from setups import TESTS, Event

# Packet numbers are known modulo this.
MODULUS = 90


class ReferenceMissing(Exception):
    """The package is not installed."""


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


def text_of(suite: str, name: str) -> str:
    """The output of a case."""
    return gzip.decompress((TESTS / f"test-output-{suite}" / f"{name}.gz").read_bytes()).decode()


def gives(
    trace: Sequence[Event], link: tuple[int, int], suite: str, name: str, *, parts: bool = False
) -> bool:
    """True if the data packets of `trace` at `link` equal the installed output.

    With `parts` the output has several lists. The first list contains each arriving packet once.
    """
    kinds = "+" if parts else "+-"
    ours = collections.Counter(
        (event.time_s, max(event.number, 0) % MODULUS)
        for event in trace
        if event.link == link and event.kind in kinds and not event.is_ack
    )
    text = text_of(suite, name)
    if parts:
        text = "\n".join(re.split(r'\n(?=")', text)[:2])
    return ours == collections.Counter(points(text))


def points(text: str) -> list[tuple[float, int]]:
    """The packets of an output, marked ones too: their times, and their numbers without the flow."""
    found = []
    for block in re.split(r'\n(?=")', text):
        title, *lines = block.split("\n")
        if title in {'"packets', '"ecn_packets'}:
            here = [line.split() for line in lines if line]
            # In front of those with a mark the first four stand once more.
            again = min(4, len(here) // 2) if title == '"ecn_packets' else 0
            found += [(float(time), round(100 * float(value)) % 100) for time, value in here[again:]]
    return found


def windows(suite: str, name: str) -> list[tuple[float, float]]:
    """A case of `time cwnd` lines."""
    lines = text_of(suite, name).splitlines()
    return [(float(time), float(cwnd)) for time, cwnd in (line.split() for line in lines if line.strip())]
