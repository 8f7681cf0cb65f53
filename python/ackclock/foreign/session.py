"""Classes that live in this process, as in a notebook, and their names in scenarios."""

from __future__ import annotations

import inspect
import textwrap
import uuid
from typing import Any

from ackclock import _core
from ackclock.foreign.loading import keep_session
from ackclock.foreign.source import SESSION

_tokens: dict[type, str] = {}


def class_table(cls: type[_core.CongestionControl]) -> dict[str, Any]:
    """Return the table of an algorithm for a class of this process, which runs in this process.

    Its text is only for readers. The class may use anything around it, so a unique mark distinguishes its
    results from the results of later classes.
    """
    if cls not in _tokens:
        try:
            text = textwrap.dedent(inspect.getsource(cls))
        except (OSError, TypeError):
            text = f"class {cls.__name__}: ..."
        _tokens[cls] = f"# {SESSION} {uuid.uuid4().hex}\n{text}"
        keep_session(_tokens[cls], cls)
    return {"kind": "python", "source": f"{SESSION}:{cls.__name__}", "code": _tokens[cls]}
