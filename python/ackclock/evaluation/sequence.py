"""The time-sequence plot of the report: one connection of a run, around its first loss."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from typing import Any

from ackclock.errors import RunError
from ackclock.metrics.frames import samples_frame
from ackclock.page.sequence import draw
from ackclock.running.job import SIM, Capture, Job, Outcome, execute
from ackclock.scenario import Scenario

#: Segments in a plot, about: more cannot be told apart, and make the page large.
_SEGMENTS = 1200
#: A plot is as long as this many round trips, if there are not too many segments.
_ROUNDS = 40
#: The part of a plot before the loss.
_BEFORE = 0.2
#: A window that shrinks to less than this has seen a loss or a mark.
_CUT = 0.95
#: Of about every segment.
_SEGMENT_BITS = 8 * 1460
_NS = 1e9


@dataclass(frozen=True)
class Plot:
    """A drawing, and what it is of."""

    flow: str
    from_s: float
    to_s: float
    #: Whether it is around a cut of the window.
    around_cut: bool
    svg: str

    @property
    def source(self) -> str:
        """The drawing as the address of an image: its styles do not touch those of the page."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg.encode()).decode()}"


def sequence_plot(job: Job, outcome: Outcome) -> Plot | None:
    """Run a job again, and draw its first flow under test around the first time its window is cut.

    Nothing is drawn where there is no bulk flow, the run has too many packets to capture, or it was an
    emulation, in which another run is another.
    """
    if job.backend != SIM:
        return None
    document = json.loads(outcome.result_json)
    flows = [flow for flow in document["flows"] if flow["goodput_bps"]]
    flow = next((flow for flow in flows if flow["group"] == "test"), flows[0] if flows else None)
    if flow is None:
        return None
    from_s, to_s, around_cut = _within(job, outcome, flow, document["duration_s"])
    within = (round(from_s * _NS), round(to_s * _NS))
    again = replace(job, samples=False, capture=Capture("sender", (flow["name"],), sequence_ns=within))
    try:
        plots = json.loads(execute(again).sequences_json or "[]")
    except RunError:
        return None
    if not plots:
        return None
    drawing = draw(plots[:1], from_s, to_s, f"{flow['name']}: time-sequence plot")
    return Plot(flow["name"], from_s, to_s, around_cut, drawing)


def _within(job: Job, outcome: Outcome, flow: dict[str, Any], duration_s: float) -> tuple[float, float, bool]:
    described = Scenario.from_dict(json.loads(job.scenario_json)).describe()
    length = min(
        _ROUNDS * (flow["rtt_mean_s"] or 1.0), _SEGMENTS * _SEGMENT_BITS / flow["goodput_bps"], duration_s
    )
    cut = _first_cut(outcome, flow["name"], described["warmup_s"])
    start = described["warmup_s"] if cut is None else cut - _BEFORE * length
    start = max(0.0, min(start, duration_s - length))
    return start, start + length, cut is not None


def _first_cut(outcome: Outcome, flow: str, from_s: float) -> float | None:
    """Return when the window of a flow is cut first after the warm-up, as samples show it."""
    if outcome.flow_samples is None:
        return None
    import polars

    samples = samples_frame(outcome.flow_samples)
    samples = samples.filter(polars.col("flow").cast(polars.String) == flow)
    times, windows = samples["time_ns"].to_list(), samples["cwnd_segments"].to_list()
    cuts = (
        time / _NS
        for time, before, after in zip(times[1:], windows, windows[1:], strict=False)
        if time / _NS > from_s and after < _CUT * before
    )
    return next(cuts, None)
