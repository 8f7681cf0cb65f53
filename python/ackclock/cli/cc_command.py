"""`ackclock cc`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict

import click

from ackclock import kernel
from ackclock.cli.console import emit, say, show, talk
from ackclock.cli.options import json_option
from ackclock.text.table import Column, Table

_ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True}


@click.group("cc")
def command() -> None:
    """Load algorithms into the running kernel, list and unload them. Linux, as root."""


@command.command("load", context_settings=_ANYTHING)
@click.argument("algorithm")
@click.option("--name", default="", help="Name in the kernel: at most 15 letters, digits and _.")
@click.option("--while", "shell", metavar="COMMAND", help="Load it while COMMAND runs, and no longer.")
@click.pass_context
def load(context: click.Context, algorithm: str, name: str, shell: str | None) -> int:
    """Load ALGORITHM, such as new-aimd or my_cc.bpf.o, for any program that asks TCP_CONGESTION for it.

    Any other option is a parameter of the algorithm: --increase 1. It stays until `ackclock cc unload`, or
    until the machine is started anew.
    """
    parameters = _parameters(context.args)
    if shell is None:
        say(f"loaded {kernel.load(algorithm, parameters, name)}")
        return 0
    name, link = kernel.attach(algorithm, parameters, name)
    talk(f"loaded {name} while the command runs")
    try:
        return subprocess.run(shell, shell=True, check=False).returncode
    finally:
        link.close()


def _parameters(given: Sequence[str]) -> dict[str, float]:
    """Return the numbers of `--name value` and `--name=value`."""
    found: dict[str, float] = {}
    rest = list(given)
    while rest:
        option = rest.pop(0)
        if not option.startswith("--"):
            raise click.UsageError(f"unexpected argument {option!r}; a parameter is --NAME NUMBER")
        key, equals, value = option.removeprefix("--").partition("=")
        if not equals:
            value = rest.pop(0) if rest else ""
        try:
            found[key.replace("-", "_")] = float(value)
        except ValueError:
            raise click.UsageError(f"--{key}: expected a number, found {value!r}") from None
    return found


@command.command("list")
@json_option
def list_loaded(as_json: bool) -> None:
    """List the congestion controls of the kernel, and what ackclock loaded with its parameters."""
    found = kernel.listing()
    if as_json:
        emit(json.dumps([asdict(entry) for entry in found], indent=2))
        return
    table = Table(Column("name"), Column("loaded"), Column("parameters"))
    for entry in found:
        parameters = ", ".join(f"{key}={value:g}" for key, value in entry.parameters.items())
        table.add_row(entry.name, entry.algorithm or "-", parameters or "-")
    show(table)


@command.command("unload")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="Everything that ackclock loaded.")
def unload(names: tuple[str, ...], everything: bool) -> None:
    """Take algorithms that ackclock loaded out of the kernel.

    Connections that use one keep it until they end.
    """
    if everything == bool(names):
        raise click.UsageError("give the names of algorithms, or --all")
    wanted = [entry.name for entry in kernel.listing() if entry.algorithm] if everything else names
    for name in wanted:
        kernel.unload(name)
        say(f"unloaded {name}")
