"""The figures of the pages of algorithms and queues: each is there, each runs, and it runs in the page."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from browsers import used
from helpers import ROOT, require_web

import ackclock
import live_figures

FIGURES = list(live_figures.figures())


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.page)
def test_a_figure_runs_and_its_page_shows_the_command(figure: live_figures.Figure) -> None:
    summary = ackclock.run(figure.tree).document["summary"]
    assert summary["goodput_bps"] > 1e6
    assert figure.markdown() in (ROOT / "docs" / figure.page).read_text()


def test_every_page_of_an_algorithm_or_a_queue_has_a_figure() -> None:
    docs = ROOT / "docs"
    folders = (docs / "algorithms", docs / "queues")
    pages = {
        path.relative_to(docs).as_posix()
        for folder in folders
        for path in folder.glob("*.md")
        if path.stem != "README"
    }
    # No page of the site runs a queue of the kernel.
    assert {figure.page for figure in FIGURES} == pages - {"queues/kernel.md"}


def test_a_picture_has_the_panels_of_the_figure() -> None:
    picture = ElementTree.fromstring(FIGURES[0].svg())
    titles = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"cwnd, segments", "queue, packets"} <= set(titles) and "goodput, Mbit/s" not in titles


def test_what_has_no_default_and_no_value_here_is_named() -> None:
    entry = {"name": "new", "parameters": [{"name": "depth", "takes": "number", "required": True}]}
    with pytest.raises(ValueError, match="the figure of new needs values of depth"):
        live_figures.written(entry)


@pytest.fixture
def site(tmp_path: Path) -> str:
    """The address of a file with a page that has a figure, in a folder with what the site has in `live`."""
    require_web()
    figure = next(each for each in FIGURES if each.name == "codel")
    live_figures.write_live(tmp_path / "live")
    (tmp_path / "picture.svg").write_bytes(figure.svg())
    (tmp_path / "page.html").write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">'
        f"<title>{figure.name}</title>{figure.html('picture.svg', 'live')}</html>"
    )
    return (tmp_path / "page.html").as_uri()


def test_a_click_runs_the_figure_in_the_page(site: str) -> None:
    found = used("figure.mjs", site)
    assert found["problems"] == []
    figure = next(each for each in FIGURES if each.name == "codel")
    summary = ackclock.run(figure.tree).document["summary"]
    percent, delay = f"{100 * summary['utilization']:.3g}", f"{1e3 * summary['queue_delay_mean_s']:.3g}"
    assert found["first"].startswith(f"Utilization {percent} %, mean queueing delay {delay} ms, ")
    assert found["second"] != found["first"] and not found["changed"][0].startswith("10 ")
