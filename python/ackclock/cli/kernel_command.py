"""`ackclock kernel`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from ackclock.cli.console import emit, progress, say, show, talk
from ackclock.cli.options import json_option
from ackclock.kernels import store

if TYPE_CHECKING:
    from ackclock.kernels.store import Kernel

#: The version of Linux that Debian packages and that is built by default.
_DEFAULT = "6.12"


@click.group("kernel")
def command() -> None:
    """Build kernels for --backend kernel, list and remove them. Linux on x86-64."""


@command.command("build")
@click.argument("source", metavar="[VERSION|PATH]", default=_DEFAULT)
@click.option("--jobs", type=click.IntRange(1), help="Compilers at once. Default: one per core.")
def build(source: str, jobs: int | None) -> None:
    """Build the kernel of a VERSION of Debian's package linux-source, or of a source tree or tarball at PATH.

    The default is Linux 6.12. The build takes about 5 minutes of CPU time and 2 GB of disk. It needs no root.
    A second build of the same source compiles only changed parts.
    """
    from ackclock.kernels import recipe
    from ackclock.running.executor import default_workers

    with progress("building", "steps") as tell:
        kernel = recipe.build(source, jobs=jobs or default_workers(), progress=tell)
    if kernel.missing:
        talk(f"note: Linux {kernel.version} has no {', '.join(kernel.missing)}")
    say(f"built {kernel.name}")
    talk(f"kept in {kernel.folder}; use it: ackclock run FILE --backend kernel --kernel {kernel.name}")


@command.command("list")
@json_option
def list_built(as_json: bool) -> None:
    """List the built kernels, the newest first."""
    found = store.kernels()
    if as_json:
        emit(json.dumps([_document(kernel) for kernel in found], indent=2))
        return
    from ackclock.text.table import Column, Table

    table = Table(Column("name"), Column("source"), Column("build tree"), title=str(store.folder()))
    for kernel in found:
        table.add_row(kernel.name, kernel.source, "-" if kernel.tree is None else str(kernel.tree))
    show(table)
    if not found:
        talk("no kernel is built; build one: ackclock kernel build")


def _document(kernel: Kernel) -> dict[str, object]:
    tree = None if kernel.tree is None else str(kernel.tree)
    return {**kernel.document(), "folder": str(kernel.folder), "tree": tree}


@command.command("remove")
@click.argument("name")
@click.option("--tree", "only_tree", is_flag=True, help="Remove only the build tree, and keep the kernel.")
def remove(name: str, only_tree: bool) -> None:
    """Remove the kernel NAME and its build tree. Modules of your own need the tree."""
    kernel = store.named(name)
    store.remove(kernel, only_tree=only_tree)
    say(f"removed {'the build tree of ' if only_tree else ''}{kernel.name}")
