"""Lays out the pages of the site: the repository's own Markdown files, in their own folders.

    python tools/docs/site.py FOLDER

Relative links hold on the site as they do in the repository: a link to a folder leads to its first page,
and a link to any other file brings the file along. The navigation follows from the folders.
"""

import re
import shutil
import sys
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Pages outside of `docs`.
FRONT = ("README.md", "ARCHITECTURE.md", "CHANGES.md", "NOTICES.md")
#: Folders with pages.
FOLDERS = ("docs", "web/play/lessons")
LINK = re.compile(r"\]\(([^)#\s:]+)(#[^)]*)?\)")
#: What stands behind the language of a block is for the tests.
FENCE = re.compile(r"^(```\w+)[^\n]*$", re.MULTILINE)


def lay_out(pages: Path) -> None:
    """Write all pages and what they link to."""
    shutil.rmtree(pages, ignore_errors=True)
    folders = [sorted((ROOT / folder).rglob("*.md")) for folder in FOLDERS]
    for source in [*(ROOT / name for name in FRONT), *chain.from_iterable(folders)]:
        target = pages / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(with_links(source, pages), encoding="utf-8")


def with_links(source: Path, pages: Path) -> str:
    """Return the text of a page, its links led to pages and files that are there."""

    def lead(link: re.Match[str]) -> str:
        target = (source.parent / link[1]).resolve()
        if target.is_dir():
            first = min(target.glob("*.md"))
            return f"]({link[1].rstrip('/')}/{first.name})"
        if target.suffix != ".md" and target.is_file():
            copy = pages / target.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, copy)
        return link[0]

    return FENCE.sub(r"\1", LINK.sub(lead, source.read_text(encoding="utf-8")))


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]))
