"""The parameters of user-supplied code, which a separate process reads."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from ackclock import _core
from ackclock.foreign.loading import failure, load_class, require_sound
from ackclock.foreign.source import ForeignError

_TYPES = {"bool": bool, "int": int, "float": float, "str": str}


@dataclass(frozen=True)
class Parameter:
    """A parameter of user-supplied code."""

    name: str
    #: The name of its type: bool, int, float or str.
    type: str
    #: None if it must be given.
    default: bool | int | float | str | None
    #: The range in which `ackclock tune` searches, if the code gives one.
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Description:
    """The description of user-supplied code, or the reason why it cannot be used."""

    name: str
    parameters: tuple[Parameter, ...]
    #: The names that are annotated, but no parameters, for a hint.
    annotated: tuple[str, ...] = ()
    key: str = ""
    message: str = ""


def describe_class(source: str, code: str) -> Description:
    """Return the parameters of a class, by running the text of its file."""
    try:
        cls = load_class(source, code)
        require_sound(cls)
        annotated = tuple(inspect.get_annotations(cls))
        return Description(cls.__name__, tuple(_parameters(cls)), annotated)
    except ForeignError as error:
        return Description("", (), key=error.key, message=error.message)
    # The text may raise any exception when it runs.
    except BaseException as error:
        return Description(
            "", (), key="source", message=failure(error).replace("\n    ", ": ").replace("\n ", ";")
        )


def describe_library(path: str, sha256: str) -> Description:
    """Return the parameters of a shared object, by loading it."""
    try:
        name, rows = _core.describe_library(path, sha256)
    except _core.RunError as error:
        return Description("", (), key="path", message=f"{path}: {error}")
    ranged = [
        Parameter(name, "float", value, (low, high) if low < high else None)
        for name, value, low, high in rows
    ]
    return Description(name, tuple(ranged))


def describe_bpf(path: str, sha256: str, jit: bool) -> Description:
    """Return the parameters of a program for the kernel: its global constants."""
    try:
        name, rows = _core.describe_bpf(path, sha256, jit)
    except _core.RunError as error:
        return Description("", (), key="object", message=f"{path}: {error}")
    types: dict[str, type[bool] | type[int] | type[float]] = {"bool": bool, "int": int, "float": float}
    ranged = [
        Parameter(name, form, types[form](value), (low, high) if form == "float" else None)
        for name, form, value, low, high in rows
    ]
    return Description(name, tuple(ranged))


def describe_module(table: dict[str, Any]) -> Description:
    """Return the given parameters of a kernel module. Only the kernel knows the others."""
    given = [(name, value) for name, value in table.items() if name not in ("kind", "source", "code")]
    parameters = tuple(Parameter(name, type(value).__name__, None) for name, value in given)
    return Description(PurePath(table["source"]).stem, parameters)


def _parameters(cls: type) -> list[Parameter]:
    construct: Any = next(vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base))
    if construct is object.__init__:
        return []
    fields = {field.name: field for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else {}
    found = []
    for name, parameter in list(inspect.signature(construct).parameters.items())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        field = fields.get(name)
        default = None if parameter.default is parameter.empty else parameter.default
        if field is not None and field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        kind = _type_name(cls, name, parameter.annotation, default)
        found.append(Parameter(name, kind, default, _range(cls, field)))
    return found


def _type_name(cls: type, name: str, annotation: Any, default: object) -> str:
    """Return the type of a parameter: the type of its default, or else its annotation."""
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    if default is None:
        if written in _TYPES:
            return written
    elif type(default).__name__ in _TYPES:
        # `gain: float = 1` takes 1.5.
        return "float" if written == "float" and type(default) is int else type(default).__name__
    raise ForeignError(
        "source",
        f"{cls.__name__}.{name} is not a float, int, bool or str, and cannot be a parameter; "
        "write field(init=False, default=...)",
    )


def _range(cls: type, field: dataclasses.Field[Any] | None) -> tuple[float, float] | None:
    given = None if field is None else field.metadata.get("range")
    if given is None:
        return None
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        low = high = 0.0
    if not low < high:
        assert field is not None
        raise ForeignError(
            "source", f"{cls.__name__}.{field.name}: a range is two numbers, the lower one first"
        )
    return low, high
