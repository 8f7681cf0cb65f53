"""The metrics that `crates/ackclock/src/sim/result.rs` declares, with unit, label and direction."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ackclock import _core

#: The width of a bin in the histograms of delays and RTTs, relative to its values.
_BIN = 0.01
#: The keys of metrics from these histograms.
_FROM_BINS = re.compile(r".*(delay|rtt)_p\d+_s")


@dataclass(frozen=True)
class Metric:
    """One number of a row of results, or of the summary."""

    #: The list of the results that has it, or `summary`.
    list: str
    #: The key in a row, which ends with the unit of the value.
    key: str
    #: The name for people: the key without its unit.
    name: str
    #: The unit that tables show.
    unit: str
    #: The factor from the value to `unit`.
    factor: float
    #: `higher`, `lower`, `neither`, or `given` for a property of the scenario.
    better: str
    label: str
    #: The label where there is little room.
    heading: str
    #: The reason for a missing value.
    absent: str | None
    #: The definition, in Markdown.
    definition: str

    @property
    def column(self) -> str:
        """The heading of a column, with the unit."""
        return f"{self.heading} {self.unit}".rstrip()

    @property
    def anchor(self) -> str:
        """The name as a part of addresses and names of files."""
        return re.sub(r"\W+", "-", self.name).strip("-")

    @property
    def resolution(self) -> float:
        """The smallest difference of two values that the metric shows, relative to them. 0 if it is exact."""
        return _BIN if _FROM_BINS.fullmatch(self.key) else 0.0

    def of(self, document: dict[str, Any]) -> float | None:
        """Return the value of a run's summary, in the unit of the key. None where it does not apply."""
        value = document["summary"][self.key]
        return None if value is None else float(value)


def _read() -> dict[str, dict[str, Metric]]:
    lists: dict[str, dict[str, Metric]] = {}
    for row in json.loads(_core.metrics_json()):
        metric = Metric(**row)
        lists.setdefault(metric.list, {})[metric.key] = metric
    return lists


#: Every metric, by the list of the results and by its key.
METRICS = _read()
