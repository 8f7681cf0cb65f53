"""`ackclock new`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from ackclock.cli.console import emit, talk
from ackclock.starters import LANGUAGES, create

#: The first command to type in a new folder, by language.
_FIRST = {
    "python": "ackclock evaluate {module}.py:{type} --quick",
    "rule": "ackclock evaluate {name}.rule --quick",
    "c": "make && ackclock evaluate ./{module}.so --quick",
    "rust": "cargo build --release && ackclock evaluate target/release/lib{module}.so --quick",
}


@click.command("new")
@click.argument("what", type=click.Choice(["cc"]))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    default="python",
    show_default=True,
    help="Language of the algorithm.",
)
def command(what: str, folder: Path, language: str) -> None:
    """Write a new FOLDER with an algorithm, a scenario, a README and a test.

    The last part of FOLDER is the name of the algorithm. The files run unchanged. You may use them without
    any condition (MIT-0).
    """
    for path in create(folder, language):
        emit(str(path))
    talk(f"next: cd {shlex.quote(str(folder))} && {_first(folder.name, language)}")


def _first(name: str, language: str) -> str:
    """Return the command that evaluates the new algorithm."""
    words = name.split("-")
    return _FIRST[language].format(name=name, module="_".join(words), type="".join(map(str.title, words)))
