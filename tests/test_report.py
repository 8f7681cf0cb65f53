"""The report: whole, small, loads nothing, draws its charts in a browser, and has its data beside it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars
import pytest
from browsers import used
from helpers import ROOT, cli, require_web
from polars.testing import assert_frame_equal

from ackclock.evaluation import evaluate
from ackclock.evaluation.explanation import explain
from ackclock.evaluation.export import TABLES, csv_name, stored_runs
from ackclock.evaluation.report import write_report
from ackclock.evaluation.verdict import worst_result
from ackclock.running.store import Store
from browser import CHROMIUM, MISSING, load

TEMPLATES = ROOT / "python" / "ackclock" / "evaluation" / "templates"
NOTICES = ROOT / "NOTICES.md"


@dataclass(frozen=True)
class Reported:
    """A report and the folder it is in."""

    folder: Path

    @property
    def page(self) -> str:
        return (self.folder / "report.html").read_text(encoding="utf-8")

    @property
    def carried(self) -> dict[str, Any]:
        """What the page has for its script."""
        (text,) = re.findall(r'<script type="text/plain" id="data">(.*?)</script>', self.page, re.DOTALL)
        carried: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text)))
        return carried

    @property
    def data(self) -> list[dict[str, Any]]:
        data: list[dict[str, Any]] = self.carried["environments"]
        return data

    @property
    def scoreboard(self) -> dict[str, Any]:
        board: dict[str, Any] = json.loads((self.folder / "scoreboard.json").read_text())
        return board

    @property
    def candidates(self) -> int:
        return len(self.scoreboard["candidates"])

    def stored(self) -> list[dict[str, Any]]:
        """The documents of all runs of the store."""
        with sqlite3.connect(self.folder / "runs.sqlite") as db:
            return [json.loads(text) for (text,) in db.execute("SELECT result_json FROM runs")]


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory, panel_runs: Path) -> Reported:
    """The core suite with three replicates: there is a worst environment."""
    folder = shutil.copytree(panel_runs, tmp_path_factory.mktemp("core"), dirs_exist_ok=True)
    answer = cli("evaluate", "new-aimd", "--quick", "--out", folder)
    assert answer.code == 0, answer.stderr
    return Reported(folder)


def test_it_is_whole_and_small(core: Reported) -> None:
    assert (core.folder / "report.html").stat().st_size < 5_000_000
    text = html.unescape(core.page)
    board = core.scoreboard
    assert board["verdict"] in text and board["build"] in text
    assert f"ackclock evaluate new-aimd --quick --out {core.folder}" in text
    for environment in board["environments"]:
        assert environment["title"] in text and environment["question"] in text
        assert core.page.count(f'id="{environment["id"]}"') == 1
    assert core.carried["evaluation"]["document"] == board


def test_it_loads_nothing(core: Reported) -> None:
    """The browser is told to load nothing, too: what it would refuse is an error on its console."""
    page = core.page
    assert "default-src 'none'" in page
    assert (
        re.findall(
            r"<script[^>]*\ssrc|@import|url\((?!#)|<iframe"
            r"|<img(?! [^>]*src=\"data:)|<link(?! rel=\"icon\" href=\"data:,\")",
            page,
        )
        == []
    )
    addresses = re.findall(r"https?://[^\s\"')]+", page)
    # Where the library is from, in its own first line, and the name of what drawings are written in.
    assert set(addresses) == {"https://github.com/leeoniya/uPlot", "http://www.w3.org/2000/svg"}
    for target in re.findall(r'(?:src|href)="([^"]*)"', page):
        assert (
            target.startswith(("#", "data:,", "data:image/svg+xml;base64,"))
            or (core.folder / target).is_file()
        ), target


def test_every_run_has_its_lines(core: Reported) -> None:
    for environment in core.data:
        assert [run is not None for run in environment["runs"]] == [True] * core.candidates
        for run in environment["runs"]:
            assert all(len(line) == len(run["x"]) for line in (*run["cwnd"], *run["ssthresh"], run["queue"]))
            assert all(len(line) == len(run["bins"]) for line in run["throughput"])
            assert run["flows"] == environment["runs"][0]["flows"]
            assert run["x"][-1] <= environment["duration_s"]


def test_lines_are_those_of_the_samples(core: Reported) -> None:
    frame = polars.read_parquet(core.folder / "data" / "flow_samples.parquet")
    for environment in core.data:
        for label, run in zip(environment["labels"], environment["runs"], strict=True):
            for name, line in zip(run["flows"], run["cwnd"], strict=True):
                windows = frame.filter(
                    (polars.col("environment") == environment["id"])
                    & (polars.col("cc") == label)
                    & (polars.col("flow") == name)
                )["cwnd_segments"]
                assert max(line) == round(windows.max(), 1)  # type: ignore[arg-type]


def test_data_beside_it_are_the_stored_results(core: Reported) -> None:
    folder = core.folder / "data"
    assert {f"data/{path.name}" for path in folder.iterdir()} == {
        *map(csv_name, TABLES),
        *(f"data/{name}.parquet" for name in TABLES),
    }
    for name in TABLES:
        frame = polars.read_parquet(folder / f"{name}.parquet")
        assert frame.height > 0
        read = polars.read_csv(core.folder / csv_name(name), schema=frame.schema)
        assert_frame_equal(read, frame, check_exact=True)
    runs = polars.read_parquet(folder / "runs.parquet")
    metrics = list(core.stored()[0]["summary"])
    told = {
        (row["scenario_hash"], row["replicate"]): [row[name] for name in metrics] for row in runs.to_dicts()
    }
    kept = {
        (run["scenario_hash"], run["replicate"]): [run["summary"][name] for name in metrics]
        for run in core.stored()
    }
    assert told == kept
    assert (
        sum(len(run["flows"]) for run in core.stored())
        <= polars.read_parquet(folder / "flows.parquet").height
    )


def test_scores_beside_it_are_those_of_the_scoreboard(core: Reported) -> None:
    rows = polars.read_parquet(core.folder / "data" / "scores.parquet").to_dicts()
    told = {
        (row["environment"], row["cc"], row["metric"]): (row["mean"], row["low"], row["high"]) for row in rows
    }
    kept = {
        (environment["id"], row["candidate"], name): (metric["mean"], metric["low"], metric["high"])
        for environment in core.scoreboard["environments"]
        for row in environment["scores"]
        for name, metric in row["metrics"].items()
    }
    assert told == kept


def test_the_worst_environment_is_explained(tiny_suite: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    evaluation = evaluate("aimd(increase=8)", suite=str(tiny_suite), replicates=4, out=folder)
    worst = worst_result(evaluation.board)
    assert worst is not None
    result, score = worst
    with Store(folder) as store:
        runs = [run for run in stored_runs(evaluation, store) if run.environment == result.environment.id]
    sentences = explain(evaluation.board, result, score, runs)
    assert f"{score.metric.text(score.value.mean)} with aimd(increase=8)" in sentences[0]
    page = html.unescape(write_report(evaluation, folder, command="again").read_text())
    assert all(sentence in page for sentence in sentences)
    assert f"Worst environment: {result.environment.title}" in page


def test_a_capacity_that_varies_is_drawn(tiny_suite: Path, tmp_path: Path) -> None:
    alone = tiny_suite / "alone.toml"
    alone.write_text(
        alone.read_text().replace(
            "[topology]\n", '[topology]\nvaries = { kind = "random", high = "2 Mbit/s", step = "1 s" }\n'
        )
    )
    evaluation = evaluate("aimd-fc", suite=str(tiny_suite), replicates=1, out=tmp_path / "out")
    page = write_report(evaluation, tmp_path / "out", command="again")
    varying, fixed = Reported(tmp_path / "out").data
    for run in varying["runs"]:
        assert len(run["capacity"]) == len(run["bins"]) and 0 < max(run["capacity"]) <= 2
    assert [run["capacity"] for run in fixed["runs"]] == [None] * len(fixed["runs"])
    text = html.unescape(page.read_text())
    assert text.count("available link rate dashed") == 1
    assert "available capacity" in text
    if CHROMIUM is not None:
        assert load(page, 1400, 2000).console == []


def test_names_cannot_break_out_of_the_page(tiny_suite: Path, tmp_path: Path) -> None:
    suite = tiny_suite / "suite.toml"
    suite.write_text(suite.read_text().replace("In company", "</script><script>alert(1)</script>"))
    evaluation = evaluate("aimd-fc", suite=str(tiny_suite), replicates=1, out=tmp_path / "out")
    page = write_report(evaluation, tmp_path / "out", command="<b>").read_text()
    assert "<script>alert" not in page and "<b></pre>" not in page


#: What a reader does, by script: opens everything, zooms, moves the cursor; the answer is in attributes.
READER = """
for (const details of document.querySelectorAll("details")) details.open = true;
dispatchEvent(new Event("beforeprint"));
dispatchEvent(new Event("afterprint"));
const card = document.querySelector(".card");
card.querySelector('[data-zoom="in"]').click();
const plot = cards.find((entry) => entry.element === card).plots[0];
document.getElementById("theme").click();
setTimeout(() => {
  const box = plot.over.getBoundingClientRect();
  const at = { clientX: box.left + box.width / 2, clientY: box.top + 9, bubbles: true };
  plot.over.dispatchEvent(new MouseEvent("mouseenter", at));
  plot.over.dispatchEvent(new MouseEvent("mousemove", at));
}, 500);
setTimeout(() => {
  document.body.dataset.range = [plot.scales.x.min, plot.scales.x.max].join(" ");
  document.body.dataset.read = card.querySelector(".read").textContent;
  document.body.dataset.others = card.querySelectorAll(".read:not(:empty)").length;
  document.body.dataset.wide = document.documentElement.scrollWidth - innerWidth;
}, 1500);
"""


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
@pytest.mark.parametrize("width", [400, 1400])
def test_a_browser_draws_it_without_complaint(core: Reported, width: int) -> None:
    page = core.folder / f"read-{width}.html"
    # At the end of the script of the page, which is a module.
    before, end, after = core.page.rpartition("</script>")
    page.write_text("".join([before, READER, end, after]))
    shown = load(page, width, 2000)
    assert shown.console == []
    shared = [environment["runs"][0]["jain"] is not None for environment in core.data]
    # Windows of three flows and more have a strip each.
    flows = [len(environment["runs"][0]["flows"]) for environment in core.data]
    windows = sum(count if count >= 3 else 1 for count in flows)
    assert shown.dom.count("<canvas") == core.candidates * (windows + 3 * len(shared) + sum(shared))
    assert shown.dom.count('<g class="trace"><path class') == core.candidates * sum(shared)
    found = dict(
        re.findall(r'data-(range|read|others|wide)="([^"]*)"', re.findall(r"<body[^>]*>", shown.dom)[0])
    )
    # The worst environment takes 105 s. Half of it remains, and each chart of the card reads its middle.
    assert found["range"] == "26.25 78.75"
    assert re.match(r"(51|52|53)\.\d s ", found["read"])
    assert int(found["others"]) == 5 * core.candidates
    assert int(found["wide"]) <= 0
    assert re.search(r'<html[^>]* data-theme="dark"', shown.dom)


@pytest.mark.parametrize("browser", ["chromium", "firefox-esr"])
def test_every_link_and_cell_leads_to_its_part(core: Reported, browser: str) -> None:
    """The verdict and its figures are in the first screen of a laptop and of a phone."""
    found = used("reading.mjs", (core.folder / "report.html").as_uri(), browser=browser)
    assert found["problems"] == [] and found["missed"] == [] and found["cells"] == []
    assert found["links"] > 60 and not found["wide"]
    assert found["laptop"] <= 650 and found["phone"] <= 844


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
def test_a_browser_would_complain(core: Reported) -> None:
    page = core.folder / "broken.html"
    page.write_text(
        core.page.replace(
            "</body>", '<script src="https://example.org/x.js"></script><script>nothing()</script></body>'
        )
    )
    assert len(load(page, 1400, 2000).console) >= 2


def test_with_the_simulator_in_it_it_is_below_3_megabytes(core: Reported, tmp_path: Path) -> None:
    require_web()
    folder = shutil.copytree(core.folder, tmp_path / "core")
    answer = cli("evaluate", "new-aimd", "--quick", "--out", folder, "--interactive")
    assert answer.code == 0, answer.stderr
    page = folder / "report.html"
    assert page.stat().st_size < 3_000_000
    if CHROMIUM is not None:
        shown = load(page, 1400, 2000)
        # The data of the charts are unpacked, and every card has the names of its flows from there.
        assert shown.console == []
        assert shown.dom.count('aria-label="flows in the charts"><li>') == len(core.data)


def test_vendored_files_are_those_of_the_notices() -> None:
    notices = NOTICES.read_text(encoding="utf-8")
    files = [path for path in (TEMPLATES / "vendor").rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert f"`{path.name}`" in notices
        assert hashlib.sha256(path.read_bytes()).hexdigest() in notices
