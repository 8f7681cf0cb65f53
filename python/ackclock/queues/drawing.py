"""Draws a queue over time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ackclock.page.curves import Curve, Panel
from ackclock.page.over_time import Drawing

_S = 1e-9
_MS = 1e-6
#: The names of variables end in their unit.
_WITH_UNIT = re.compile(r"(\w+)_(ms|packets|bytes)")


def drawing(samples: Mapping[str, Any], end: float, title: str) -> Drawing:
    """Return sojourn times, backlog, rates, drops and marks, and each variable of the queue that varies."""
    times = [_S * time for time in samples["time_ns"]]

    def curve(values: Sequence[float | None], factor: float = 1.0) -> Curve:
        return [
            (time, factor * value) for time, value in zip(times, values, strict=True) if value is not None
        ]

    interval = times[0] if times else 1.0
    panels = [
        Panel("largest sojourn time, ms", {"sojourn time": curve(samples["sojourn_ns"], _MS)}),
        Panel("queue, packets", {"queue": curve(samples["backlog_packets"])}),
        Panel(
            "rate, Mbit/s",
            {
                "arrivals": curve(samples["arrived_bytes"], 8e-6 / interval),
                "transmissions": curve(samples["sent_bytes"], 8e-6 / interval),
            },
        ),
        Panel("packets per sample", {name: curve(samples[name]) for name in ("dropped", "marked")}),
    ]
    for name, values in samples["state"].items():
        if len(set(values)) > 1:
            panels.append(Panel(_title(name), {_title(name).partition(",")[0]: curve(values)}))
    return Drawing([panel for panel in map(_drawn, panels) if panel.curves], end, title)


def _title(name: str) -> str:
    """Return the name of a variable with its unit: `target_ms` is `target, ms`."""
    found = _WITH_UNIT.fullmatch(name)
    return (f"{found[1]}, {found[2]}" if found is not None else name).replace("_", " ")


def _drawn(panel: Panel) -> Panel:
    """Return a panel without the curves that are zero."""
    return Panel(
        panel.title, {name: curve for name, curve in panel.curves.items() if any(y for _, y in curve)}
    )
