"""The fenced blocks of a page, and the commands that they show.

A block ```toml file=NAME shows a file. A block ```console shows commands, each after `$ `.
"""

import os
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    language: str
    #: The words after the language, such as `no-test` and `file=NAME`.
    words: tuple[str, ...]
    text: str
    #: Positions in the page: of the block, of its text, and the end of both.
    start: int
    text_start: int
    text_end: int
    end: int

    @property
    def file(self) -> str | None:
        """The name of the shown file."""
        return next((word.removeprefix("file=") for word in self.words if word.startswith("file=")), None)


def blocks(page: str) -> Iterator[Block]:
    """Find the blocks of a page, in order."""
    for found in FENCE.finditer(page):
        yield Block(found[1], tuple(found[2].split()), found[3], found.start(), *found.span(3), found.end())


def commands(text: str) -> list[str]:
    """Return the commands of a `console` block. A command may have several lines."""
    return [
        command.rstrip() for command in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]
    ]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, with `ackclock` on the PATH, and tables at full width."""
    environment = {**os.environ, "PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("COLUMNS", None)
    return subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
