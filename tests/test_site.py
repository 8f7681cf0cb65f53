"""The navigation of the site: each page is in it, and each entry leads to a page."""

from __future__ import annotations

import re
from collections import Counter

from helpers import ROOT

#: An entry of `nav`: a title with a page, or the first page of a section.
ENTRY = re.compile(r"^ +- (?:([^:\n]+): )?([\w./+-]+\.md)$", re.MULTILINE)
TEXT = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
NAV = TEXT.split("\nnav:\n")[1].split("\nplugins:\n")[0]
ENTRIES = [(match[1], match[2]) for match in ENTRY.finditer(NAV)]
#: The index of decisions lists these.
DECISION = re.compile(r"docs/project/decisions/\d{4}-")


def pages() -> set[str]:
    notebooks = {f"docs/gallery/{file.stem}.md" for file in (ROOT / "docs/gallery").glob("*.ipynb")}
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return {str(file.relative_to(ROOT)) for file in files} | notebooks


def test_every_page_is_in_the_navigation() -> None:
    missing = pages() - {page for _, page in ENTRIES}
    assert [page for page in sorted(missing) if not DECISION.match(page)] == []


def test_every_entry_is_a_page_and_stands_once() -> None:
    assert {page for _, page in ENTRIES} - pages() == set()
    assert [page for page, count in Counter(page for _, page in ENTRIES).items() if count > 1] == []


def test_every_line_of_the_navigation_is_understood() -> None:
    lines = [line for line in NAV.splitlines() if ".md" in line]
    assert len(lines) == len(ENTRIES)


def test_the_index_of_decisions_lists_all() -> None:
    folder = ROOT / "docs/project/decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    assert [file.name for file in sorted(folder.glob("0*.md")) if f"({file.name})" not in index] == []
