"""What charts draw: thinning keeps peaks, rates and Jain's index by hand."""

from __future__ import annotations

import io
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars
import pytest

from ackclock.evaluation.report import nice
from ackclock.evaluation.series import (
    MAX_FLOWS,
    Drawn,
    choose_flows,
    points_per_line,
    run_series,
    thin,
    thin_times,
)
from ackclock.running.job import Outcome

DRAWN = Drawn("bottleneck", False, 0.0, True, "late", {"a": "test", "b": "late"}, 500)


@pytest.mark.parametrize("length", [0, 1, 2, 7, 100, 101, 499, 1001, 12345])
@pytest.mark.parametrize("points", [2, 10, 100, 501])
def test_thinning_keeps_peaks_and_troughs(length: int, points: int) -> None:
    luck = random.Random(length)
    values = [luck.uniform(0, 100) for _ in range(length)]
    kept = thin(values, points)
    assert len(kept) <= points
    assert (min(kept, default=0), max(kept, default=0)) == (min(values, default=0), max(values, default=0))
    times = thin_times([float(index) for index in range(length)], points)
    assert len(times) == len(kept)
    assert times == sorted(set(times))


def test_a_short_line_stays_as_it_is() -> None:
    assert thin([3.0, 1.0, 2.0], 3) == [3.0, 1.0, 2.0]


def test_within_a_stretch_time_goes_forward() -> None:
    # Stretches 1 9 2 and 8 0 7: the peak comes before the trough in the second, after it in the first.
    assert thin([1.0, 9.0, 2.0, 8.0, 0.0, 7.0], 4) == [1.0, 9.0, 8.0, 0.0]


def test_a_large_page_has_coarser_lines() -> None:
    assert points_per_line(10) == 500
    assert 60 <= points_per_line(5_000) < 500
    assert points_per_line(10**9) == 60


def test_every_group_has_a_flow_drawn() -> None:
    names = ["bulk.0", "bulk.1", *(f"short.{index}" for index in range(40)), "far"]
    groups = {name: name.split(".")[0] for name in names}
    chosen = choose_flows(names, groups)
    assert chosen == ["bulk.0", "bulk.1", "short.0", "short.1", "short.2", "far"]
    assert len(chosen) == MAX_FLOWS


@pytest.mark.parametrize(("value", "end"), [(0, 1), (1, 1), (0.7, 0.8), (37, 40), (101, 125), (990, 1000)])
def test_scales_end_on_round_numbers(value: float, end: float) -> None:
    assert nice(value) == pytest.approx(end)


def parquet(columns: Mapping[str, Sequence[object]]) -> bytes:
    buffer = io.BytesIO()
    polars.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def outcome() -> Outcome:
    """Two flows over 2 s, sampled every second: `a` delivers 1 and 3 Mbit, `b` starts after a second."""
    time_ns = [0, 0, 10**9, 10**9, 2 * 10**9, 2 * 10**9]
    slow, off = "slow-start", "exponential-backoff"
    flows = parquet(
        {
            "time_ns": [*time_ns],
            "flow": ["a", "b"] * 3,
            "cwnd_segments": [2.0, 2.0, 10.0, 2.0, 5.04, 4.0],
            "ssthresh_segments": [float("inf")] * 4 + [5.0, float("inf")],
            "phase": [slow, slow, slow, off, off, off],
            "srtt_ns": [0, 0, 20_000_000, 0, 31_250_000, 40_000_000],
            "sent_bytes": [0, 0, 125_000, 1, 500_000, 125_001],
            "delivered_bytes": [0, 0, 125_000, 0, 500_000, 125_000],
        }
    )
    links = parquet(
        {
            "time_ns": [0, 0, 10**9, 10**9, 2 * 10**9, 2 * 10**9],
            "link": ["bottleneck", "other"] * 3,
            "backlog_packets": [0, 9, 4, 9, 7, 9],
            "capacity_bps": [8e6, 9e9, 4e6, 9e9, 2e6, 9e9],
        }
    )
    return Outcome("key", "{}", "[]", flows, links)


def test_lines_by_hand() -> None:
    made = run_series(outcome(), DRAWN)
    assert made is not None
    assert made["flows"] == ["a", "b"] and made["hidden"] == 0
    assert made["x"] == [0, 1, 2]
    assert made["cwnd"] == [[2, 10, 5], [2, 2, 4]]
    # JSON has no infinity: no line before the first congestion event.
    assert made["ssthresh"] == [[None, None, 5], [None, None, None]]
    assert made["queue"] == [0, 4, 7]
    assert made["bins"] == [0.5, 1.5]
    assert made["throughput"] == [[1, 3], [0, 1]]
    assert made["capacity"] is None
    # Nobody had started at 0 s; from 1 s on (3 + 1)^2 / (2 (9 + 1)).
    assert made["jain"] == [None, 0.8]
    assert made["phase"] == {"names": ["a", "b"], "x": [1, 3], "y": [0, 1], "part": 1}
    # A backed-off timer is one event, until an ACK ends it.
    assert made["timeouts"] == [[2], [1]]


def test_a_capacity_that_varies_is_drawn_as_its_mean_over_an_interval() -> None:
    made = run_series(outcome(), replace(DRAWN, varies=True))
    assert made is not None
    # A sample has the mean of the second before it; that at the start belongs to no interval.
    assert made["capacity"] == [4, 2]


def test_fairness_is_drawn_where_it_is_meant() -> None:
    made = run_series(outcome(), replace(DRAWN, fairness=False))
    assert made is not None
    assert made["jain"] is None and made["phase"] is None


def test_runs_without_samples_have_no_lines() -> None:
    assert run_series(Outcome("key", "{}", "[]"), DRAWN) is None
