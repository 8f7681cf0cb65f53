"""The keys that a file may have, declared once: types of values, and tables of keys with their types.

`check` raises one `InputError` for the first value that differs from its declaration. The message names the
file, the key and the expected value, and has a hint for a misspelt name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from ackclock.errors import InputError
from ackclock.files.documents import as_toml
from ackclock.text.suggest import hint

#: Longer values are cut in messages.
_SHOWN = 60


@dataclass(frozen=True)
class Place:
    """Where a value stands: a file, and the dotted key in it."""

    file: str
    key: str = ""

    def at(self, key: str) -> Place:
        """Return the place of a key of the table at this place."""
        return Place(self.file, f"{self.key}.{key}" if self.key else key)

    def item(self, index: int, value: Any) -> Place:
        """Return the place of an item of the list at this place. Tables are named by `id` or `name`."""
        names = [value.get(key) for key in ("id", "name")] if isinstance(value, dict) else []
        name = next((name for name in names if isinstance(name, str)), index)
        return Place(self.file, f"{self.key}[{name}]")

    def fail(self, what: str) -> NoReturn:
        """Raise `InputError` for the value at this place."""
        raise InputError(f"{self.file}: {self.key}: {what}" if self.key else f"{self.file}: {what}")

    def refuse(self, value: Any, expected: str) -> NoReturn:
        """Raise `InputError` for an unexpected value."""
        shown = as_toml(value)
        cut = f"{shown[:_SHOWN]}..." if len(shown) > _SHOWN else shown
        self.fail(f"is {cut}, but must be {expected}")

    def require(self, name: str, known: Iterable[object], what: str) -> None:
        """Raise `InputError` for an unknown name. `what` is the word for such names."""
        names = list(map(str, known))
        if name not in names:
            self.fail(f"no {what} is called {name!r}; {hint(name, names)}")


def require_once(names: Sequence[str], place: Place) -> None:
    """Raise `InputError` where a name comes twice."""
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        place.fail(f"there are two called {twice[0]!r}")


class Type(Protocol):
    """The type of a value."""

    @property
    def words(self) -> str:
        """The expected value, for a message."""

    @property
    def python(self) -> tuple[type, ...]:
        """The type of such a value in Python."""

    def check(self, value: Any, place: Place) -> None:
        """Raise `InputError` for a value of another type."""


@dataclass(frozen=True)
class Anything:
    """Any value, which is checked elsewhere."""

    words = "a value"
    python = (object,)

    def check(self, value: Any, place: Place) -> None:
        """Take everything."""


@dataclass(frozen=True)
class Whole:
    """A whole number, from `least` to below `end`. Booleans of TOML are rejected."""

    least: int | None = None
    end: int | None = None
    words = "a whole number"
    python = (int,)

    def check(self, value: Any, place: Place) -> None:
        """Raise `InputError` unless it is one within the limits."""
        if not isinstance(value, int) or isinstance(value, bool):
            place.refuse(value, self.words)
        if self.least is not None and value < self.least:
            place.refuse(value, f"at least {self.least}")
        if self.end is not None and value >= self.end:
            place.refuse(value, f"below {self.end}")


@dataclass(frozen=True)
class Number:
    """A finite number, whole or not."""

    words = "a number"
    python = (int, float)

    def check(self, value: Any, place: Place) -> None:
        """Raise `InputError` unless it is one."""
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            place.refuse(value, self.words)


@dataclass(frozen=True)
class Text:
    """A text, which is one of `choices` where there are any, and never empty."""

    choices: tuple[str, ...] = ()
    words: str = "a text"
    python = (str,)

    def check(self, value: Any, place: Place) -> None:
        """Raise `InputError` unless it is one."""
        if not isinstance(value, str):
            place.refuse(value, self.words)
        if self.choices and value not in self.choices:
            place.fail(f"is {value!r}, but must be one of {', '.join(self.choices)}")
        if not value:
            place.fail("is empty")


@dataclass(frozen=True)
class Flag:
    """`true` or `false`."""

    words = "true or false"
    python = (bool,)

    def check(self, value: Any, place: Place) -> None:
        """Raise `InputError` unless it is one."""
        if not isinstance(value, bool):
            place.refuse(value, self.words)


@dataclass(frozen=True)
class ListOf:
    """A list of at least so many items of one type."""

    item: Type
    least: int = 0
    words = "a list"
    python = (list,)

    def check(self, value: Any, place: Place) -> None:
        """Raise `InputError` unless all items are of the type."""
        if not isinstance(value, list):
            place.refuse(value, self.words)
        if len(value) < self.least:
            one = "one value" if self.least == 1 else f"{self.least} values"
            place.refuse(value, f"a list of at least {one}")
        for index, item in enumerate(value):
            self.item.check(item, place.item(index, item))


@dataclass(frozen=True)
class MapOf:
    """A table with keys of the file's own, all of one type."""

    item: Type
    words = "a table"
    python = (dict,)

    def check(self, value: Any, place: Place) -> None:
        """Raise `InputError` unless all values are of the type."""
        if not isinstance(value, dict):
            place.refuse(value, self.words)
        for key, item in value.items():
            self.item.check(item, place.at(key))


@dataclass(frozen=True)
class Either:
    """One of several types that a value's own kind tells apart, such as a text or a list."""

    types: tuple[Type, ...]

    @property
    def words(self) -> str:
        """The expected value."""
        return " or ".join(each.words for each in self.types)

    @property
    def python(self) -> tuple[type, ...]:
        """The type of such a value in Python."""
        return tuple(kind for each in self.types for kind in each.python)

    def check(self, value: Any, place: Place) -> None:
        """Raise `InputError` unless the type for this kind of value takes it."""
        for each in self.types:
            if isinstance(value, each.python):
                each.check(value, place)
                return
        place.refuse(value, self.words)


@dataclass(frozen=True)
class Table:
    """A table of known keys: those that are required, and those that may be left out."""

    #: The whole that contains the table, as in `is not a key of a suite`.
    title: str
    required: Mapping[str, Type]
    optional: Mapping[str, Type] = field(default_factory=dict)
    #: Whether other keys are permitted, in a document of ackclock that is read in part.
    is_open: bool = False
    #: Old names of keys with the new ones. A file with an old name is rejected.
    renamed: Mapping[str, str] = field(default_factory=dict)
    words = "a table"
    python = (dict,)

    def check(self, value: Any, place: Place) -> None:
        """Raise `InputError` for unknown, renamed and missing keys, and for values of another type."""
        if not isinstance(value, dict):
            place.refuse(value, self.words)
        types = {**self.required, **self.optional}
        for key in value:
            if key in self.renamed:
                place.at(key).fail(f"is called {self.renamed[key]!r} now")
            if key not in types and not self.is_open:
                place.at(key).fail(f"is not a key of {self.title}; {hint(key, types)}")
        for key, kind in self.required.items():
            if key not in value:
                place.at(key).fail(f"is missing: {kind.words}")
        for key, kind in types.items():
            if key in value:
                kind.check(value[key], place.at(key))


@dataclass(frozen=True)
class ByKind:
    """A table whose `kind` determines its keys. The empty name is for a table without a kind."""

    tables: Mapping[str, Table]
    words = "a table"
    python = (dict,)

    def check(self, value: Any, place: Place) -> None:
        """Raise `InputError` unless it is as the table of its kind."""
        if not isinstance(value, dict):
            place.refuse(value, self.words)
        kind = value.get("kind", "")
        if "kind" in value:
            Text(tuple(name for name in self.tables if name)).check(kind, place.at("kind"))
        elif kind not in self.tables:
            place.at("kind").fail(f"is missing: one of {', '.join(self.tables)}")
        self.tables[kind].check({key: item for key, item in value.items() if key != "kind"}, place)


#: Changes of a scenario, as by `--set`.
SETS = ListOf(Text(words='a text "KEY=VALUE"'))
