"""Shared parts of the comparisons with the kernel: valid emulations, verdicts and stored results."""

import json
import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import ackclock

#: The largest number of emulations for each valid one.
TRIES = 3
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


class Judged(Protocol):
    """A run with the reasons why it is invalid."""

    @property
    def faults(self) -> Sequence[str]:
        """The reasons, empty for a valid run."""


Run = TypeVar("Run", bound=Judged)


def until_valid(runs: Iterable[Run], wanted: int) -> tuple[list[Run], list[Run]]:
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


def error_of_difference(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the standard error of the difference of two means, or 0 for single values."""
    both = [values for values in (one, other) if len(values) > 1]
    return math.hypot(*(statistics.stdev(values) / math.sqrt(len(values)) for values in both))


def unmeasured(name: str, columns: int) -> str:
    """Return the line of a row without a measurement."""
    return f"| {' | '.join([name, *['-'] * (columns - 2), NOT_MEASURED])} |"


def head(headings: Sequence[str]) -> list[str]:
    """Return the first two lines of a table in Markdown."""
    return [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the number of cells of each verdict."""
    verdicts = ("inside", "undecided", "outside", EXPLAINED, "invalid", "reported", NOT_MEASURED)
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in verdicts}
    return f"{len(rows)} cells: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def write(
    results: Path,
    rows: Sequence[Mapping[str, Any]],
    key: str,
    names: Sequence[str],
    table: Callable[[Sequence[Mapping[str, Any]]], str],
) -> None:
    """Write rows and their table in the order of `names`.

    Earlier rows without a new measurement stay. The table also names rows without any measurement.
    """
    release = Path("/proc/sys/kernel/osrelease").read_text(encoding="ascii").strip()
    made = f"Linux {release}, {time.strftime('%Y-%m-%d', time.gmtime())}"
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
