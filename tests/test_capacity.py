"""Capacity that varies: trace files, what is measured against them, and what a reader is told."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest
from helpers import TINY, cli

import ackclock

#: Each ninth millisecond a packet of 12,032 bits: 1.337 Mbit/s.
TRACE = "\n".join(str(millis) for millis in range(9, 910, 9)) + "\n"
MEAN_BPS = 12_032 / 9e-3


def varying(folder: Path, varies: str) -> Path:
    path = folder / "varying.toml"
    path.write_text(TINY.replace('rate = "2 Mbit/s"', f'rate = "2 Mbit/s"\nvaries = {varies}'))
    return path


def with_trace(folder: Path, trace: str = TRACE) -> Path:
    (folder / "traces").mkdir()
    (folder / "traces" / "x.trace").write_text(trace)
    return varying(folder, '{ kind = "trace", file = "traces/x.trace", bin = "9 ms" }')


def test_a_trace_file_is_found_beside_the_scenario_and_becomes_part_of_it(tmp_path: Path) -> None:
    path = with_trace(tmp_path)
    scenario = ackclock.Scenario.from_file(path)
    carried = json.loads(scenario.resolved_json)["topology"]["varies"]
    assert "file" not in carried
    assert carried["milliseconds"] == list(range(9, 910, 9))
    path.parent.joinpath("traces", "x.trace").unlink()
    again = ackclock.Scenario.from_dict(json.loads(scenario.resolved_json))
    assert again.hash == scenario.hash


def test_results_are_against_what_was_available(tmp_path: Path) -> None:
    run = ackclock.run(ackclock.Scenario.from_file(with_trace(tmp_path)))
    bottleneck, reverse = run.document["links"][:2]
    assert bottleneck["capacity_bps"] == pytest.approx(MEAN_BPS, rel=1e-4)
    assert "capacity_bps" not in reverse
    assert 0.9 < run.document["summary"]["utilization"] < 1.01
    goodput = run.document["summary"]["goodput_bps"]
    assert run.document["summary"]["efficiency"] == pytest.approx(goodput / bottleneck["capacity_bps"])
    name = polars.col("link").cast(polars.String)
    samples = run.samples.links
    assert samples.filter(name == "bottleneck")["capacity_bps"].mean() == pytest.approx(MEAN_BPS, rel=0.02)
    assert samples.filter(name == "bottleneck.reverse")["capacity_bps"].unique().to_list() == [2e6]


def test_a_reader_sees_what_varies_and_what_is_random(tmp_path: Path) -> None:
    answer = cli("check", varying(tmp_path, '"lte"'))
    assert answer.code == 0
    assert "varies: bottleneck: lte, volatility 0.2, outages of 1 s on average" in answer.stdout
    assert "random: rate of bottleneck: lte" in answer.stdout


def test_a_trace_beyond_the_rate_is_warned_of(tmp_path: Path) -> None:
    path = varying(tmp_path, '{ kind = "trace", milliseconds = [1, 1, 2] }')
    answer = cli("check", path)
    assert "its trace goes up to 24.064 Mbit/s" in answer.stderr


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        ("9\n18\njunk\n", 'x.trace: line 3: expected a whole number of milliseconds, found "junk"'),
        ("9\n18\n\n", 'x.trace: line 3: expected a whole number of milliseconds, found ""'),
        ("9\n8\n", "x.trace: line 2: 8 is out of range; must be at least 9"),
        ("9.5\n", 'x.trace: line 1: expected a whole number of milliseconds, found "9.5"'),
        ("", "x.trace: line 1: the trace is empty"),
        ("0\n", "x.trace: line 1: the trace takes no time"),
    ],
)
def test_junk_in_a_trace_is_one_message(tmp_path: Path, trace: str, expected: str) -> None:
    answer = cli("run", with_trace(tmp_path, trace))
    assert answer.code == 2
    assert answer.stdout == ""
    assert len(answer.stderr.strip().splitlines()) == 1
    for part in ("varying.toml:9: topology.varies.file: ", expected):
        assert part in answer.stderr


def test_a_trace_that_is_not_there_or_no_text_is_one_message(tmp_path: Path) -> None:
    path = with_trace(tmp_path)
    (tmp_path / "traces" / "x.trace").write_bytes(b"\xff\xfe1\n")
    answer = cli("run", path)
    assert (answer.code, len(answer.stderr.strip().splitlines())) == (2, 1)
    assert "x.trace: is not text" in answer.stderr
    (tmp_path / "traces" / "x.trace").unlink()
    answer = cli("run", path)
    assert (answer.code, len(answer.stderr.strip().splitlines())) == (2, 1)
    assert "x.trace: cannot be read: No such file" in answer.stderr


def test_a_walk_that_starts_out_of_range_is_one_message(tmp_path: Path) -> None:
    walk = '{ kind = "random-walk", start = "3 Mbit/s", delta = "1 Mbit/s", step = "1 s" }'
    answer = cli("run", varying(tmp_path, walk))
    assert answer.code == 2
    assert "varying.toml:9: topology.varies.start: 3 Mbit/s is out of range" in answer.stderr
    assert "2 Mbit/s, the rate that varies" in answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 1
