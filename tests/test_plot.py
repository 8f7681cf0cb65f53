"""`ackclock plot` and `run --plot`: what is drawn over time, where it goes, and what cannot be drawn."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import polars
import pytest
from helpers import TINY, cli

from ackclock.errors import InputError
from ackclock.page.over_time import MOST, over_time
from ackclock.text.sparkline import sparkline

PANELS = ("cwnd, segments", "smoothed RTT, ms", "goodput, Mbit/s", "queue, packets")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def test_a_line_has_the_mean_of_each_part() -> None:
    # Means 0, 4, 8 of 8; the third part has no point and holds.
    curve = [(0.0, 0.0), (1.0, 3.0), (1.5, 5.0), (3.0, 8.0)]
    assert sparkline(curve, 4.0, 8.0, 4) == "▁▅▅█"
    assert sparkline([(3.0, 8.0)], 4.0, 8.0, 4) == "   █"
    assert sparkline([(0.0, 0.0)], 4.0, 0.0, 2) == "▁▁"


def test_curves_are_the_samples() -> None:
    second = 10**9
    flows = polars.DataFrame(
        {
            "time_ns": [0, second, 2 * second],
            "flow": ["a"] * 3,
            "cwnd_segments": [10.0, 12.0, 6.0],
            "srtt_ns": [0, 40_000_000, 50_000_000],
            "delivered_bytes": [0, 125_000, 375_000],
        }
    )
    links = polars.DataFrame(
        {
            "time_ns": [0, second] * 2,
            "link": ["idle"] * 2 + ["bottleneck"] * 2,
            "backlog_packets": [0, 0, 0, 7],
        }
    )
    panels = {panel.title: panel.curves for panel in over_time(flows, links, 2.0, "x").panels}
    assert panels == {
        "cwnd, segments": {"a": [(0.0, 10.0), (1.0, 12.0), (2.0, 6.0)]},
        # Nothing is measured at first.
        "smoothed RTT, ms": {"a": [(1.0, 40.0), (2.0, 50.0)]},
        "goodput, Mbit/s": {"a": [(1.0, 1.0), (2.0, 2.0)]},
        "queue, packets": {"bottleneck": [(0.0, 0.0), (1.0, 7.0)]},
    }


def test_nothing_sampled_is_said() -> None:
    with pytest.raises(InputError, match="no samples over time"):
        over_time(polars.DataFrame(), polars.DataFrame(), 1.0, "x")


def test_a_run_is_drawn(scenario: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.png"):
        answer = cli("run", scenario, "--plot", tmp_path / name)
        assert answer.code == 0, answer.stderr
    text = (tmp_path / "a.svg").read_text()
    assert all(title in text for title in PANELS)
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")


def test_a_stored_run_is_drawn_as_when_it_ran(scenario: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    ran = cli("run", scenario, "--out", folder, "--plot", "term", columns=70)
    stored = cli("plot", folder, columns=70)
    assert ran.code == stored.code == 0, ran.stderr + stored.stderr
    drawn = stored.stdout.splitlines()[1:]
    assert "\n".join(drawn) in ran.stdout
    assert [line.split(" (")[0] for line in drawn if " (0 to " in line] == list(PANELS)
    assert sum(line.startswith("  test.0 ") for line in drawn) == 3
    assert max(map(len, drawn)) <= 70


def test_one_of_many_is_chosen(scenario: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    sets = ("--set", "duration=2s", "--set", "flows.test.start=0 s")
    grid = ("--vary", "flows.test.cc=reno,cubic")
    assert cli("study", scenario, *grid, *sets, "--out", folder).code == 0
    listed = cli("plot", folder, "--list")
    assert listed.code == 0 and "reno" in listed.stdout and "cubic" in listed.stdout
    which = cli("plot", folder)
    assert which.code == 2 and "has 2 runs with samples; choose with --run N" in which.stderr
    assert cli("plot", folder, "--run", "2").code == 0
    beyond = cli("plot", folder, "--run", "3")
    assert beyond.code == 2 and "has 2 runs with samples" in beyond.stderr


def test_the_first_flows_are_drawn(scenario: Path) -> None:
    answer = cli("run", scenario, "--set", f"flows.test.count={MOST + 2}", "--plot", "term")
    assert f"the first {MOST} of {MOST + 2} flows" in answer.stdout
    assert f"test.{MOST - 1} " in answer.stdout.split("cwnd, segments (")[1]
    assert f"  test.{MOST} " not in answer.stdout.split("cwnd, segments (")[1]


def test_several_backends_are_drawn_over_one_another(scenario: Path, tmp_path: Path) -> None:
    both = ("--backend", "sim", "--backend", "model")
    answer = cli("run", scenario, *both, "--plot", tmp_path / "windows.svg")
    assert answer.code == 0, answer.stderr
    text = (tmp_path / "windows.svg").read_text()
    assert "test.0: cwnd, segments" in text and ">model<" in text and ">sim<" in text


def test_what_cannot_be_drawn(scenario: Path, tmp_path: Path) -> None:
    wrong = cli("run", scenario, "--plot", "x.pdf")
    assert wrong.code == 2 and "must be a file that ends in .svg or .png, or term" in wrong.stderr
    folder = tmp_path / "bare"
    assert cli("study", scenario, "--vary", "duration=2s", "--samples", "none", "--out", folder).code == 0
    bare = cli("plot", folder)
    assert bare.code == 2 and "no run in it has samples over time" in bare.stderr
    missing = cli("plot", tmp_path / "nowhere")
    assert missing.code == 2 and "Traceback" not in missing.stderr
