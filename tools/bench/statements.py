"""Shows the functions and statements of the engine that take most instructions per packet.

    python tools/bench/statements.py W1                    functions
    python tools/bench/statements.py W1 Sender::on_ack     statements of the functions with this name
    python tools/bench/statements.py W1 Sender::on_ack --depth 3

callgrind counts the instructions of the engine's thread. An inlined instruction belongs to the statement that
caused it, found by `addr2line`. `--depth` shows the inlined calls below the statement. The counts include the
start of the run. Before it, run `make release` and

    PYO3_BUILD_EXTENSION_MODULE=1 cargo build --release --package ackclock-python --locked

The second command keeps the names and lines, which the installed library lacks.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ackclock.cli.console import show
from ackclock.text.table import Column, Table
from instructions import ROOT, TIMES, callgrind, packets

#: The library with its lines. The installed copy has none.
LIBRARY = ROOT / "target" / "release" / "lib_core.so"
#: The object of the following costs, or of a callee: its number, and its path at the first time.
_OBJECT = re.compile(r"(c?)ob=\((\d+)\)(?: (.*))?")
#: The part of paths that says nothing.
_SOURCES = re.compile(r".*/(?:src|registry/src/[^/]*)/")


@dataclass(frozen=True)
class Place:
    """An instruction: its function, and its statement with the inlined calls below, each as file and line."""

    function: str
    lines: tuple[str, ...]


def costs(lines: Iterable[str]) -> Counter[int]:
    """Read the instructions at each address of the engine, from a profile with `--dump-instr=yes`."""
    found: Counter[int] = Counter()
    objects: dict[str, str] = {}
    address, is_engine, is_call = 0, False, False
    for line in lines:
        if match := _OBJECT.fullmatch(line):
            of_callee, number, path = match.groups()
            objects.setdefault(number, path or "")
            is_engine = LIBRARY.stem.removeprefix("lib") in objects[number] if not of_callee else is_engine
        elif line.startswith("calls="):
            # The next line is the cost of the call, which is not the caller's own.
            is_call = True
        elif line[:1] in ("+", "-", "*", "0"):
            first, *_, count = line.split()
            if first.startswith("0x"):
                address = int(first, 16)
            elif first != "*":
                address += int(first, 0)
            if is_engine and not is_call:
                found[address] += int(count)
            is_call = False
    return found


def places(library: Path, addresses: Iterable[int]) -> dict[int, Place]:
    """Find the function and the statements of each address."""
    command = ["addr2line", "--inlines", "--addresses", "--functions", "--demangle", "--exe", str(library)]
    asked = "\n".join(hex(address) for address in addresses)
    answer = subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout
    found = {}
    for part in re.split(r"^(?=0x)", answer, flags=re.MULTILINE)[1:]:
        address, *frames = part.splitlines()
        lines = [_SOURCES.sub("", line.split(" (")[0]) for line in frames[1::2]]
        found[int(address, 16)] = Place(frames[-2], tuple(lines[::-1]))
    return found


def table(counts: Counter[str], heading: str, forwarded: int, most: int) -> Table:
    shown = Table("instructions a packet", Column(heading))
    for place, count in counts.most_common(most):
        shown.add_row(f"{count / forwarded:.1f}", place)
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("workload", choices=list(TIMES))
    parser.add_argument("function", nargs="?", help="a part of a function's name")
    parser.add_argument("--depth", type=int, default=1, help="inlined calls (default: %(default)s)")
    parser.add_argument("--most", type=int, default=40, help="rows (default: %(default)s)")
    options = parser.parse_args()
    duration_ms = TIMES[options.workload][1]
    if not LIBRARY.exists():
        sys.exit(f"statements.py: {LIBRARY.relative_to(ROOT)} is missing: see --help")
    with tempfile.TemporaryDirectory() as folder:
        profile = callgrind(options.workload, duration_ms, Path(folder), "--dump-instr=yes")
        found = costs(profile.read_text(encoding="utf-8").splitlines())
    counts: Counter[str] = Counter()
    known = places(LIBRARY, found)
    if len({place.function for place in known.values()}) == 1:
        sys.exit(f"statements.py: {LIBRARY.relative_to(ROOT)} has no lines: see --help")
    for address, count in found.items():
        place = known[address]
        if options.function is None:
            counts[place.function] += count
        elif options.function in place.function:
            counts[" < ".join(place.lines[: options.depth])] += count
    heading = "function" if options.function is None else "statement"
    show(table(counts, heading, packets(options.workload, duration_ms), options.most))


if __name__ == "__main__":
    try:
        main()
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        sys.exit(f"statements.py: {error}")
