"""The measurements of `speed.py` as values: rows of rounds, single figures, and JSON of both."""

import json
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from backends import Measurement


@dataclass
class Row:
    """A workload on a topology, with a measurement per backend and round."""

    workload: str
    topology: str
    runs: dict[str, list[Measurement]] = field(default_factory=dict)
    #: Why a backend has no runs.
    not_run: dict[str, str] = field(default_factory=dict)

    def leave_out(self, backend: str, why: str) -> None:
        """Remove a backend from this row, including its previous measurements."""
        self.runs.pop(backend, None)
        self.not_run[backend] = why

    def values(self, backend: str, of: Callable[[Measurement], float]) -> list[float]:
        """A figure of every round."""
        return [of(run) for run in self.runs.get(backend, ())]

    def median(self, backend: str, of: Callable[[Measurement], float]) -> float | None:
        """The median of a figure, where there is any."""
        values = self.values(backend, of)
        return statistics.median(values) if values else None

    def speeds(self, backend: str, unit: float = 1) -> list[float]:
        """Packets per CPU second of every round, in this unit."""
        return self.values(backend, lambda run: run.packets_per_cpu_s / unit)


@dataclass(frozen=True)
class Single:
    """A figure that belongs to no workload."""

    name: str
    unit: str
    values: dict[str, list[float]]


@dataclass
class Report:
    """All of it."""

    machine: str
    rounds: int
    rows: list[Row]
    singles: list[Single]

    def to_json(self) -> str:
        """Return a document that `from_json` reads."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Read a document."""
        tree: dict[str, Any] = json.loads(text)
        for row in tree["rows"]:
            runs = row["runs"].items()
            row["runs"] = {backend: [Measurement(**run) for run in measured] for backend, measured in runs}
        rows = [Row(**row) for row in tree.pop("rows")]
        return cls(rows=rows, singles=[Single(**single) for single in tree.pop("singles")], **tree)


def spread(values: Sequence[float], figures: int = 3) -> str:
    """Median and range: `7.64 (7.60-7.71)`."""
    return _ranged(statistics.median(values), values, figures) if values else "-"


def ratio(ours: Sequence[float], theirs: Sequence[float], figures: int = 2) -> str:
    """Return the ratio of the medians, and the range of the ratios of single rounds."""
    if not theirs:
        return "-"
    rounds = [one / other for one, other in zip(ours, theirs, strict=True)]
    return _ranged(statistics.median(ours) / statistics.median(theirs), rounds, figures)


def _ranged(middle: float, values: Sequence[float], figures: int) -> str:
    low, high = digits(min(values), figures), digits(max(values), figures)
    return digits(middle, figures) + ("" if low == high else f" ({low}-{high})")


def digits(value: float, figures: int = 3) -> str:
    """With so many significant digits, but all in front of the point, and two behind it, below 0.1 three."""
    places = figures - 1 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:.{min(max(places, 0), 2 if abs(value) >= 0.1 else 3)}f}"
