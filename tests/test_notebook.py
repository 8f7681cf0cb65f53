"""What results show in notebooks: tables with units, pictures, bars, and figures of matplotlib."""

from __future__ import annotations

import base64
import html
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy
import pytest
from helpers import ROOT

import ackclock
from ackclock.errors import ArgumentError, InputError
from ackclock.evaluation import Evaluation
from ackclock.metrics.summary import BY_NAME
from ackclock.page.lines import Axes, Line, lines
from ackclock.page.notebook import bar, picture
from ackclock.page.plane import Spot
from ackclock.page.plots import COLOURS, plane
from ackclock.results import RunResult
from ackclock.studies.results import StudyResult

SVG = "{http://www.w3.org/2000/svg}"
GRID = {"topology.queue.limit": ["5 packets", "10 packets", "20 packets"], "flows.test.count": [1, 2]}


@pytest.fixture(scope="module")
def tiny_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from helpers import TINY

    path = tmp_path_factory.mktemp("notebook") / "tiny.toml"
    path.write_text(TINY)
    return path


@pytest.fixture(scope="module")
def result(tiny_file: Path) -> RunResult:
    return ackclock.run(tiny_file, sets=["sampling.interval=100 ms"])


@pytest.fixture(scope="module")
def studied(tiny_file: Path) -> StudyResult:
    tree = {"name": "limits", "scenario": str(tiny_file), "replicates": 2, "grid": GRID}
    return ackclock.study(tree, workers=1)


def pictures(page: str) -> list[ElementTree.Element]:
    """The drawings in a page, which have to be XML."""
    found = re.findall(r"data:image/svg\+xml;base64,([\w+/=]+)", page)
    return [ElementTree.fromstring(base64.b64decode(data)) for data in found]


def texts(drawing: ElementTree.Element) -> list[str]:
    return ["".join(node.itertext()) for node in drawing.iter(f"{SVG}text")]


def test_a_run_shows_its_metrics_with_units_and_itself_over_time(result: RunResult) -> None:
    page = result._repr_html_()
    assert "<th>unit</th>" in page and "<td>Mbit/s</td>" in page
    (drawing,) = pictures(page)
    panels = [text for text in texts(drawing) if "," in text]
    assert {"cwnd, segments", "smoothed RTT, ms", "goodput, Mbit/s", "queue, packets"} <= set(panels)


def test_a_run_without_samples_shows_its_metrics(tiny_file: Path) -> None:
    result = ackclock.run(tiny_file, sets=['sampling.interval="none"'])
    assert pictures(result._repr_html_()) == [] and "<th>unit</th>" in result._repr_html_()
    with pytest.raises(InputError, match=r"sampling\.interval"):
        result.plot()


def test_a_run_is_plotted(result: RunResult) -> None:
    figure = result.plot()
    window, rtt, goodput, queue = figure.axes
    assert window.get_title(loc="left") == "cwnd, segments" and queue.get_xlabel() == "time, s"
    assert [line.get_label() for line in window.lines] == ["test.0", "test.1"]
    flow = result.samples.flows.filter(result.samples.flows["flow"] == "test.0")
    assert numpy.asarray(window.lines[0].get_ydata()).tolist() == flow["cwnd_segments"].to_list()
    assert rtt.get_xlim() == goodput.get_xlim() == (0, 8)
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_a_study_shows_charts_and_its_table(studied: StudyResult) -> None:
    page = studied._repr_html_()
    first, second = pictures(page)
    assert "goodput Mbit/s" in texts(first) and "topology.queue.limit, packets" in texts(first)
    assert BY_NAME["queue_delay_mean"].column in texts(second)
    assert first.attrib["width"].isdigit() and "--c0" in "".join(first.itertext())
    assert "goodput_bps" in page


def test_a_study_is_plotted(studied: StudyResult) -> None:
    (axes,) = studied.plot().axes
    assert axes.get_ylabel() == "goodput Mbit/s" and axes.get_xlabel() == "topology.queue.limit, packets"
    assert len(axes.containers) == 2
    drawn, *_ = axes.containers[0]
    rows = studied.summary.filter(studied.summary["flows.test.count"] == 1)
    assert numpy.asarray(drawn.get_xdata()).tolist() == [5, 10, 20]
    assert numpy.asarray(drawn.get_ydata()).tolist() == pytest.approx(
        [1e-6 * value for value in rows["goodput_bps"].to_list()]
    )
    assert studied.plot("loss_rate").axes[0].get_ylabel() == "loss %"
    with pytest.raises(ArgumentError, match=r"metric: is 'goodputt'; did you mean 'goodput'\?"):
        studied.plot("goodputt")


def test_a_study_stays_whole_when_it_is_pickled(studied: StudyResult) -> None:
    assert pickle.loads(pickle.dumps(studied)).drawn == studied.drawn


def test_a_study_of_one_point_is_a_table(tiny_file: Path) -> None:
    tree = {
        "name": "one",
        "scenario": str(tiny_file),
        "replicates": 2,
        "grid": {"flows.test.count": [1]},
    }
    studied = ackclock.study(tree, workers=1)
    assert pictures(studied._repr_html_()) == []
    with pytest.raises(InputError, match="one: nothing varies"):
        studied.plot()


def test_facets_stand_beside_each_other(tiny_file: Path) -> None:
    grid = {**GRID, "topology.delay": ["5 ms", "18 ms"]}
    tree = {"name": "three", "scenario": str(tiny_file), "replicates": 1, "grid": grid}
    figure = ackclock.study(tree, workers=2).plot("utilization")
    assert len(figure.axes) == 2
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert {axes.get_title(loc="left") for axes in figure.axes} != {""}


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory, tiny_file: Path) -> Evaluation:
    folder = tmp_path_factory.mktemp("suite")
    (folder / "tiny.toml").write_text(tiny_file.read_text())
    (folder / "suite.toml").write_text(
        'name = "tiny"\nversion = 1\ntitle = "A small one"\nreplicates = 2\ntest = ["test"]\n'
        'panel = ["aimd", "new-aimd"]\n[[environments]]\nid = "alone"\n'
        'scenario = "tiny.toml"\ntitle = "Alone"\n'
        'question = "Is it full?"\n'
    )
    return ackclock.evaluate("aimd(increase=2)", suite=str(folder), workers=1, within_table=True)


def test_an_evaluation_shows_the_parts_of_its_report_in_a_frame(evaluated: Evaluation) -> None:
    page = evaluated._repr_html_()
    (frame,) = re.findall(r'srcdoc="(.*?)"', page, re.DOTALL)
    text = html.unescape(frame)
    assert html.escape(evaluated.verdict) in page
    assert "utilisation, %" in text and json.dumps(evaluated.overview["tiles"][0]["label"]) in text
    assert all(each["label"] in text for each in evaluated.overview["algorithms"])


def test_an_evaluation_is_plotted(evaluated: Evaluation) -> None:
    (axes,) = evaluated.plot().axes
    assert len(axes.lines) == 3 and axes.xaxis_inverted()
    assert [line.get_color() for line in axes.lines] == list(COLOURS[:3])


def test_an_ellipse_reaches_as_far_as_the_intervals() -> None:
    spot = Spot("a", 10.0, 50.0, 2.0, 5.0, 0.0)
    (axes,) = plane([spot], "goodput", "x").axes
    (patch,) = axes.patches
    low, high = patch.get_extents().transformed(axes.transData.inverted()).get_points()
    assert sorted((low[0], high[0])) == pytest.approx([8, 12], abs=0.05)
    assert sorted((low[1], high[1])) == pytest.approx([45, 55], abs=0.1)


def test_pictures_are_escaped_and_stand_alone() -> None:
    drawing = lines([Line("<b>&", [0, 1], [1, 2])], Axes("x <", "y &"), "t")
    shown = picture(drawing, "a < b & c")
    (found,) = pictures(shown)
    assert "<b>&" in texts(found) and found.tag == f"{SVG}svg"
    assert "a &lt; b &amp; c" in shown and "<script" not in shown


# ---- bars ----


def test_nothing_is_shown_outside_of_notebooks(capsys: pytest.CaptureFixture[str]) -> None:
    moved = bar("x")
    moved(1, 2)
    assert capsys.readouterr() == ("", "")


class Handle:
    def __init__(self, shown: list[str]) -> None:
        self._shown = shown

    def update(self, value: str) -> None:
        self._shown.append(value)


def notebook(monkeypatch: pytest.MonkeyPatch, shell: Any) -> list[str]:
    """IPython as far as bars use it."""
    shown: list[str] = []

    def display(value: str, *, display_id: bool) -> Handle:
        assert display_id
        shown.append(value)
        return Handle(shown)

    package, displayed = ModuleType("IPython"), ModuleType("IPython.display")
    vars(package).update(get_ipython=lambda: shell)
    vars(displayed).update(HTML=str, display=display)
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", displayed)
    return shown


def test_a_study_moves_a_bar(monkeypatch: pytest.MonkeyPatch, tiny_file: Path) -> None:
    shown = notebook(monkeypatch, SimpleNamespace(kernel=None))
    tree = {
        "name": "small one",
        "scenario": str(tiny_file),
        "replicates": 2,
        "grid": {"flows.test.count": [1]},
    }
    ackclock.study(tree, workers=1)
    assert shown[-1] == '<progress max="2" value="2"></progress> small one: 2 of 2 runs'
    before = len(shown)
    ackclock.study(tree, workers=1, progress=lambda done, total: None)
    assert len(shown) == before


def test_ipython_in_a_terminal_has_no_bar(monkeypatch: pytest.MonkeyPatch, tiny_file: Path) -> None:
    shown = notebook(monkeypatch, SimpleNamespace())
    bar("x")(1, 1)
    assert shown == []


# ---- without matplotlib, and what starts fast ----


def test_without_matplotlib_the_extra_is_named_and_pages_are_shown(tiny_file: Path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\nimport ackclock\n"
        f"result = ackclock.run({str(tiny_file)!r}, sets=['sampling.interval=1 s'])\n"
        "assert 'data:image/svg' in result._repr_html_()\nresult.plot()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False, cwd=ROOT
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith("a plot needs matplotlib; install it with: python -m pip install matplotlib")


def test_runs_and_studies_load_no_pages() -> None:
    code = (
        "import ackclock, sys\nackclock.run, ackclock.study\n"
        "assert not {'jinja2', 'matplotlib'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
