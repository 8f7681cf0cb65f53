"""The type stub says what the built module has: mypy's stubtest, and what that does not look at."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path

import pytest
from helpers import ROOT

from ackclock import _core

STUB = ast.parse((ROOT / "python/ackclock/_core.pyi").read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
#: Special names that every class has, or that are no methods.
OF_EVERY_CLASS = {"__new__", "__doc__", "__module__", "__repr__", "__weakref__", "__hash__"} | {
    f"__{comparison}__" for comparison in ("eq", "ne", "lt", "le", "gt", "ge")
}


def special(names: Iterable[str]) -> set[str]:
    return {name for name in names if name.startswith("__")} - OF_EVERY_CLASS


def first_paragraph(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())


def help_texts(node: ast.Module | ast.ClassDef, prefix: str = "") -> dict[str, str]:
    """Return the first paragraph of help of classes, methods and functions, by dotted name."""
    found = {}
    for item in node.body:
        if isinstance(item, ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(item)
            if text or not item.name.startswith("__"):
                found[prefix + item.name] = first_paragraph(text)
        if isinstance(item, ast.ClassDef):
            found |= help_texts(item, f"{item.name}.")
    return found


def test_names_kinds_and_parameters_agree(tmp_path: Path) -> None:
    settings = tmp_path / "mypy.ini"
    # The stub needs the standard library alone; the rest of the package takes several times as long to read.
    settings.write_text("[mypy]\nfollow_imports = skip\n")
    command = [sys.executable, "-m", "mypy.stubtest", "ackclock._core", "--mypy-config-file", str(settings)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", CLASSES)
def test_bases_and_special_methods_agree(name: str) -> None:
    real, stub = getattr(_core, name), CLASSES[name]
    assert [ast.unparse(base) for base in stub.bases] == [
        base.__name__ for base in real.__bases__ if base is not object
    ]
    methods = {item.name for item in stub.body if isinstance(item, ast.FunctionDef)}
    assert special(vars(real)) == special(methods)


@pytest.mark.parametrize(("name", "text"), help_texts(STUB).items(), ids=help_texts(STUB))
def test_help_agrees(name: str, text: str) -> None:
    assert first_paragraph(attrgetter(name)(_core).__doc__) == text
