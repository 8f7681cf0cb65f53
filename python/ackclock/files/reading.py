"""Limits of everything that users hand in, and the one way to open their files.

The crate `ackclock-input` has the same limits for files that Rust reads. `tests/test_hostile.py` compares
them.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from io import BufferedReader
from pathlib import Path

#: Bytes of a text: a rule, a script, a trace, a Python class.
TEXT = 64 << 20
#: Bytes of a document of TOML, whose values take a hundred times as much memory, and of JSON.
TOML, JSON = 8 << 20, 64 << 20
#: Bytes of a compiled object.
OBJECT = 4 << 20
#: Bytes of a library, which is only hashed.
LIBRARY = 1 << 30
#: Bytes of a capture, which is read packet by packet.
CAPTURE = 64 << 30
#: Bytes of a file of samples, and of a value in the index of a store.
SAMPLES, VALUE = 1 << 30, 256 << 20
#: Brackets within each other, and parts of a dotted key.
DEEPEST = 64
#: Characters of a query, and words and signs in it.
QUERY, WORDS = 20_000, 2_000

#: Strings and comments, whose brackets and dots do not count. An open one reaches to the end of the text.
_STRINGS = (
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)',
    r"'''.*?(?:'''|\Z)",
    r'"(?:\\.|[^"\\\n])*"?',
    r"'[^'\n]*'?",
    r"#[^\n]*",
)
_TOKENS = re.compile(rf"(?P<text>{'|'.join(_STRINGS)})|(?P<open>[\[{{(])|(?P<close>[\]}})])", re.DOTALL)
_DOTTED = re.compile(rf"(?:[\w-]+[ \t]*\.[ \t]*){{{DEEPEST},}}")


def open_regular(path: Path, most: int) -> BufferedReader:
    """Open a regular file of at most `most` bytes for reading.

    Raises `OSError` for another kind of file or a larger one. Its `strerror` names the problem.
    """
    # A pipe without a writer would wait here.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        _require(status.st_size, most, path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_bytes(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes. Raises `OSError` as `open_regular`."""
    with open_regular(path, most) as file:
        content = file.read(most + 1)
    _require(len(content), most, path)
    return content


def too_deep(text: str) -> str:
    """Return the construct that is nested too deeply in TOML or SQL. Empty if all can be parsed."""
    depth = 0
    for token in _TOKENS.finditer(text):
        if token.lastgroup == "open":
            depth += 1
            if depth > DEEPEST:
                return f"more than {DEEPEST} brackets are nested"
        elif token.lastgroup == "close":
            depth = max(0, depth - 1)
    bare = _TOKENS.sub(lambda token: "s" if token.lastgroup == "text" else token[0], text)
    return f"a key has more than {DEEPEST} dotted parts" if _DOTTED.search(bare) else ""


def _require(size: int, most: int, path: Path) -> None:
    if size > most:
        message = f"it is larger than {most >> 20} MiB, the limit for such a file"
        raise OSError(errno.EFBIG, message, str(path))
