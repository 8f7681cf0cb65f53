"""The rows of `rows.toml`: the claims, the commands that show them, and the runs of these commands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock.errors import InputError
from ackclock.kernels import store

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("rows.toml")
LOGS = ROOT / "target" / "evidence"


def _command(name: str) -> Callable[[], bool]:
    return lambda: shutil.which(name) is not None


def _kernel_tbf() -> bool:
    """Whether this process can create a token bucket in a network namespace."""
    words = "unshare --net tc qdisc add dev lo root tbf rate 8mbit burst 2000 limit 2000"
    try:
        return subprocess.run(words.split(), capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _built_kernel() -> bool:
    """Whether a kernel is built that runs on this machine."""
    try:
        store.check_host()
        store.find()
    except InputError:
        return False
    return True


#: The requirements of rows: a check for each, and how to install it on Debian and Ubuntu.
NEEDS: dict[str, tuple[Callable[[], bool], str]] = {
    "ns2": (_command("ns"), "apt-get install ns2"),
    "ns2-examples": (
        Path("/usr/share/doc/ns2/examples/tcl/test").is_dir,
        "apt-get install ns2-examples",
    ),
    "ns3": (
        Path("/usr/include/ns3/traffic-control-module.h").is_file,
        "apt-get install libns3-dev",
    ),
    "ns-3.44": (
        (ROOT / "target" / "ns3" / "senders").is_file,
        "python tools/ns3/senders.py --install; x86-64 Linux with g++",
    ),
    "kernel": (_built_kernel, "make kernel"),
    "tc as root": (_kernel_tbf, "apt-get install iproute2; Linux, and the right to make network namespaces"),
    "valgrind": (_command("valgrind"), "apt-get install valgrind"),
}


@dataclass(frozen=True)
class Reading:
    """A pattern that finds the figure in the output of a command, and its words."""

    pattern: str
    says: str

    def values(self, output: str) -> dict[str, str]:
        """The groups of the pattern, empty where it matches nothing."""
        found = list(re.finditer(self.pattern, output))
        return (
            {name: _total([match[name] for match in found]) for name in found[0].groupdict()} if found else {}
        )

    def figure(self, output: str) -> str | None:
        """The figure in words, or `None` where the pattern matches nothing."""
        values = self.values(output)
        return self.says.format(**values) if values else None


def _total(values: Sequence[str]) -> str:
    """The sum of whole numbers, or the first of other values."""
    return str(sum(map(int, values))) if all(value.isdigit() for value in values) else values[0]


@dataclass(frozen=True)
class Command:
    """A command line for `sh`, run at the top of the repository."""

    command: str
    reading: Reading
    #: Its time in words.
    takes: str = ""
    #: The parts that it leaves out.
    note: str = ""
    #: Whether `make test-python` runs it.
    tested: bool = False
    #: The unmet comparisons that the page of the row explains.
    exceptions: int = 0

    def explains(self, output: str) -> bool:
        """Whether the page of the row explains all comparisons that are not met."""
        return 0 < int(self.reading.values(output).get("unmet", 0)) <= self.exceptions


@dataclass(frozen=True)
class Row:
    """A claim. Without a `slice` the tests run the whole row."""

    name: str
    section: str
    claim: str
    against: str
    full: Command
    slice: Command | None = None
    page: str | None = None
    needs: Sequence[str] = ()
    kept: Sequence[str] = ()

    @property
    def missing(self) -> str | None:
        """A sentence that names the missing requirements, or `None`."""
        absent = [need for need in self.needs if not NEEDS[need][0]()]
        if not absent:
            return None
        how = "; ".join(NEEDS[need][1] for need in absent)
        return f"{' and '.join(absent)} {'are' if len(absent) > 1 else 'is'} missing ({how})"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command. `failure` gives the reason of a failure, and is empty otherwise."""

    figure: str | None
    seconds: float
    failure: str
    output: str = field(repr=False)


def rows() -> list[Row]:
    """All rows, in the order of the overview."""
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    readings = {name: Reading(**table) for name, table in document["readings"].items()}

    def command(table: dict[str, Any]) -> Command:
        return Command(**{**table, "reading": readings[table["reading"]]})

    return [
        Row(**{**table, **{key: command(table[key]) for key in ("full", "slice") if key in table}})
        for table in document["row"]
    ]


def run(command: Command, log: Path) -> Outcome:
    """Run a command, and write its output to a file at once."""
    log.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with log.open("wb") as file:
        done = subprocess.run(
            ["sh", "-c", command.command],
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    seconds = time.monotonic() - begin
    output = log.read_text(encoding="utf-8", errors="replace")
    figure = command.reading.figure(output)
    failure = ""
    if done.returncode != 0 and not (done.returncode == 1 and command.explains(output)):
        failure = f"exit code {done.returncode}"
    elif figure is None:
        failure = "no figure in its output"
    return Outcome(figure, seconds, failure, output)


def chosen(names: Sequence[str] | None) -> list[Row]:
    """The rows of these names, or all.

    Raises:
        ValueError: if there is no row of a name.
    """
    known = {row.name: row for row in rows()}
    if unknown := [name for name in names or () if name not in known]:
        raise ValueError(f"no row is called {', '.join(unknown)}; there are {', '.join(known)}")
    return [row for name, row in known.items() if not names or name in names]
