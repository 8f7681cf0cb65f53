"""Reports whose cells can be run again in their page, and the same in notebooks."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from browsers import run_again
from helpers import TINY, cli, require_web

import ackclock
from ackclock.errors import InputError
from ackclock.page import embedded
from ackclock.page.interactive import figures_kept
from ackclock.running.kept import refusal

STORED = "The stored run (seed 1, replicate 0) gives its stored figures here, to the last digit."

#: A page that shows a widget as anywidget does.
NOTEBOOK = """<!doctype html><meta charset=utf-8><link rel=icon href=data:,><style>{css}</style>
<div id=cell></div>
<script type=module>
{esm}
const traits = {traits};
traits.module = new DataView(Uint8Array.from(atob("{module}"), (char) => char.charCodeAt(0)).buffer);
entry.render({{ model: {{ get: (name) => traits[name] }}, el: document.getElementById("cell") }});
</script>
"""


@pytest.fixture
def report(tiny_suite: Path, tmp_path: Path) -> Path:
    """A report of a small suite that carries the simulator."""
    require_web()
    options = ("--suite", tiny_suite, "--out", tmp_path / "out", "--interactive")
    answer = cli("evaluate", "new-aimd", *options)
    assert answer.code == 0, answer.stderr
    return tmp_path / "out" / "report.html"


def cells_of(page: Path) -> dict[str, Any]:
    """The cells that a page carries, with their scenarios."""
    found = re.search(
        r'<script type="text/plain" id="rerun-cells">(.*?)</script>', page.read_text(), re.DOTALL
    )
    assert found is not None
    document = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return {
        name: cell | {"scenario": document["scenarios"][cell["hash"]]}
        for name, cell in document["cells"].items()
    }


def numbers(shown: dict[str, str]) -> dict[str, float | None]:
    return {key: None if value == "null" else float(value) for key, value in shown.items()}


def native(
    cell: dict[str, Any], sets: tuple[str, ...] = (), seed: int = 1, replicate: int = 0
) -> dict[str, Any]:
    """The summary of a native run of a cell."""
    scenario = ackclock.Scenario.from_dict(json.loads(cell["scenario"]), sets)
    return ackclock.run(scenario, seed=seed, replicate=replicate).summary


def test_a_cell_run_again_gives_native_figures(report: Path) -> None:
    cell = cells_of(report)["company/new-aimd"]
    rows = "tbody tr:nth-child(2) td:nth-child(2) button"
    found = run_again(report, f".heat {rows}", "#cell [data-rerun]", mode="thorough")
    assert found["first"]["told"] == STORED == found["after"]["told"]
    stored = cell["summaries"]["0"]
    first = numbers(found["first"]["here"])
    assert len(first) > 10 and first == {key: stored[key] for key in first}
    assert stored == native(cell)
    assert found["first"]["units"]["goodput_bps"] == "Mbit/s"
    assert found["first"]["watched"] == ["standard (aimd)"]

    other = found["seed"]
    summary = native(cell, seed=99, replicate=1)
    assert numbers(other["here"]) == {key: summary[key] for key in other["here"]}
    assert numbers(other["stored"]) == {key: cell["summaries"]["1"][key] for key in other["stored"]}

    sets = ("topology.queue.limit=30 packets", "sampling.interval=100 ms", "duration=12 s")
    summary = native(cell, sets)
    settings = found["settings"]
    assert numbers(settings["here"]) == {key: summary[key] for key in settings["here"]}
    assert [drawn[0] for drawn in settings["curves"]] == [
        "Window, segments",
        "Smoothed RTT, ms",
        "Goodput, Mbit/s",
        "Queue, packets",
    ]
    assert all(here > 0 and before > 0 for _, here, before in settings["curves"])

    assert found["mistakes"]["told"] == "This scenario cannot run:"
    (algorithm, key) = sorted(found["mistakes"]["mistakes"])
    assert key == 'flows.test.cout=1: unknown key; did you mean "count"?'
    assert algorithm.startswith("flows.test.cc=<img src=x") and "unknown algorithm" in algorithm
    assert found["noSeed"]["told"].startswith('Seed: "-1" is not an integer')
    assert set(found["broken"]) == {"connect-src", "img-src", "script-src-attr", "script-src-elem"}


def test_a_study_is_run_again(tmp_path: Path, tiny: Path) -> None:
    require_web()
    options = ("--vary", "flows.test.cc=aimd,reno", "--replicates", "2", "--set", "sampling.interval=200 ms")
    answer = cli("study", tiny, *options, "--out", tmp_path / "out", "--interactive")
    assert answer.code == 0, answer.stderr
    page = tmp_path / "out" / "report.html"
    found = run_again(page, '[data-rerun="1"]')
    assert found["first"]["told"] == STORED
    cell = cells_of(page)["1"]
    assert '"reno"' in cell["scenario"] and set(cell["summaries"]) == {"0", "1"}
    assert all(here > 0 for _, here, _ in found["first"]["curves"]) and len(found["first"]["curves"]) == 4


def test_without_being_asked_for_nothing_is_carried(tiny_suite: Path, tmp_path: Path) -> None:
    answer = cli("evaluate", "new-aimd", "--suite", tiny_suite, "--out", tmp_path / "out")
    assert answer.code == 0, answer.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    # Encoded data may contain a short name by chance.
    assert "data-rerun=" not in page and "WebAssembly" not in page and 'id="rerun' not in page


def test_without_the_module_it_is_one_line(tiny_suite: Path, tiny: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from ackclock.page import embedded; embedded._NEEDED = ('nowhere.html',); "
        "from ackclock.__main__ import main; sys.exit(main())"
    )
    for command in (
        ("evaluate", "new-aimd", "--suite", str(tiny_suite)),
        ("study", str(tiny), "--vary", "flows.test.cc=aimd,reno"),
        ("reproduce", "jasem-utilization", "--quick"),
    ):
        words = [sys.executable, "-c", program, *command, "--interactive", "--out", str(tmp_path / "out")]
        done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
        assert done.stderr.endswith("not built here; in a checkout of ackclock: make web\n")
        assert not (tmp_path / "out").exists()


def test_what_does_not_run_in_a_browser_says_so(tmp_path: Path) -> None:
    code = "import ackclock\nclass Mine(ackclock.CongestionControl):\n    pass\n"
    (tmp_path / "mine.py").write_text(code)
    scenario = ackclock.Scenario.from_dict(
        {
            "schema": 2,
            "duration": "1 s",
            "topology": {"kind": "dumbbell", "rate": "1 Mbit/s", "delay": "1 ms"},
            "flows": [{"cc": {"kind": "python", "source": str(tmp_path / "mine.py:Mine")}}],
        }
    )
    assert refusal(scenario.resolved_json).endswith(
        "does not run in a browser. The command runs this cell again."
    )
    assert refusal("{}", "linux").startswith("This cell ran with the TCP of a Linux kernel")
    assert figures_kept(0) == figures_kept(1) > figures_kept(100) > figures_kept(10**9) == 1


def test_modules_become_one_script(tmp_path: Path) -> None:
    require_web()
    (tmp_path / "one.js").write_text(
        "export const one = 1;\nconst two = 2;\nexport { two as deux, two as default };\n"
    )
    (tmp_path / "sum.js").write_text(
        'import two, { one as un } from "./one.js";\nexport function sum() {\n  return un + two;\n}\n'
    )
    (tmp_path / "all.js").write_text(
        'import { deux } from "./one.js";\nimport { sum } from "./sum.js";\n'
        'import { ticks } from "ackclock/play/scales.js";\n'
        "export const found = [deux, sum(), ticks(1).length > 2];\n"
    )
    script = embedded.bundle(tmp_path / "all.js")
    assert script.count("const one = 1") == 1
    found = subprocess.run(
        ["node", "-e", f"{script}\nconsole.log(JSON.stringify(entry.found))"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(found.stdout) == [2, 3, True]
    (tmp_path / "circle.js").write_text('import { x } from "./circle.js";\nexport const x = 1;\n')
    with pytest.raises(AssertionError, match=r"circle\.js imports itself"):
        embedded.bundle(tmp_path / "circle.js")
    (tmp_path / "star.js").write_text('export * from "./one.js";\n')
    with pytest.raises(AssertionError, match=r"star\.js: cannot be put into a script: export \*"):
        embedded.bundle(tmp_path / "star.js")


def test_a_notebook_runs_a_result_again(tmp_path: Path) -> None:
    pytest.importorskip("anywidget")
    require_web()
    tree = TINY.replace("[topology]", '[sampling]\ninterval = "200 ms"\n\n[topology]', 1)
    (tmp_path / "tiny.toml").write_text(tree)
    result = ackclock.run(tmp_path / "tiny.toml", seed=7, replicate=2)
    widget = result.explore()
    # As Jupyter has it for viewers without widgets.
    assert widget._repr_mimebundle_()[0]["text/plain"].endswith(
        "Run the cell in a notebook with widgets to see it."
    )
    traits = {"script": widget.script, "cell": widget.cell}
    module = base64.b64encode(widget.module).decode()
    page = tmp_path / "notebook.html"
    page.write_text(
        NOTEBOOK.format(css=widget._css, esm=widget._esm, traits=json.dumps(traits), module=module)
    )
    found = run_again(page)
    assert found["first"]["told"] == STORED.replace("seed 1, replicate 0", "seed 7, replicate 2")
    shown = numbers(found["first"]["here"])
    assert shown == {key: result.summary[key] for key in shown}
    assert len(found["first"]["curves"]) == 4


def test_without_anywidget_it_is_one_sentence(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(InputError, match="needs anywidget; install it with: python -m pip install anywidget"):
        ackclock.run(tiny).explore()
