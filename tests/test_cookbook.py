"""The how-to section has a page for each common job; `test_docs` runs the commands."""

from __future__ import annotations

import pytest
from helpers import ROOT

import fences

FOLDER = ROOT / "docs/how-to"
#: What people look for.
JOBS = (
    "my algorithm against CUBIC and BBR",
    "buffer sweep",
    "mahimahi traces",
    "window over time",
    "CSV output",
    "ECN",
    "RTT unfairness",
    "completion times",
    "AQM choice",
    "pcap for Wireshark",
    "many machines",
    "CI gate for my stack",
)


def titles() -> dict[str, str]:
    return {
        path.name: path.read_text().splitlines()[0].removeprefix("# ")
        for path in sorted(FOLDER.glob("*.md"))
        if path.name != "README.md"
    }


def page_of(job: str) -> str:
    words = set(job.lower().split())
    (found,) = (name for name, title in titles().items() if words <= set(title.lower().split()))
    return found


@pytest.mark.parametrize("job", JOBS)
def test_one_short_page_answers_each_job(job: str) -> None:
    name = page_of(job)
    text = (FOLDER / name).read_text()
    # The page about many machines also explains clusters.
    assert len(text.splitlines()) <= (100 if job == "many machines" else 60)
    shown = [block for block in fences.blocks(text) if block.language in ("console", "toml")]
    assert any("no-test" not in block.words for block in shown) and "Details: [" in text


def test_the_index_links_every_page() -> None:
    assert "](docs/how-to/README.md)" in (ROOT / "README.md").read_text()
    index = (FOLDER / "README.md").read_text()
    assert [name for name in titles() if f"]({name})" not in index] == []
