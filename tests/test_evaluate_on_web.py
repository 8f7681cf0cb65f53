"""Evaluations in Node and in the page give what the command gives."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import suites_on_web
from browsers import PROGRAMS, used
from helpers import ROOT, cli, require_web

from ackclock.cli import play_command
from ackclock.evaluation.suite import Suite
from ackclock.page import embedded

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
    path = tmp_path / "tiny.json"
    suites_on_web.write(path, suites_on_web.document(Suite.load(str(tiny_suite))))
    return path


def test_a_rule_is_judged_as_by_the_command(data: Path, tiny_suite: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    expected = by_command(tiny_suite, "--rule", RULE, "--replicates", "3", "--seed", "7", "--out", out)
    found = in_node(data, rule=RULE, replicates=3, seed=7, workers=2)
    assert found["document"] == expected
    assert "standard's share" in json.dumps(expected) and expected["rivals"][0]["starved"] is not None
    # Two environments, three algorithms, three replicates.
    assert [far["done"] for far in found["progress"]] == list(range(19))
    assert {far["total"] for far in found["progress"]} == {18}
    assert found["progress"][0]["left_s"] is None and found["progress"][-1]["left_s"] == 0
    labels = [candidate["label"] for candidate in expected["candidates"]]
    signs = [[cell["judgement"] for cell in row] for row in found["overview"]["cells"]]
    assert [len(row) for row in signs] == [3, 3] and signs[0][labels.index(expected["reference"])] == ""


@pytest.mark.parametrize("cc", ["aimd(increase=2)", "aimd", "aimd-fc+"])
def test_so_is_an_algorithm_against_stored_scores(cc: str, tiny_suite: Path, tmp_path: Path) -> None:
    assert cli("panel", "--suite", tiny_suite).code == 0
    path = tmp_path / "stored.json"
    suites_on_web.write(path, suites_on_web.document(Suite.load(str(tiny_suite))))
    expected = by_command(tiny_suite, cc, "--out", tmp_path / "out")
    assert expected["regret_baseline"]["stored"]
    assert in_node(path, cc=cc, workers=1)["document"] == expected


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
        "await told({ suite, cc: 'cubic', onProgress, signal: abort.signal })]))"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", program], capture_output=True, text=True, check=True
    )
    rule, name, suite, aborted = json.loads(done.stdout)
    assert "`1/v`" in rule and "cubic" in name and "there are: core," in suite and aborted == "enough"


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


def test_the_page_judges_cancels_and_complains(address: str, tiny_suite: Path, tmp_path: Path) -> None:
    found = used("evaluating.mjs", address, str(tmp_path))
    assert found["problems"] == [] and found["elsewhere"] == []
    expected = by_command(tiny_suite, "--rule", RULE, "--replicates", "2", "--out", tmp_path / "out")
    given = json.loads((tmp_path / "evaluation-core.json").read_text())
    given["suite"]["name"] = "tiny"
    assert given == expected
    assert found["verdict"] == expected["verdict"]
    assert [len(row) for row in found["heat"]] == [3, 3]
    assert all(
        cell in ("better", "worse", "cannot tell", "the reference") for row in found["heat"] for cell in row
    )
    assert found["command"] == f"ackclock evaluate --rule '{RULE}' --suite core --replicates 2 --seed 1"
    lines = (tmp_path / "evaluation-core.csv").read_text().splitlines()
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
