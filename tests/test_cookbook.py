"""The cookbook has a page for each job, which a search for its words finds; `test_docs` runs the commands."""

from __future__ import annotations

import re

import pytest
from helpers import ROOT

FOLDER = ROOT / "docs/cookbook"
#: What people look for.
JOBS = (
    "my algorithm against CUBIC and BBR",
    "buffer sweep",
    "mahimahi trace",
    "window over time",
    "CSV out",
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


@pytest.mark.parametrize("job", JOBS)
def test_a_title_has_the_words(job: str) -> None:
    words = set(job.lower().split())
    found = [name for name, title in titles().items() if words <= set(title.lower().split())]
    assert len(found) == 1
    assert f"]({found[0]})" in (FOLDER / "README.md").read_text()


def test_there_is_a_page_for_each_job_and_no_other() -> None:
    assert len(titles()) == len(JOBS)
    assert "](docs/cookbook/README.md)" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", titles())
def test_a_page_is_short_and_shows_something(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert len(text.splitlines()) < 45
    assert re.search(r"^```(console|toml)$", text, re.MULTILINE) and "Details: [" in text
