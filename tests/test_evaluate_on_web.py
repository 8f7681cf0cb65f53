"""Evaluations in Node and in the page give the document of the command."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import suites_on_web
from browsers import PROGRAMS, used
from helpers import ROOT, cli, require_web

from ackclock.cli import play_command
from ackclock.evaluation import SHOWN, Evaluation, evaluate
from ackclock.evaluation.series import Drawn, run_series
from ackclock.evaluation.suite import Suite
from ackclock.page import embedded
from ackclock.scenario import Scenario

WORDS = {
    "better": "better",
    "worse": "worse",
    "open": "no significant difference",
    "reference": "the reference",
    "none": "does not apply",
    "failed": "failed",
}
RULE = "grow = gain / w; cut = if(queue_delay > 10 ms, 0.5, 0.8) * w; gain = 1"


@pytest.fixture(autouse=True)
def _is_built() -> None:
    require_web()


def in_node(suite: Path, **options: Any) -> Any:
    """What `evaluate.mjs` prints."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    command = ["node", str(PROGRAMS / "evaluate.mjs"), str(suite), json.dumps(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_command(suite: Path, *arguments: str | Path) -> Any:
    answer = cli("evaluate", *arguments, "--suite", suite, "--json")
    assert answer.code == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.fixture
def data(tiny_suite: Path, tmp_path: Path) -> Path:
    """The suite as browsers have it."""
    suites_on_web.main([str(tmp_path / "data"), str(tiny_suite)])
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["tiny.json"]
    return tmp_path / "data" / "tiny.json"


def test_a_rule_is_judged_as_by_the_command(data: Path, tiny_suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    expected = by_command(tiny_suite, "--rule", RULE, "--replicates", "3", "--seed", "7", "--out", out)
    found = in_node(data, rule=RULE, replicates=3, seed=7, workers=2)
    assert found["document"] == expected
    assert "standard's share" in json.dumps(expected) and expected["competitors"][0]["starved"] is not None
    # Two environments, three algorithms, three replicates.
    assert [far["done"] for far in found["progress"]] == list(range(19))
    assert {far["total"] for far in found["progress"]} == {18}
    assert found["progress"][0]["left_s"] is None and found["progress"][-1]["left_s"] == 0
    labels = [candidate["label"] for candidate in expected["candidates"]]
    signs = [[cell["judgement"] for cell in row] for row in found["overview"]["maps"][0]["cells"]]
    assert [len(row) for row in signs] == [3, 3] and signs[0][
        labels.index(expected["reference"])
    ] == "reference"


@pytest.mark.parametrize("cc", ["aimd(increase=2)", "aimd", "aimd-fc+"])
def test_so_is_an_algorithm_against_stored_scores(cc: str, tiny_suite: Path, tmp_path: Path) -> None:
    assert cli("panel", "--suite", tiny_suite).code == 0
    path = tmp_path / "stored.json"
    suites_on_web.write(path, suites_on_web.document(Suite.load(str(tiny_suite))))
    expected = by_command(tiny_suite, cc, "--out", tmp_path / "out")
    assert expected["regret_baseline"]["stored"]
    assert in_node(path, cc=cc, workers=1)["document"] == expected


SEVERAL = ["new-aimd", "aimd(increase=2)", f"rule {RULE}", "aimd(increase=4)", "new-aimd"]
#: Of a line over time.
POINTS = 60
SETS = ["transport.min_rto=300 ms", 'topology.queue={ kind = "codel" }', "flows.test.count=3"]


@pytest.mark.parametrize(
    ("ccs", "options"),
    [
        (SEVERAL, {}),
        (SEVERAL[:2], {"metric": "queue_delay", "against": ["cubic", "aimd(increase=2)"]}),
        (["cubic"], {"sets": SETS, "metric": "watch"}),
        (["aimd(increase=1.0000001)", "aimd(increase=1.0000002)"], {"sets": SETS[:1], "replicates": 1}),
    ],
)
def test_so_are_several_other_panels_metrics_and_settings(
    ccs: list[str], options: dict[str, Any], data: Path, tiny_suite: Path, tmp_path: Path
) -> None:
    sets = [word for each in options.get("sets", ()) for word in ("--set", each)]
    against = [word for each in options.get("against", ()) for word in ("--against", each)]
    number = str(options.get("replicates", 2))
    arguments = [
        "--metric",
        options.get("metric", "shares"),
        "--replicates",
        number,
        "--out",
        tmp_path / "out",
    ]
    expected = by_command(tiny_suite, *ccs, *sets, *against, *arguments)
    found = in_node(data, cc=ccs, points=POINTS, **{"replicates": 2, **options})
    assert found["document"] == expected
    assert len(expected["ranking"]) == len(ccs) and expected["sets"] == options.get("sets", [])
    given = ccs if len(ccs) > 1 else ccs[0]
    evaluation = _evaluated(given, tiny_suite, tmp_path / "out", **{"replicates": 2, **options})
    assert found["overview"] == evaluation.overview
    if len(ccs) <= SHOWN:
        _same_over_time(found, evaluation)


def test_less_delay_is_to_the_right() -> None:
    spot = {"throughput": 5, "delay_half": 0, "throughput_half": 0, "correlation": 0}
    spots = [{"name": "slow", "delay": 40, **spot}, {"name": "a & b", "delay": 10, **spot}]
    (drawing,) = _by_page("plane", "(spots) => [plane(spots, 'y', 't')]", spots)
    slow, quick = (drawing.index(f"<title>{name}") for name in ("slow", "a &amp; b"))
    circle = float(drawing[slow:].split('cx="')[1].split('"')[0])
    square = float(drawing[quick:].split('points="')[1].split(",")[0])
    assert square > circle


def _evaluated(cc: str | list[str], suite: Path, out: Path, **options: Any) -> Evaluation:
    """The same as a value, of the runs that the command left."""
    return evaluate(cc, suite=str(suite), out=out, progress=lambda done, total: None, **options)


def _same_over_time(found: dict[str, Any], evaluation: Evaluation) -> None:
    """Windows and queues are those of the report, with as many points."""
    labels = [each["label"] for each in found["overview"]["algorithms"]]
    for row, first in zip(found["curves"], evaluation.first, strict=True):
        for candidate, (job, outcome) in zip(evaluation.board.candidates, first, strict=True):
            described = Scenario.from_dict(json.loads(job.scenario_json)).describe()
            groups = {flow["name"]: flow["group"] for flow in json.loads(outcome.result_json)["flows"]}
            ends = {"warmup_s": described["warmup_s"], "duration_s": described["duration_s"]}
            drawn = Drawn(described["bottleneck"], False, ends["warmup_s"], False, None, groups, POINTS)
            expected = run_series(outcome, drawn)
            assert expected is not None
            lines = {key: expected[key] for key in ("flows", "hidden", "x", "cwnd", "queue")}
            assert row[labels.index(candidate.label)] == {**lines, **ends}


def _by_page(name: str, function: str, given: Any) -> list[str]:
    """Return the answer of a function of the page's module with the same name."""
    program = (
        f"import {{ {name} }} from {json.dumps((ROOT / f'web/report/{name}.js').as_uri())};"
        f"console.log(JSON.stringify(({function})({json.dumps(given)})))"
    )
    command = ["node", "--input-type=module", "--eval", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    made: list[str] = json.loads(done.stdout)
    return made


def test_what_is_no_algorithm_is_one_message(data: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    program = (
        f"import {{ evaluate }} from {json.dumps((ROOT / 'web/evaluate.js').as_uri())};"
        "import { readFileSync } from 'node:fs';"
        f"const suite = JSON.parse(readFileSync({json.dumps(str(data))}, 'utf8'));"
        "const told = (options) => evaluate(options).then(() => null, (error) => error.message);"
        "const abort = new AbortController();"
        "const onProgress = ({ done }) => done === 1 && abort.abort(new Error('enough'));"
        "console.log(JSON.stringify([await told({ suite, rule: 'grow = 1/v; cut = w/2' }),"
        "await told({ suite, cc: 'cubick' }), await told({ suite: 'cor', cc: 'cubic' }),"
        "await told({ suite, cc: 'cubic', onProgress, signal: abort.signal }),"
        "await told({ suite, cc: 'cubic', sets: ['flows.test.cc=reno'] })]))"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", program], capture_output=True, text=True, check=True
    )
    rule, name, suite, aborted, changed = json.loads(done.stdout)
    assert "change the algorithm of the flows test, which are under test" in changed
    assert (
        "`1/v`" in rule
        and "cubic" in name
        and "; there are: " in suite
        and " core," in suite
        and aborted == "enough"
    )


@pytest.fixture
def address(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The live page as a file, beside which is the page, with the small suite in place of all others."""
    root = tmp_path / "web"
    shutil.copytree(ROOT / "web", root, ignore=shutil.ignore_patterns("suites", "tests"))
    folder = root / "module/suites"
    folder.mkdir()
    suite = json.loads(data.read_text())
    suites_on_web.write(folder / "core.json", suite | {"name": "core"})
    suites_on_web.write(folder / "index.json", suites_on_web.listed([suite | {"name": "core"}]))
    monkeypatch.setattr(embedded, "_ROOT", root)
    play_command.write(tmp_path / "pages", "")
    return (tmp_path / "pages/index.html").as_uri()


def test_the_page_judges_cancels_and_complains(
    address: str, data: Path, tiny_suite: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "taken"
    folder.mkdir()
    own = tmp_path / "own.json"
    suites_on_web.write(own, json.loads(data.read_text()) | {"name": "mine"})
    found = used("evaluating.mjs", address, str(folder), str(own))
    assert found["problems"] == [] and found["elsewhere"] == []
    expected = by_command(tiny_suite, "--rule", RULE, "--replicates", "2", "--out", tmp_path / "out")
    assert _given(folder / "evaluation-core.json") == expected
    assert found["verdict"] == expected["verdict"]
    evaluation = _evaluated(f"rule {RULE}", tiny_suite, tmp_path / "out", replicates=2)
    maps = evaluation.overview["maps"]
    assert found["heat"] == [[_said(cell) for cell in row] for row in maps[0]["cells"]]
    assert found["other"] == [[_said(cell) for cell in row] for row in maps[3]["cells"]]
    assert sum("less to the right" in each for each in found["planes"]) == 3
    assert found["cell"].startswith("your rule in “In company”: ")
    assert found["command"] == f"ackclock evaluate --rule '{RULE}' --suite core --replicates 2 --seed 1"
    lines = (folder / "evaluation-core.csv").read_text().splitlines()
    assert lines[0] == "environment,cc,metric,heading,replicate,value"
    assert len(lines) == 1 + sum(
        len(metric["values"])
        for environment in expected["environments"]
        for row in environment["scores"]
        for metric in row["metrics"].values()
    )
    assert found["cancelled"] == "Cancelled." and "`1/v`" in found["complaint"]
    assert {"connect-src", "img-src", "script-src-attr", "script-src-elem"} == set(found["broken"])
    assert found["wide"] is False and found["given"] == "grow = 3 / w\ncut = w / 2" and found["back"]
    _several(found, folder, tiny_suite, tmp_path)
    saved = (folder / "evaluation-core.html").read_text(encoding="utf-8")
    assert found["saved"] == {"verdict": expected["verdict"], "planes": 3, "charts": 12, "wide": False}
    assert "default-src 'none'" in saved and "<script src" not in saved and "<link" not in saved
    data_of = re.search(r'<script type="application/json" id="evaluation">(.*?)</script>', saved, re.DOTALL)
    assert data_of is not None and json.loads(data_of[1])["ranking"] == expected["ranking"]


def _said(cell: dict[str, Any]) -> str:
    """Return the words of a cell for screen readers."""
    return f"{'slightly ' * (cell['mark'] == 'small')}{WORDS[cell['judgement']]}"


def _several(found: dict[str, Any], folder: Path, tiny_suite: Path, tmp_path: Path) -> None:
    """The page ranks several over a suite of one's own as the command does."""
    rules = ["rule grow = 2 / w; cut = w / 2", "--rule", RULE]
    more = ["--against", "cubic", "--against", "aimd", "--metric", "queue_delay"]
    changed = ["--set", "transport.min_rto=300 ms", "--replicates", "2", "--out", str(tmp_path / "several")]
    expected = by_command(tiny_suite, "aimd(increase=2)", *rules, *more, *changed)
    assert _given(folder / "evaluation-mine.json") == expected
    assert found["several"] == (
        f"ackclock evaluate 'aimd(increase=2)' 'rule grow = 2 / w; cut = w / 2' --rule '{RULE}' --suite "
        "FOLDER-OF-mine --against cubic --against aimd --metric queue_delay --set 'transport.min_rto=300 ms' "
        "--replicates 2 --seed 1"
    )
    assert found["refused"] == "evaluation-core.csv cannot be read as a suite: it is not JSON."


def _given(path: Path) -> Any:
    """The document that the page gave, with the name that the command knows."""
    document = json.loads(path.read_text())
    document["suite"]["name"] = "tiny"
    return document
