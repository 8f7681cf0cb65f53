"""Lays out the pages of the site: the repository's own Markdown files, in their own folders.

    python tools/docs/site.py FOLDER
    python tools/docs/site.py --live SITE    puts what runs in browsers into the finished site

Relative links hold on the site as they do in the repository: a link to a folder leads to its first page,
one to a notebook to the page that comes of running it, and one to any other file brings the file along. The
navigation follows from the folders. Pages of algorithms and queues get their figures (live_figures.py), which
run where `make web` has been called.
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
#: Pages outside of `docs`.
FRONT = ("README.md", "ARCHITECTURE.md", "CHANGES.md", "NOTICES.md")
#: Folders with pages.
FOLDERS = ("docs", "web/play/lessons")
#: The folder with notebooks.
GALLERY = ROOT / "docs/gallery"
LINK = re.compile(r"\]\(([^)#\s:]+)(#[^)]*)?\)")
#: What stands behind the language of a block is for the tests.
FENCE = re.compile(r"^(```\w+)[^\n]*$", re.MULTILINE)
#: Where the site has what runs in browsers.
LIVE = "live"


def is_live() -> bool:
    """Whether the engine is built for browsers."""
    return (ROOT / "web" / "module" / "ackclock_bg.wasm").is_file()


def lay_out(pages: Path) -> None:
    """Write all pages and what they link to."""
    shutil.rmtree(pages, ignore_errors=True)
    folders = [sorted((ROOT / folder).rglob("*.md")) for folder in FOLDERS]
    for source in [*(ROOT / name for name in FRONT), *chain.from_iterable(folders)]:
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
    """Write the page that stands at this place of the repository."""
    target = pages / source.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(with_links(source, text, pages), encoding="utf-8")


def bring(file: Path, pages: Path) -> None:
    """Put a file that is no page where it stands in the repository."""
    copy = pages / file.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copy)


def with_links(source: Path, text: str, pages: Path) -> str:
    """Return the text of a page, its links led to pages and files that are there."""

    def lead(link: re.Match[str]) -> str:
        target = (source.parent / link[1]).resolve()
        if target.is_dir():
            first = min(target.glob("*.md"))
            return f"]({link[1].rstrip('/')}/{first.name})"
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
