"""Lays out the pages of the site: the repository's own Markdown files, in their own folders.

    python tools/docs/site.py FOLDER
    python tools/docs/site.py --live SITE    puts what runs in browsers into the finished site

Relative links work on the site as in the repository. A link to a folder leads to its README. A link to a
notebook leads to the page with its results. Any other linked file is copied to the site. `nav` in mkdocs.yml
is the navigation. Pages of algorithms and queues contain figures (live_figures.py), which need `make web`.
"""

import argparse
import re
import shutil
import sys
from itertools import chain
from pathlib import Path

import gallery
import live_figures

ROOT = Path(__file__).resolve().parents[2]
#: Folders with pages. The labs link to the lessons of the live page, which are not in the navigation.
FOLDERS = ("docs", "web/play/lessons")
#: The folder of the notebooks.
GALLERY = ROOT / "docs/gallery"
LINK = re.compile(r"\]\(([^)#\s:]+)(#[^)]*)?\)")
#: The tests read the words after the language of a block.
FENCE = re.compile(r"^(```\w+)[^\n]*$", re.MULTILINE)
#: The folder of the site for the code that runs in browsers.
LIVE = "live"


def is_live() -> bool:
    """Whether the engine is built for browsers."""
    return (ROOT / "web" / "module" / "ackclock_bg.wasm").is_file()


def lay_out(pages: Path) -> None:
    """Write all pages and the files that they link to."""
    shutil.rmtree(pages, ignore_errors=True)
    folders = [sorted((ROOT / folder).rglob("*.md")) for folder in FOLDERS]
    for source in [*sorted(ROOT.glob("*.md")), *chain.from_iterable(folders)]:
        write(source, source.read_text(encoding="utf-8"), pages)
    for notebook in sorted(GALLERY.glob("*.ipynb")):
        write(notebook.with_suffix(".md"), gallery.run(notebook), pages)
        bring(notebook, pages)
    for figure in live_figures.figures():
        page = pages / "docs" / figure.page
        page.with_suffix(".svg").write_bytes(figure.svg())
        folder = f"../../{LIVE}" if is_live() else None
        part = figure.html(f"{figure.name}.svg", folder)
        page.write_text(figure.put(page.read_text(encoding="utf-8"), part))


def write(source: Path, text: str, pages: Path) -> None:
    """Write a page at its path in the repository."""
    target = pages / source.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(with_links(source, text, pages), encoding="utf-8")


def bring(file: Path, pages: Path) -> None:
    """Copy a file other than a page to its path in the repository."""
    copy = pages / file.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copy)


def with_links(source: Path, text: str, pages: Path) -> str:
    """Return the text of a page, its links led to pages and files that are there."""

    def lead(link: re.Match[str]) -> str:
        target = (source.parent / link[1]).resolve()
        if target.is_dir():
            return f"]({link[1].rstrip('/')}/README.md)"
        if target.parent == GALLERY and target.suffix == ".ipynb":
            return f"]({link[1].removesuffix('.ipynb')}.md)"
        if target.suffix != ".md" and target.is_file():
            bring(target, pages)
        return link[0]

    return FENCE.sub(r"\1", LINK.sub(lead, text))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--live", action="store_true", help="the folder is a finished site")
    options = parser.parse_args()
    if not options.live:
        lay_out(options.folder)
    elif is_live():
        live_figures.write_live(options.folder / LIVE)
    else:
        print("SKIPPED: figures that run; ackclock for browsers is not built: make web", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
