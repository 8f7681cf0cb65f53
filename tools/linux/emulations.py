"""What the comparisons with the kernel share: which emulations count, and what the documentation gets."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

#: Emulations for each that has to count, at most.
TRIES = 3
#: Of 95 %.
SIGMAS = 1.96
#: Without it packets come to a full queue just as one has left it, each time, which is a phase effect.
TRANSPORT = {"send_jitter": "1 packet"}
#: Where flows meet each other.
SHARED_LINK = {
    "kind": "dumbbell",
    "rate": "10 Mbit/s",
    "delay": "20 ms",
    "queue": {"kind": "drop-tail", "limit": "1 BDP"},
}
AIMD = {"kind": "aimd", "increase": 2.0, "remaining": 0.8}
CUBIC = {"kind": "cubic", "arithmetic": "linux"}


class Judged(Protocol):
    """A run that says why it does not count."""

    @property
    def faults(self) -> Sequence[str]:
        """None for one that counts."""


Run = TypeVar("Run", bound=Judged)


def until_valid(runs: Iterable[Run], wanted: int) -> tuple[list[Run], list[Run]]:
    """Take runs until there are enough that count; return these and the others."""
    valid, refused = list[Run](), list[Run]()
    for run in runs:
        (refused if run.faults else valid).append(run)
        if len(valid) == wanted:
            break
    return valid, refused


def head(headings: Sequence[str]) -> list[str]:
    """Return the first two lines of a table in Markdown."""
    return [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many cells there are of each verdict."""
    verdicts = ("inside", "undecided", "outside", "invalid", "reported")
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in verdicts}
    return f"{len(rows)} cells: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def write(
    results: Path,
    rows: Sequence[Mapping[str, Any]],
    key: str,
    names: Sequence[str],
    table: Callable[[Sequence[Mapping[str, Any]]], str],
) -> None:
    """Write rows and their table in the order of `names`; known rows that were not made again stay."""
    release = Path("/proc/sys/kernel/osrelease").read_text(encoding="ascii").strip()
    made = f"Linux {release}, {time.strftime('%Y-%m-%d', time.gmtime())}"
    known = json.loads(results.read_text(encoding="utf-8"))["rows"] if results.exists() else []
    by_name = {row[key]: row for row in (*known, *({**row, "made": made} for row in rows))}
    all_rows = [by_name[name] for name in names if name in by_name]
    places = "; ".join(dict.fromkeys(row["made"] for row in all_rows))
    document = {"made": f"{places}: {summary(all_rows)}", "table": table(all_rows), "rows": all_rows}
    results.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
