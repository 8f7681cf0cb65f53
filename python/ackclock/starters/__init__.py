"""Folders for new algorithms: the algorithm, a scenario, a README and a test.

They run unchanged, and contain the same algorithm in several languages.
"""

from __future__ import annotations

import re
import sys
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ackclock.errors import InputError
from ackclock.files.writing import write_whole

#: The languages of starters.
LANGUAGES = ("python", "rule", "c", "rust")
#: The name in the files of a starter, in the forms in which it occurs there.
_NAME = "my-cc"
_FORM = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def create(folder: Path, language: str) -> list[Path]:
    """Write a starter into a new folder and return the files. The folder has the name of the algorithm.

    `language`: one of `LANGUAGES`. Raises `InputError` if the name is invalid or already exists.
    """
    name = folder.name
    if not _FORM.fullmatch(name):
        raise InputError(f"{name!r} cannot be the name of an algorithm; use lower-case words, such as my-cc")
    if _module(name) in sys.stdlib_module_names or _module(name) == "ackclock":
        raise InputError(f"{name!r} is the name of a Python module; choose another")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise InputError(f"{folder}: already exists; choose another name, or remove it") from None
    except OSError as error:
        raise InputError(f"{folder}: cannot be created: {error.strerror}") from None
    paths = []
    for entry in _entries(language):
        path = folder / _renamed(entry.name, name)
        try:
            write_whole(path, _renamed(entry.read_text(encoding="utf-8"), name).encode())
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        paths.append(path)
    return paths


def _entries(language: str) -> list[Traversable]:
    entries = list((files(__name__) / language).iterdir())
    if language == "c":
        entries.append(files("ackclock") / "include" / "ackclock_cc.h")
    return sorted(entries, key=lambda entry: entry.name)


def _module(name: str) -> str:
    return name.replace("-", "_")


def _class(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def _renamed(text: str, name: str) -> str:
    """Return a text of a starter for an algorithm with this name."""
    forms = {_NAME: name, _module(_NAME): _module(name), _class(_NAME): _class(name)}
    return re.sub("|".join(map(re.escape, forms)), lambda match: forms[match[0]], text)
