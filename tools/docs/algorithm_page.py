"""Pages of algorithms: the header of the algorithm's file, with the table of its parameters.

A header (`//!`) contains a section for each algorithm of the file. A section begins with `# TITLE` and a line
with `cc = "NAME"`. The text before the first section is not part of a page.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ackclock import _core

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "crates" / "ackclock" / "src"
SECTION = re.compile(r"^# .*?(?=^# |\Z)", re.MULTILINE | re.DOTALL)
NAME = re.compile(r'^`cc = "([^"]+)"`', re.MULTILINE)
#: The paragraph with the key of the algorithm.
SELECTED = re.compile(r'^(`cc = "(?:.|\n)+?)(?=\n\n)', re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of the page of every algorithm that is built in.

    Raises:
        ValueError: An algorithm has no section in the header of a file.
    """
    found = dict(sections())
    for algorithm in json.loads(_core.list_json("cc")):
        name = algorithm["name"]
        # Code of users has one page, docs/how-to/write-an-algorithm.md.
        if algorithm["reference"].startswith("docs/"):
            continue
        if name not in found:
            raise ValueError(f'no header of a file in {SOURCES} has a section with `cc = "{name}"`')
        source, section = found[name]
        yield name, page(source, section, algorithm["parameters"])


def sections() -> Iterator[tuple[str, tuple[Path, str]]]:
    """Name, file and text of every section of a header."""
    for source in sorted([*SOURCES.glob("rule/*.rs"), *SOURCES.glob("cc/*.rs")]):
        header = "\n".join(
            line[3:].removeprefix(" ") for line in source.read_text().splitlines() if line.startswith("//!")
        )
        # A line of a code block is no heading.
        plain = FENCED.sub(lambda block: re.sub("^#", " ", block[0], flags=re.MULTILINE), header)
        for section in SECTION.finditer(plain):
            name = NAME.search(section[0])
            if name:
                yield name[1], (source, header[section.start() : section.end()])


def page(source: Path, section: str, parameters: list[dict[str, Any]]) -> str:
    """The page of an algorithm."""
    path = source.relative_to(ROOT)
    text = f"<!-- written by `make docs` from the header of {path} -->\n\n{section.strip()}\n"
    text = SELECTED.sub(r"Select this algorithm with \1.", text, count=1)
    text = text.replace("\n\n## Equations", f" Code: `{path}`.\n\n## Equations", 1)
    if not parameters:
        return text
    rows = [("key", "takes", "default", "meaning"), ("---",) * 4]
    for parameter in parameters:
        default = parameter["default"]
        written = f"{default:g}" if isinstance(default, float) else str(default).lower()
        rows.append((f"`{parameter['name']}`", parameter["takes"], f"`{written}`", parameter["help"]))
    table = "\n".join(f"| {' | '.join(' '.join(cell.split()) for cell in row)} |" for row in rows)
    return text.replace("\n## Parameters\n", f"\n## Parameters\n\n{table}\n", 1)
