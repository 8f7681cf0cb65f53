"""Declarations of files: each mistake is one message with file, key, what was expected, and a hint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ackclock.errors import InputError
from ackclock.files.declaration import (
    Anything,
    ByKind,
    Either,
    Flag,
    ListOf,
    MapOf,
    Number,
    Place,
    Table,
    Text,
    Whole,
)
from ackclock.files.documents import read_json, read_toml

ITEM = Table("an item", {"id": Text(), "size": Number()}, {"colour": Text(("red", "blue"))})
SHAPE = ByKind({"": Table("a dot", {}), "circle": Table("a circle", {"radius": Number()})})
FILE = Table(
    "a file",
    {"name": Text()},
    {
        "count": Whole(1, 10),
        "on": Flag(),
        "items": ListOf(ITEM, 1),
        "by_name": MapOf(Whole()),
        "either": Either((Text(), ListOf(Text()))),
        "shape": SHAPE,
        "rest": Anything(),
    },
)


@pytest.mark.parametrize(
    "value",
    [
        {"name": "x"},
        {"name": "x", "count": 9, "on": False, "items": [{"id": "a", "size": 1, "colour": "red"}]},
        {"name": "x", "by_name": {"any": 3}, "either": ["a"], "shape": {}, "rest": [None]},
        {"name": "x", "either": "a", "shape": {"kind": "circle", "radius": 0.5}},
    ],
)
def test_what_is_as_declared_passes(value: Any) -> None:
    FILE.check(value, Place("f.toml"))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "f.toml: is [], but must be a table"),
        ({}, "f.toml: name: is missing: a text"),
        ({"name": 3}, "f.toml: name: is 3, but must be a text"),
        ({"name": ""}, "f.toml: name: is empty"),
        ({"name": "x", "cuont": 1}, "f.toml: cuont: is not a key of a file; did you mean 'count'?"),
        ({"name": "x", "zzz": 1}, "f.toml: zzz: is not a key of a file; there are: name, count, on"),
        ({"name": "x", "count": "3"}, 'f.toml: count: is "3", but must be a whole number'),
        ({"name": "x", "count": True}, "f.toml: count: is true, but must be a whole number"),
        ({"name": "x", "count": 3.0}, "f.toml: count: is 3.0, but must be a whole number"),
        ({"name": "x", "count": 0}, "f.toml: count: is 0, but must be at least 1"),
        ({"name": "x", "count": 10}, "f.toml: count: is 10, but must be below 10"),
        ({"name": "x", "on": 1}, "f.toml: on: is 1, but must be true or false"),
        ({"name": "x", "items": []}, "f.toml: items: is [], but must be a list of at least one value"),
        ({"name": "x", "items": [{"id": "a"}]}, "f.toml: items[a].size: is missing: a number"),
        ({"name": "x", "items": [{"size": 1}]}, "f.toml: items[0].id: is missing: a text"),
        ({"name": "x", "items": [{"id": "a", "size": float("nan")}]}, "items[a].size: is nan, but must be"),
        (
            {"name": "x", "items": [{"id": "a", "size": 1, "colour": "rod"}]},
            "f.toml: items[a].colour: is 'rod', but must be one of red, blue",
        ),
        ({"name": "x", "by_name": {"a": "b"}}, 'f.toml: by_name.a: is "b", but must be a whole number'),
        ({"name": "x", "either": 3}, "f.toml: either: is 3, but must be a text or a list"),
        ({"name": "x", "either": [3]}, "f.toml: either[0]: is 3, but must be a text"),
        (
            {"name": "x", "shape": {"kind": "square"}},
            "shape.kind: is 'square', but must be one of circle",
        ),
        ({"name": "x", "shape": {"kind": ""}}, "f.toml: shape.kind: is '', but must be one of circle"),
        ({"name": "x", "shape": {"kind": "circle", "r": 1}}, "f.toml: shape.r: is not a key of a circle"),
        (
            {"name": "x", "shape": {"radius": 1}},
            "f.toml: shape.radius: is not a key of a dot; there are none",
        ),
        ({"name": "x" * 99, "count": "y" * 99}, "yyy..., but must be a whole number"),
    ],
)
def test_a_mistake_is_one_message(value: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        FILE.check(value, Place("f.toml"))
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "is not UTF-8 text"),
        (b"a = ", "is not TOML"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "f.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_toml(path)
    assert str(caught.value).startswith(f"{path}: ") and message in str(caught.value)
    with pytest.raises(InputError, match=r"f\.toml: "):
        read_json(path)
