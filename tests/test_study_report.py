"""The report of a study: its axes, its charts, and the commands of its points."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from helpers import ROOT, cli

from ackclock.studies.charts import Layout, Side, layout
from ackclock.studies.grid import Axis
from browser import CHROMIUM, MISSING, load

STUDY = f"""
schema = 1
name = "small"
scenario = "{ROOT / "examples" / "two-flows.toml"}"
set = ["duration=3 s", "warmup=1 s"]
replicates = 2
samples = "none"
[grid]
"flows.test.cc" = ["aimd", "cubic"]
"topology.queue.limit" = ["10 packets", "40 packets", "160 packets"]
"topology.rate" = ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.toml").write_text(STUDY)
    answer = cli("study", folder / "small.toml", "--report", "--json", "--out", folder / "out")
    assert answer.code == 0, answer.stderr
    assert f"report: {folder / 'out' / 'report.html'}" in answer.stderr
    (folder / "study.json").write_text(answer.stdout)
    return folder


def side(values: int, *, numbers: bool) -> Side:
    rows = tuple((f"{at} ms" if numbers else f"x{at}",) for at in range(1, values + 1))
    return Side.of(Axis(("k",), rows))


def test_axes_are_chosen_by_their_values() -> None:
    three, nine, names, one = side(3, numbers=True), side(9, numbers=True), side(12, numbers=False), None
    assert layout([]) is one and layout([side(1, numbers=True)]) is None
    assert layout([three]) == Layout(0, None, ())
    assert layout([three, nine]) == Layout(1, 0, ())
    # Numbers go to the right before names; twelve lines are too many for one chart.
    assert layout([three, names, nine]) == Layout(2, 0, (1,))
    assert layout([names, names]) == Layout(0, None, (1,))


def test_quantities_are_numbers() -> None:
    axis = Side.of(Axis(("rate", "limit"), (("5 Mbit/s", "x"), ("10 Mbit/s", "y"))))
    assert (axis.numbers, axis.unit, axis.texts) == ((5e6, 1e7), "bps", ("5 Mbit/s, x", "10 Mbit/s, y"))
    assert Side.of(Axis(("a",), ((True,), (False,)))).numbers is None
    assert Side.of(Axis(("a",), (("5 ms",), ("5 packets",)))).numbers is None


def test_charts_have_the_figures_of_the_study(made: Path) -> None:
    page = (made / "out" / "report.html").read_text()
    points = json.loads((made / "study.json").read_text())["points"]
    found = re.findall(r'data-name="goodput-\d+">.*?<pre class="csv" hidden>(.*?)</pre>', page, re.DOTALL)
    told = [float(row.split(",")[2]) for csv in found for row in csv.strip().splitlines()[1:]]
    assert sorted(told) == pytest.approx(
        sorted(1e-6 * point["metrics"]["goodput_bps"]["mean"] for point in points), rel=1e-5
    )
    # Rate and limit have three values each: a heat map for each algorithm.
    assert page.count('data-name="goodput-map-') == 2
    assert "default-src 'none'" in page and not re.findall(r"<script[^>]*\ssrc|https://", page)


def test_every_point_can_be_run_again(made: Path) -> None:
    page = (made / "out" / "report.html").read_text()
    assert page.count(f"ackclock run --from {made / 'out'} ") == 18
    answer = cli("run", "--from", made / "out", "7#1", "--json")
    assert answer.code == 0, answer.stderr
    again = json.loads(answer.stdout)
    (row,) = cli(
        "query",
        "SELECT goodput_bps FROM runs WHERE point = 7 AND replicate = 1",
        "--store",
        made / "out",
        "--csv",
    ).stdout.splitlines()[1:]
    assert again["summary"]["goodput_bps"] == pytest.approx(float(row))


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
@pytest.mark.parametrize("width", [400, 1400])
def test_a_browser_shows_it_without_complaint(made: Path, width: int) -> None:
    page = (made / "out" / "report.html").read_text()
    reader = (
        "<script>document.body.dataset.wide = document.documentElement.scrollWidth - innerWidth;</script>"
    )
    (made / "out" / "read.html").write_text(page.replace("</body>", f"{reader}</body>"))
    shown = load(made / "out" / "read.html", width, 2000)
    assert shown.console == []
    assert int(re.findall(r'data-wide="(-?\d+)"', shown.dom)[0]) <= 0
