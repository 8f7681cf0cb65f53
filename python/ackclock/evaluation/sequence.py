"""The time-sequence plot of the report, of one connection around its first loss."""

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

#: The approximate number of segments in a plot. More are indistinguishable and make the page large.
_SEGMENTS = 1200
#: The length of a plot in round trips, unless it contains too many segments.
_ROUNDS = 40
#: The share of a plot before the loss.
_BEFORE = 0.2
#: A window that shrinks below this share indicates a loss or a mark.
_CUT = 0.95
#: The approximate size of a segment.
_SEGMENT_BITS = 8 * 1460
_NS = 1e9


@dataclass(frozen=True)
class Plot:
    """A drawing of one flow in an interval."""

    flow: str
    from_s: float
    to_s: float
    #: Whether the interval contains a window reduction.
    around_cut: bool
    svg: str

    @property
    def source(self) -> str:
        """The drawing as the address of an image, so that its styles stay apart from the page."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg.encode()).decode()}"


def sequence_plot(job: Job, outcome: Outcome) -> Plot | None:
    """Rerun a job, and draw its first flow under test around its first window reduction.

    Returns None without a bulk flow, or if the run has too many packets to capture. It also returns None for
    a kernel, which does not show the state of its senders.
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
    """Return the time of a flow's first window reduction after the warm-up, from its samples."""
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
