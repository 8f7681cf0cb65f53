"""Reading of TOML and JSON files, with one message for each mistake."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ackclock.errors import InputError
from ackclock.files.reading import JSON, TEXT, TOML, read_bytes, too_deep

#: A key of TOML that needs no quotes.
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def text_of(path: Path, most: int = TEXT, encoding: str = "utf-8") -> str:
    r"""Return the text of a regular file with `\n` at the ends of lines.

    Raises `OSError`, `UnicodeDecodeError`.
    """
    content = read_bytes(path, most).decode(encoding)
    return content.replace("\r\n", "\n").replace("\r", "\n")


def read_text(path: Path, most: int = TEXT) -> str:
    """Return the text of a regular file of at most `most` bytes. Raises `InputError` with the path."""
    try:
        return text_of(path, most)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text") from None


def toml_of(text: str) -> dict[str, Any]:
    """Return the tree of a TOML text. Raises `ValueError` for another text, and for one nested too deeply."""
    if deep := too_deep(text):
        raise ValueError(deep)
    return tomllib.loads(text)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tree of a TOML file. Raises `InputError` with the path."""
    try:
        return toml_of(read_text(path, TOML))
    except ValueError as error:
        raise InputError(f"{path}: is not TOML: {error}") from None


def read_json(path: Path) -> Any:
    """Return the document of a JSON file. Raises `InputError` with the path."""
    text = read_text(path, JSON)
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{path}: is not JSON: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: is nested too deeply") from None


def as_toml(value: Any) -> str:
    """Return a value in the form of a TOML file, in one line."""
    if isinstance(value, dict):
        items = (f"{_key(key)} = {as_toml(item)}" for key, item in value.items())
        return f"{{ {', '.join(items)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def as_toml_file(tree: Mapping[str, Any]) -> str:
    """Return a tree as a TOML file: a line per value, and a section per table, also in lists.

    Tables within others, which hold no tables themselves, stay in one line.
    """
    return "\n".join(_lines(tree, "")).lstrip("\n") + "\n"


def _lines(tree: Mapping[str, Any], path: str) -> Iterator[str]:
    sections = {key: tables for key, value in tree.items() if (tables := _sections(value, path))}
    for key, value in tree.items():
        if key not in sections:
            yield f"{_key(key)} = {as_toml(value)}"
    for key, tables in sections.items():
        name = f"{path}{_key(key)}"
        for table in tables:
            yield ""
            yield f"[[{name}]]" if isinstance(tree[key], list) else f"[{name}]"
            yield from _lines(table, f"{name}.")


def _sections(value: Any, path: str) -> list[dict[str, Any]]:
    """Return the tables that get a section each: all at the top, below it those that hold tables."""
    tables = value if isinstance(value, list) else [value]
    if not all(isinstance(table, dict) for table in tables):
        return []
    holds_tables = any(isinstance(item, dict) for table in tables for item in table.values())
    return tables if not path or holds_tables else []


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else json.dumps(key)
