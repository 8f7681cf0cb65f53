"""Files with a Python class: their names in scenarios, their text, and checks without running it."""

from __future__ import annotations

import ast
import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

from ackclock.errors import AckclockError
from ackclock.files.documents import text_of
from ackclock.files.reading import LIBRARY, open_regular

#: The base class, as files write it.
BASE = "CongestionControl"
#: Replaces the file for a class that lives in this process, as in a notebook.
SESSION = "<session>"


class ForeignError(AckclockError):
    """User-supplied code that cannot be used: the wrong key of the scenario, and the problem."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(key, message)
        self.key, self.message = key, message

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Source:
    """The file and the class that `my_cc.py:MyCc` names."""

    file: str
    #: Empty for the only class of the file.
    name: str

    @classmethod
    def parse(cls, text: str) -> Source:
        """Take the text of a scenario. Raises `ForeignError`."""
        file, colon, name = text.rpartition(":")
        if not colon or name.endswith(".py"):
            file, name = text, ""
        if not file.endswith((".py", SESSION)):
            raise ForeignError("source", f"{text!r} names no file of Python; write my_cc.py:MyCc")
        if name and not name.isidentifier():
            raise ForeignError("source", f"{name!r} is not the name of a class; write my_cc.py:MyCc")
        return cls(file, name)

    def read(self, folder: str) -> str:
        """Return the text of the file, relative to the folder of the scenario. Raises `ForeignError`."""
        path = Path(folder) / self.file
        try:
            return text_of(path, encoding="utf-8-sig")
        except OSError as error:
            raise ForeignError("source", f"{path}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ForeignError("source", f"{path}: is not UTF-8 text") from None


def hash_of(path: Path, key: str) -> str:
    """Return the SHA-256 of a file. Raises `ForeignError`."""
    try:
        with open_regular(path, LIBRARY) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ForeignError(key, f"{path}: cannot be read: {error.strerror}") from None


def parsed(file: str, code: str) -> ast.Module:
    """Return the syntax tree of a file. Raises `ForeignError` with the line."""
    try:
        return ast.parse(code, file)
    except SyntaxError as error:
        line = (error.text or "").strip()
        shown = f": {line}" if line else ""
        raise ForeignError(
            "source", f"{file}:{error.lineno}: is invalid Python: {error.msg}{shown}"
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ForeignError("source", f"{file}: is invalid Python: {error}") from None


def require_alone(file: str, folder: str, tree: ast.Module) -> None:
    """Reject imports of modules in the folder of the file, which the hash of a scenario does not contain.

    Raises `ForeignError`.
    """
    beside = (Path(folder) / file).parent
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom(level=0, module=str(module)):
                names = [module]
            case ast.ImportFrom():
                names = [f".{node.module or ''}"]
            case _:
                continue
        for name in names:
            top = name.partition(".")[0]
            is_beside = top not in sys.stdlib_module_names and (
                (beside / f"{top}.py").is_file() or (beside / top / "__init__.py").is_file()
            )
            # An installed module such as ackclock is found everywhere, also if the file is in its folder.
            if not top or (is_beside and top != "ackclock"):
                raise ForeignError(
                    "source",
                    f"{file}:{node.lineno}: imports {name} from its own folder, but an algorithm is one "
                    "file; move the imported code into it",
                )
