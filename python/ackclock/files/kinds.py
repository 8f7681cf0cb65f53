"""Which kind of file was given: a hint if it was given to the wrong command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ackclock.files.documents import toml_of

#: Each kind with keys that no other kind has, and the command that takes it.
_KINDS = {
    "scenario": ({"flows", "topology", "links"}, "ackclock run {path}"),
    "study": ({"scenario", "grid", "together", "until"}, "ackclock study {path}"),
    "suite": ({"environments"}, "ackclock evaluate CC --suite {folder}"),
    "paper": ({"grids", "claims"}, "ackclock reproduce {folder}"),
}


def kind_of(table: Mapping[str, Any]) -> str | None:
    """Return the kind of file that a table of TOML is, if its keys tell."""
    found = [kind for kind, (keys, _) in _KINDS.items() if keys & table.keys()]
    return found[0] if len(found) == 1 else None


def hint_for(path: Path, table: Mapping[str, Any], wanted: str) -> str:
    """Return `this is a study file, ...` where a file is not of the kind that was wanted, else nothing."""
    kind = kind_of(table)
    if kind is None or kind == wanted:
        return ""
    command = _KINDS[kind][1].format(path=path, folder=path.parent)
    return f"this is a {kind} file, not a {wanted}; use: {command}"


def hint_for_text(path: Path, text: str, wanted: str) -> str:
    """Return the same for the text of a file, which may be anything."""
    if path.suffix == ".pkt" and wanted != "script":
        return f"this is an exchange script, not a {wanted}; use: ackclock exchange {path}"
    try:
        return hint_for(path, toml_of(text), wanted)
    except ValueError:
        return ""
