"""Shared parts of the comparisons with the kernel: the backend, valid runs, verdicts and stored results."""

import json
import math
import statistics
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import ackclock
from ackclock import kernel
from ackclock.kernels import store as kernels
from ackclock.running.job import LINUX, Job, execute, with_kernel
from ackclock.running.work import Study
from ackclock.scenario import Scenario

#: The largest number of emulations for each valid one, and the runs in virtual time in its place.
TRIES = 3
#: Runs from which scatter is known.
LEAST_RUNS = 2
#: The factor of a 95 % interval.
SIGMAS = 1.96
#: Without jitter, packets repeatedly arrive at a full queue just after a departure, which is a phase effect.
TRANSPORT = {"send_jitter": "1 packet"}
#: The link that competing flows share.
SHARED_LINK = {
    "kind": "dumbbell",
    "rate": "10 Mbit/s",
    "delay": "20 ms",
    "queue": {"kind": "drop-tail", "limit": "1 BDP"},
}
AIMD = {"kind": "aimd", "increase": 2.0, "remaining": 0.8}
#: Algorithms that run as eBPF programs in the kernel.
PROGRAMS: Sequence[str | Mapping[str, Any]] = (AIMD, "new-aimd")
#: The verdict of a difference with a known cause.
EXPLAINED = "explained"
#: The verdict of a row without a measurement.
NOT_MEASURED = "not measured yet"


def flow(name: str, cc: str | Mapping[str, Any], **keys: Any) -> dict[str, Any]:
    """Return a flow of a scenario. Our programs for the kernel keep the fractions of windows."""
    whole = {"whole_window": False} if cc in PROGRAMS else {}
    return {"name": name, "cc": cc, **whole, **keys}


@dataclass(frozen=True)
class Backend:
    """The kernel's TCP that a comparison runs."""

    #: The backend of its jobs.
    name: str
    #: The kernel's name in tables.
    title: str

    @property
    def is_virtual(self) -> bool:
        """Whether runs are in virtual time, where every run is valid."""
        return self.name != LINUX

    def jobs(self, scenario: Scenario, wanted: int, *, samples: bool = False) -> Sequence[Job]:
        """Return the jobs of this number of valid runs, with those that replace invalid ones."""
        return Study.of(scenario, samples=samples, backend=self.name, replicates=TRIES * wanted).jobs

    def wanted(self, runs: int) -> int:
        """Return the number of valid runs to take. Runs in virtual time are cheap, so all of them count."""
        return TRIES * runs if self.is_virtual else runs


def add_backend(parser: ArgumentParser) -> None:
    """Add the options that choose the kernel."""
    parser.add_argument("--kernel", help="the kernel, as for `ackclock run`. Default: the newest")
    parser.add_argument(
        "--real-time", action="store_true", help="the running kernel, as root on an idle machine"
    )


def backend_of(given: Namespace) -> Backend:
    """Return the chosen backend. Raises `AckclockError` where it cannot run."""
    if not given.real_time:
        kernels.check_host()
        chosen = kernels.find(given.kernel)
        return Backend(with_kernel(chosen.name), chosen.title)
    brief = {"topology": {"kind": "dumbbell", "rate": "1 Mbit/s", "delay": "1 ms"}, "flows": [{"cc": "reno"}]}
    execute(Study.of(Scenario.from_dict({"schema": 2, "duration": "10 ms", **brief}), backend=LINUX).jobs[0])
    kernel.attach("aimd", {}, "validation")[1].close()
    release = Path("/proc/sys/kernel/osrelease").read_text(encoding="ascii").strip()
    return Backend(LINUX, f"Linux {release}")


class Judged(Protocol):
    """A run with the reasons why it is invalid."""

    @property
    def faults(self) -> Sequence[str]:
        """The reasons, empty for a valid run."""


Run = TypeVar("Run", bound=Judged)


def until_valid(runs: Iterator[Run], wanted: int) -> tuple[list[Run], list[Run]]:
    """Take runs until enough are valid, and return the valid and the invalid runs."""
    valid, refused = list[Run](), list[Run]()
    for run in runs:
        (refused if run.faults else valid).append(run)
        if len(valid) == wanted:
            break
    return valid, refused


def is_chosen(name: str, parts: Sequence[str]) -> bool:
    """Return whether a name contains one of these parts. Without parts every name is chosen."""
    return not parts or any(part.lower() in name.lower() for part in parts)


def verdict(off: float, bound: float, scatter: float) -> str:
    """Return the verdict of a difference, whose random part is `scatter` (95 %)."""
    excess = abs(off) - bound
    return "inside" if excess <= 0 else "undecided" if excess <= scatter else "outside"


def scatter(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the random part of the difference of two means (95 %). It is unknown for a single value."""
    if min(len(one), len(other)) < LEAST_RUNS:
        return math.inf
    errors = (statistics.stdev(values) / math.sqrt(len(values)) for values in (one, other))
    return SIGMAS * math.hypot(*errors)


def runs_of(row: Mapping[str, Any]) -> str:
    """Return the number of runs, their length, and the number of invalid runs."""
    invalid = f", {row['refused']} invalid" if row["refused"] else ""
    return f"{row['runs']} of {row['seconds']:g} s{invalid}"


def unmeasured(name: str, columns: int) -> str:
    """Return the line of a row without a measurement."""
    return f"| {' | '.join([name, *['-'] * (columns - 2), NOT_MEASURED])} |"


def head(headings: Sequence[str]) -> list[str]:
    """Return the first two lines of a table in Markdown."""
    return [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the number of configurations of each verdict."""
    verdicts = ("inside", "undecided", "outside", EXPLAINED, "invalid", "reported", NOT_MEASURED)
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in verdicts}
    return f"{len(rows)} configurations: " + ", ".join(
        f"{count} {verdict}" for verdict, count in counts.items()
    )


def write(
    results: Path,
    title: str,
    rows: Sequence[Mapping[str, Any]],
    key: str,
    names: Sequence[str],
    table: Callable[[Sequence[Mapping[str, Any]]], str],
) -> None:
    """Write the rows of a kernel and their table in the order of `names`.

    Earlier rows without a new measurement stay. The table also names rows without any measurement.
    """
    made = f"{title}, {time.strftime('%Y-%m-%d', time.gmtime())}"
    known = json.loads(results.read_text(encoding="utf-8"))["rows"] if results.exists() else []
    by_name = {
        row[key]: row
        for row in (*known, *({**row, "made": made, "version": ackclock.__version__} for row in rows))
    }
    made_rows = [by_name[name] for name in names if name in by_name]
    all_rows = [by_name.get(name, {key: name, "verdict": NOT_MEASURED}) for name in names]
    places = " and ".join(dict.fromkeys(row["made"] for row in made_rows))
    heading = ": ".join(filter(None, (places, summary(all_rows))))
    document = {"made": heading, "table": table(all_rows), "rows": made_rows}
    results.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
