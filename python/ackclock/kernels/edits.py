"""The edits of a kernel's source tree, which a script applies to the copy that is built."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from ackclock.errors import InputError

#: The agent's folder in a source tree.
AGENT = Path("drivers/ackclock")
#: The file in a source tree that computes random numbers from a seed.
SEED = Path("arch/um/os-Linux/ackclock_seed_user.c")


@dataclass(frozen=True)
class Edit:
    """A change of one place in one file of the kernel."""

    file: str
    #: The reason, as in `to select HZ`.
    purpose: str
    #: A pattern that matches once in the file before the edit, line by line.
    before: str
    #: The replacement of the match, with its groups.
    after: str
    #: A pattern that matches once in the file after the edit, and never before.
    applied: str
    #: Whether a version without the place needs no edit.
    is_optional: bool = False


EDITS = (
    Edit(
        "arch/um/Kconfig",
        "to select HZ",
        r"^(config HZ\n\tint)$",
        r'\1 "Timer frequency"',
        r'^config HZ\n\tint "Timer frequency"$',
    ),
    Edit(
        "arch/um/os-Linux/util.c",
        "to seed random numbers",
        r"^(ssize_t os_getrandom\()",
        r"__attribute__((weak)) \1",
        r"^__attribute__\(\(weak\)\) ssize_t os_getrandom\(",
    ),
    Edit(
        "arch/um/os-Linux/Makefile",
        "to compile the seed",
        r"^(obj-y\s*:?=) ",
        rf"\1 {SEED.stem}.o ",
        rf"^obj-y\s*:?= {SEED.stem}\.o ",
    ),
    Edit(
        "arch/um/kernel/time.c",
        "to notify the agent when the guest runs",
        r"^(\ttime_travel_ext_waiting--;)$",
        r"\1\n\tackclock_ran();",
        r"^\tackclock_ran\(\);$",
    ),
    Edit(
        "arch/um/kernel/time.c",
        "to declare the agent's functions",
        r"\A",
        f'#include "../../../{AGENT}/clock.h"\n',
        rf'\A#include "\.\./\.\./\.\./{AGENT}/clock\.h"$',
    ),
    Edit(
        "arch/um/kernel/time.c",
        "to give the agent the clock",
        r"\Z",
        f'#include "../../../{AGENT}/clock.c"\n',
        rf'^#include "\.\./\.\./\.\./{AGENT}/clock\.c"$',
    ),
    Edit(
        "kernel/module/main.c",
        "to declare the loading of modules",
        r"\A",
        f'#include "../../{AGENT}/module.h"\n',
        rf'\A#include "\.\./\.\./{AGENT}/module\.h"$',
    ),
    Edit(
        "kernel/module/main.c",
        "to load modules without user space",
        r"^(\tmod->args = )strndup_user\(uargs, ~0UL >> 1\);$",
        r"\1ackclock_module_parameters((const char *)uargs);",
        r"^\tmod->args = ackclock_module_parameters\(\(const char \*\)uargs\);$",
    ),
    Edit(
        "kernel/module/main.c",
        "to load modules",
        r"\Z",
        f'#include "../../{AGENT}/module.c"\n',
        rf'^#include "\.\./\.\./{AGENT}/module\.c"$',
    ),
    Edit(
        "drivers/Makefile",
        "to compile the agent",
        r"\Z",
        f"obj-y += {AGENT.name}/\n",
        rf"^obj-y \+= {AGENT.name}/$",
    ),
    # Old versions export a function that glibc from 2.33 on does not define.
    Edit(
        "arch/um/os-Linux/user_syms.c",
        "to link with this glibc",
        r"^(EXPORT_SYMBOL_PROTO\(__xmknod\);)$",
        r"/* \1 */",
        r"^/\* EXPORT_SYMBOL_PROTO\(__xmknod\); \*/$",
        is_optional=True,
    ),
)


def apply(tree: Path, version: str, edits: tuple[Edit, ...] = EDITS) -> None:
    """Apply edits to a tree. An edit that is applied already changes nothing.

    Raises `InputError` if a file is missing, or an edit does not match exactly once.
    """
    for edit in edits:
        _apply(tree, version, edit)


def _apply(tree: Path, version: str, edit: Edit) -> None:
    path = tree / edit.file
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise InputError(_refusal(version, edit, f"cannot be read: {error.strerror}")) from None
    if _count(edit.applied, text) == 0:
        found = _count(edit.before, text)
        if found == 0 and edit.is_optional:
            return
        if found != 1:
            raise InputError(_refusal(version, edit, f"contains the place {found} times, expected once"))
        text = re.sub(edit.before, edit.after, text, flags=re.MULTILINE)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    if (found := _count(edit.applied, text)) != 1:
        raise InputError(_refusal(version, edit, f"contains the edit {found} times, expected once"))


def _count(pattern: str, text: str) -> int:
    return len(re.findall(pattern, text, re.MULTILINE))


def _refusal(version: str, edit: Edit, reason: str) -> str:
    return f"Linux {version}: {edit.file} {reason}; this version cannot be edited {edit.purpose}"


def add_files(tree: Path, guest: Path) -> None:
    """Copy the seed and the agent of a guest folder to a tree. Unchanged files keep their times."""
    _copy(guest / "seed.c", tree / SEED)
    kept = {AGENT / path.relative_to(guest / "agent") for path in agent_files(guest)}
    for path in [path for path in (tree / AGENT).rglob("*") if path.is_file()]:
        if path.relative_to(tree) not in kept:
            path.unlink()
    for path in agent_files(guest):
        _copy(path, tree / AGENT / path.relative_to(guest / "agent"))


def agent_files(guest: Path) -> list[Path]:
    """Return the files of the agent in a guest folder."""
    return sorted(path for path in (guest / "agent").rglob("*") if path.is_file())


def _copy(source: Path, target: Path) -> None:
    if not target.is_file() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
