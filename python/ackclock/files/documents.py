"""Reading of TOML and JSON files, with one message for each mistake."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from ackclock.errors import InputError

#: A key of TOML that needs no quotes.
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_text(path: Path) -> str:
    """Return the text of a file. Raises `InputError` with the path."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tree of a TOML file. Raises `InputError` with the path."""
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}") from None


def read_json(path: Path) -> Any:
    """Return the document of a JSON file. Raises `InputError` with the path."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON: {error}") from None


def as_toml(value: Any) -> str:
    """Return a value as it stands in a TOML file, in one line."""
    if isinstance(value, dict):
        items = (
            f"{key if _BARE_KEY.fullmatch(key) else json.dumps(key)} = {as_toml(item)}"
            for key, item in value.items()
        )
        return f"{{ {', '.join(items)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False, default=str)
