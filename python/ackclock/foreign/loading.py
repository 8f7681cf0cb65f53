"""Running the text of a file, and the class in it. Only processes for such code and its owner's do so."""

from __future__ import annotations

import linecache
import traceback
from types import CodeType, ModuleType
from typing import Any

from ackclock import _core
from ackclock.foreign.source import BASE, SESSION, ForeignError, Source
from ackclock.text.suggest import hint

#: Compiled texts, by source and text.
_compiled: dict[tuple[str, str], CodeType] = {}
#: Classes that live in this process, by the text that stands for them.
_session: dict[str, type] = {}
#: The names of the base class that a class cannot use for itself, as the sender reads them.
TAKEN = ("cwnd", "ssthresh", "pacing_rate", "initial_window", "in_slow_start")


def load_class(source: str, code: str) -> type:
    """Return the class of a file, in a new module without the state of earlier runs.

    Raises `ForeignError`, or an exception of the code.
    """
    if code in _session:
        return _session[code]
    named = Source.parse(source)
    if named.file == SESSION:
        raise ForeignError(
            "source", f"{named.name} lives in another process; write it into a file to run it elsewhere"
        )
    key = source, code
    if key not in _compiled:
        _compiled[key] = compile(code, named.file, "exec", dont_inherit=True)
    # Tracebacks show lines of the running text, even if the file has moved or changed.
    linecache.cache[named.file] = (len(code), None, code.splitlines(keepends=True), named.file)
    module = ModuleType("ackclock_own")
    module.__file__ = named.file
    # Dataclasses look up their module.
    import sys

    sys.modules[module.__name__] = module
    exec(_compiled[key], vars(module))
    return chosen(named, module)


def keep_session(token: str, cls: type) -> None:
    """Keep a class of this process under the text that stands for it in scenarios."""
    _session[token] = cls


def chosen(named: Source, module: ModuleType) -> type:
    """Return the class that a source names. Raises `ForeignError`."""
    classes = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, _core.CongestionControl)
        and value.__module__ == module.__name__
    }
    if named.name:
        found = vars(module).get(named.name)
        if found is None:
            raise ForeignError(
                "source", f"{named.file} has no class {named.name!r}; {_known(classes, named)}"
            )
        if not isinstance(found, type) or not issubclass(found, _core.CongestionControl):
            raise ForeignError("source", f"{named.file}: {named.name} does not inherit ackclock.{BASE}")
        return found
    if len(classes) != 1:
        raise ForeignError(
            "source",
            f"{named.file} has {len(classes)} classes that inherit ackclock.{BASE}; name one, as in "
            f"{named.file}:{next(iter(classes))}"
            if classes
            else f"{named.file} has no class that inherits ackclock.{BASE}",
        )
    return next(iter(classes.values()))


def require_sound(cls: type) -> None:
    """Reject a class through which flows would share state, or which hides names that the sender reads.

    Raises `ForeignError`.
    """
    for owner in cls.__mro__:
        if owner is _core.CongestionControl:
            break
        for name, value in vars(owner).items():
            if name.startswith("__"):
                continue
            if name in TAKEN:
                raise ForeignError(
                    "source", f"{owner.__name__}.{name}: the name is taken by ackclock.{BASE}; use another"
                )
            # A value without a hash is mutable.
            if type(value).__hash__ is None:
                kind = type(value).__name__
                raise ForeignError(
                    "source",
                    f"{owner.__name__}.{name}: all flows would share this {kind}; set self.{name} in "
                    f"on_start, or write {name}: {kind} = field(default_factory={kind}, init=False)",
                )


def _known(classes: dict[str, Any], named: Source) -> str:
    return hint(named.name, classes) if classes else f"none inherits ackclock.{BASE}"


def failure(error: BaseException) -> str:
    """Return an exception of such code in words, with its places in the code, the innermost last."""
    if isinstance(error, ForeignError):
        return str(error)
    if isinstance(error, _core.Overdue):
        what = "does not end"
    else:
        what = "".join(traceback.format_exception_only(error)).strip()
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    return "\n".join([what, *(_place(frame) for frame in frames)])


def _is_ours(filename: str) -> bool:
    from pathlib import Path

    return Path(filename).is_relative_to(Path(__file__).parent)


def _place(frame: traceback.FrameSummary) -> str:
    line = f"\n    {frame.line}" if frame.line else ""
    return f"  {frame.filename}:{frame.lineno}, in {frame.name}{line}"
