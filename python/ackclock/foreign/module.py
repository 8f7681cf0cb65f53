"""Sources of kernel modules: their text, and checks without a compiler."""

from __future__ import annotations

import re
from pathlib import Path

from ackclock.files.documents import text_of
from ackclock.foreign.source import ForeignError

#: Letters of the longest name of a congestion control (`TCP_CA_NAME_MAX`).
_LONGEST_NAME = 15
_NAME = re.compile(r"\.name\s*=\s*\"([^\"\n]*)\"")
_INCLUDE = re.compile(r"^\s*#\s*include\s*\"([^\"\n]+)\"", re.MULTILINE)
_LICENCE = re.compile(r"\bMODULE_LICENSE\s*\(\s*\"([^\"\n]*)\"")
#: Licences of modules that may use the kernel's TCP.
_LICENCES = (
    "GPL",
    "GPL v2",
    "GPL and additional rights",
    "Dual BSD/GPL",
    "Dual MIT/GPL",
    "Dual MPL/GPL",
)


def read_module(source: str, folder: str) -> str:
    """Return the text of a module, relative to the folder of the scenario. Raises `ForeignError`."""
    path = Path(folder) / source
    try:
        code = text_of(path)
    except OSError as error:
        raise ForeignError("source", f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ForeignError("source", f"{path}: is not UTF-8 text") from None
    _check(source, path.parent, code)
    return code


def _check(source: str, folder: Path, code: str) -> None:
    """Check the name, the licence and the includes of a module. Raises `ForeignError` with the line."""

    def refuse(match: re.Match[str] | None, message: str) -> ForeignError:
        line = "" if match is None else f":{code[: match.start(1)].count(chr(10)) + 1}"
        return ForeignError("source", f"{source}{line}: {message}")

    for include in _INCLUDE.finditer(code):
        if (folder / include[1]).is_file():
            raise refuse(
                include,
                f"includes {include[1]} from its own folder, but a module is one file; "
                "move the included code into it",
            )
    for name in _NAME.finditer(code):
        if len(name[1]) > _LONGEST_NAME:
            raise refuse(
                name,
                f"the name {name[1]} has {len(name[1])} letters, "
                f"and the kernel takes {_LONGEST_NAME} at most",
            )
    licence = _LICENCE.search(code)
    if licence is None or licence[1] not in _LICENCES:
        found = "it has no licence" if licence is None else f"its licence is {licence[1]!r}"
        raise refuse(
            licence,
            f'{found}, and the kernel\'s TCP takes modules under the GPL only; write MODULE_LICENSE("GPL");',
        )
