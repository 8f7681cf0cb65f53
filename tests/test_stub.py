"""The type stub says what the built module has: names, parameters, defaults, first lines of help."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ackclock import _core

STUB = ast.parse((Path(__file__).parents[1] / "python/ackclock/_core.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
VARIABLES = {ast.unparse(node.target) for node in STUB.body if isinstance(node, ast.AnnAssign)}

OBJECT_NAMES = {"__new__", "__doc__", "__module__", "__repr__", "__weakref__"}


def methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}


def stub_parameters(node: ast.FunctionDef) -> list[tuple[str, bool]]:
    """Names of the parameters but `self`, and whether each may be left out."""
    names = [argument.arg for argument in node.args.args]
    optional = len(node.args.defaults)
    pairs = [(name, index >= len(names) - optional) for index, name in enumerate(names)]
    pairs += [
        (argument.arg, default is not None)
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    ]
    return [pair for pair in pairs if pair[0] not in ("self", "cls")]


def real_parameters(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, p.default is not p.empty) for p in parameters if p.name != "self"]


def first_line(text: str | None) -> str:
    return (text or "").strip().split("\n")[0]


def test_the_names_are_the_same() -> None:
    real = {name for name in vars(_core) if not name.startswith("_")}
    assert real == CLASSES.keys() | FUNCTIONS.keys() | VARIABLES


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_agree(name: str) -> None:
    real, stub = getattr(_core, name), FUNCTIONS[name]
    assert real_parameters(real) == stub_parameters(stub)
    assert first_line(ast.get_docstring(stub))


@pytest.mark.parametrize("name", CLASSES)
def test_classes_agree(name: str) -> None:
    real, stub = getattr(_core, name), CLASSES[name]
    assert first_line(real.__doc__) == first_line(ast.get_docstring(stub))
    if issubclass(real, Exception):
        assert [ast.unparse(base) for base in stub.bases] == [real.__base__.__name__]
        return
    assert set(vars(real)) - OBJECT_NAMES == set(methods(stub)) - OBJECT_NAMES
    for method, node in methods(stub).items():
        if method.startswith("__") and method != "__arrow_c_stream__":
            continue
        decorators = {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}
        attribute = inspect.getattr_static(real, method)
        assert ("property" in decorators) == inspect.isgetsetdescriptor(attribute)
        assert ("staticmethod" in decorators) == isinstance(attribute, staticmethod)
        assert first_line(getattr(real, method).__doc__) == first_line(ast.get_docstring(node)), method
        if "property" not in decorators:
            assert real_parameters(getattr(real, method)) == stub_parameters(node), method
