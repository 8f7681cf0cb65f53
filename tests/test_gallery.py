"""The notebooks of the gallery run, what they say holds, and the pages made of them show all."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy
import polars as pl
import pytest
from helpers import ROOT

from gallery import NotebookError, run

FOLDER = ROOT / "docs/gallery"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

Names = dict[str, Any]


def by_name(path: Path) -> str:
    return path.stem


def content(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def sources(path: Path, kind: str) -> list[str]:
    return ["".join(cell["source"]) for cell in content(path)["cells"] if cell["cell_type"] == kind]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=by_name)
def test_a_notebook_is_what_jupyter_writes_without_results(path: Path) -> None:
    notebook = content(path)
    assert path.read_text(encoding="utf-8") == json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells) < 20
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None, "clear all outputs, and save"


def test_the_list_has_each_by_its_title() -> None:
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 5
    for path in NOTEBOOKS:
        title = sources(path, "markdown")[0].splitlines()[0].removeprefix("# ")
        assert f"[{title}]({path.name})" in listed


@pytest.mark.parametrize("path", NOTEBOOKS, ids=by_name)
def test_links_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)\s:#]+)\)", "\n".join(sources(path, "markdown")))
    assert targets and [target for target in targets if not (FOLDER / target).exists()] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=by_name)
def test_a_page_shows_what_the_cells_show(path: Path) -> None:
    page = run(path)
    assert page.startswith("# ")
    assert page.count("```python\n") == len(sources(path, "code"))
    assert re.search(r'src="data:image/(png|svg\+xml);base64,\w+', page)
    assert f'<a href="{path.name}" download>' in page
    # A value that nothing draws would be its type and address.
    assert not re.search(r"&lt;[\w. ]+ at 0x|<Figure size", page)


# ---- what the notebooks say ----


def one_run(names: Names) -> dict[str, bool]:
    runs = names["runs"]
    queue = names["result"].samples.links.filter(pl.col("link") == "bottleneck", pl.col("time_ns") > 5e9)
    first, codel = runs["drop-tail, 2 BDP"].summary, runs["CoDel"].summary
    return {
        "The queue is hardly ever empty": (queue["backlog_packets"] == 0).mean() < 0.01,
        "The link never idles": names["result"].summary["utilization"] > 0.999,
        "CoDel removes nearly all of the delay": codel["queue_delay_mean_s"]
        < 0.1 * first["queue_delay_mean_s"],
        "at the cost of a little goodput": 0.95 < codel["goodput_bps"] / first["goodput_bps"] < 1,
    }


def buffer_sweep(names: Names) -> dict[str, bool]:
    rows = names["study"].summary.select(
        "flows.test.cc", "topology.queue.limit_bdp", "efficiency", "queue_delay_mean_s", "loss_rate"
    )
    at = {(cc, limit): tuple(rest) for cc, limit, *rest in rows.iter_rows()}
    enough = dict(names["enough"].select("flows.test.cc", "topology.queue.limit_bdp").reverse().iter_rows())
    return {
        "Reno halves the window and needs about 1 BDP": enough["reno"] == 1,
        "CUBIC reduces it to 70 % and needs less": enough["cubic"] < enough["reno"],
        "Both fill any larger buffer, which adds delay": all(
            at[cc, 4.0][1] > 1.8 * at[cc, 2.0][1] for cc in ("reno", "cubic")
        ),
        "Its delay therefore hardly grows from 2 to 4 BDP": at["bbr3", 4.0][1] < 1.2 * at["bbr3", 2.0][1],
        "The price of a small buffer is loss": all(
            at[cc, 0.1][2] > 2 * at[cc, 4.0][2] for cc in ("reno", "cubic", "bbr3")
        ),
    }


def my_algorithm(names: Names) -> dict[str, bool]:
    evaluation = names["evaluation"]
    results = {result.environment.id: result.scores for result in evaluation.board.results}

    def mean(environment: str, metric: str, who: int) -> float:
        (score,) = (each for each in results[environment][who] if each.metric.name == metric)
        return float(score.value.mean)

    *_, watched = results["beside-cubic"][0]
    return {
        "found no contract violation": names["ackclock"].check_cc(names["FewQueued"]) == [],
        "all of the link": mean("alone", "efficiency", 0) > 0.96,
        "a fifth of the queueing delay or less": all(
            mean("alone", "queue_delay", 0) < 0.2 * mean("alone", "queue_delay", other) for other in (1, 2)
        ),
        "CUBIC gets much more than its fair share": "share" in watched.metric.label
        and watched.value.low > 1.3,
    }


def rtt_fairness(names: Names) -> dict[str, bool]:
    # The ratio of one run varies widely. Six runs of the kernel in virtual time had ratios from 1.7 to 4.4.
    def ratio(cc: str) -> float:
        sets = [f"flows.near.cc={cc}", f"flows.far.cc={cc}"]
        runs = [names["ackclock"].run(names["scenario"], sets=sets, seed=seed) for seed in range(1, 7)]
        flows = [{flow["name"]: flow["goodput_bps"] for flow in run.flows} for run in runs]
        return statistics.fmean(each["near"] / each["far"] for each in flows)

    ratios = {cc: ratio(cc) for cc in ("reno", "cubic", "bbr3")}
    return {
        "so the near flow grows faster": ratios["reno"] > 1.5,
        "which removes a part of that advantage": ratios["cubic"] < ratios["reno"],
        "The near flow gets the smaller share": ratios["bbr3"] < 0.5,
    }


def agent(names: Names) -> dict[str, bool]:
    window, goodput, delay, again = (names[k] for k in ("windows", "goodput", "queue_delay", "retransmits"))
    knee, beyond = (window > 1.05) & (window < 1.95), window > 2.2
    best = [names["tried"][int(numpy.argmax(names["tried"] @ w))] for w in names["REWARDS"].values()]
    return {
        "Below it the link idles": goodput[window < 0.9].max() < 0.85,
        "Above it a larger window adds only delay": bool(
            numpy.ptp(goodput[knee]) < 0.02 and (numpy.diff(delay[knee]) > 0).all()
        ),
        "further segments are dropped": again[beyond].min() > 0.05
        and again[~beyond & (window < 2)].max() == 0,
        "The weights of the reward decide which dot wins": best[0][1] > best[1][1] > best[2][1],
        "More goodput therefore costs a longer queue": best[0][0] > best[1][0] > best[2][0],
    }


SAID = {
    "one-run": one_run,
    "buffer-sweep": buffer_sweep,
    "my-algorithm": my_algorithm,
    "rtt-fairness": rtt_fairness,
    "agent": agent,
}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=by_name)
def test_what_a_notebook_says_holds(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    monkeypatch.chdir(tmp_path)
    names: Names = {"__name__": "__main__"}
    for code in sources(path, "code"):
        exec(compile(code, path.name, "exec"), names)
    text = "\n".join(sources(path, "markdown"))
    said = SAID[path.stem](names)
    assert [sentence for sentence in said if sentence not in text] == []
    assert [sentence for sentence, holds in said.items() if not holds] == []


# ---- pages ----


def notebook(path: Path, *codes: str) -> Path:
    cells = [{"cell_type": "code", "source": code.splitlines(keepends=True)} for code in codes]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": ["# Title"]}, *cells]}))
    return path


def test_a_page_has_text_what_is_displayed_and_the_last_value(tmp_path: Path) -> None:
    class_of_html = "class Table:\n    def _repr_html_(self):\n        return '<table></table>'\n"
    page = run(
        notebook(
            tmp_path / "a.ipynb",
            class_of_html + "print('said')\ndisplay(Table())\n'<last>'",
            "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
            "nothing = 1",
        )
    )
    shown = page[page.index("```text") :]
    places = [
        shown.index(text)
        for text in (
            "```text\nsaid\n```",
            "<table></table>",
            "<pre>&#x27;&lt;last&gt;&#x27;</pre>",
            "image/png",
        )
    ]
    assert places == sorted(places)
    assert page.endswith('nothing = 1\n```\n\n<a href="a.ipynb" download>This notebook for Jupyter</a>\n')


def test_a_cell_that_fails_is_told_with_its_line(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "x = 1", "y = x\ny / 0")
    with pytest.raises(NotebookError, match=r"(?s)a\.ipynb.*Cell In\[2\], line 2.*ZeroDivisionError"):
        run(path)


def test_a_notebook_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    run(notebook(tmp_path / "a.ipynb", "from pathlib import Path\nPath('left').write_text('x')"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.ipynb"]
