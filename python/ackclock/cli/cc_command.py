"""`ackclock cc`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ackclock import kernel
from ackclock.cli.console import emit, say, show, talk
from ackclock.cli.options import json_option
from ackclock.errors import writing_error
from ackclock.evaluation.candidate import Candidate
from ackclock.files.writing import write_target
from ackclock.text.table import Column, Table

_ANYTHING = {"ignore_unknown_options": True}


@click.group("cc")
def command() -> None:
    """Load algorithms into the running kernel, list and unload them. Linux, as root."""


_rule = click.option("--rule", metavar="TEXT", help="A rule given as text: 'grow = 1 / w; cut = w / 2'.")


@command.command("load", context_settings=_ANYTHING)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ALGORITHM]")
@_rule
@click.option("--name", default="", help="Name in the kernel: at most 15 letters, digits and _.")
@click.option("--while", "shell", metavar="COMMAND", help="Load it while COMMAND runs, and no longer.")
def load(arguments: tuple[str, ...], rule: str | None, name: str, shell: str | None) -> int:
    """Load ALGORITHM for programs that select it with TCP_CONGESTION.

    ALGORITHM is a name such as new-aimd, an object my_cc.bpf.o, or a rule in a file my.rule. Any other option
    is a parameter of it: --increase 1. It stays until `ackclock cc unload`, or until the next reboot.
    """
    algorithm, parameters = _parsed(arguments)
    given = _given(algorithm, rule)
    if not isinstance(given, str) and algorithm:
        name = name or Path(algorithm).stem
    if shell is None:
        loaded = kernel.load(given, parameters, name)
        say(f"loaded {loaded}")
        talk(f"It stays until reboot. Use it: iperf3 -C {loaded} ...; remove it: ackclock cc unload {loaded}")
        return 0
    name, link = kernel.attach(given, parameters, name)
    talk(f"loaded {name} while the command runs")
    try:
        return subprocess.run(shell, shell=True, check=False).returncode
    finally:
        link.close()


@command.command("compile", context_settings=_ANYTHING)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[FILE.rule]")
@_rule
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Such as my_cc.bpf.o.")
def compile_rule(arguments: tuple[str, ...], rule: str | None, out: Path) -> None:
    """Compile a rule given as text for the kernel and the simulator.

    Any other option is a parameter of the rule: --a 1. Load the object with `ackclock cc load`, or simulate
    it with `cc = { kind = "bpf", object = "my_cc.bpf.o" }`. No other compiler is needed.
    """
    file, parameters = _parsed(arguments)
    given = _given(file, rule)
    if isinstance(given, str):
        raise click.UsageError(f"{given!r} is not a rule; give a file such as my.rule, or --rule")
    if not out.name.endswith(kernel.SUFFIX):
        raise click.UsageError(f"--out: expected a name that ends with {kernel.SUFFIX}, found {str(out)!r}")
    compiled = kernel.compiled(kernel.with_parameters(given, parameters))
    try:
        write_target(out, compiled)
    except OSError as error:
        raise writing_error(f"{out}: cannot be written: {error.strerror}", error) from None
    emit(str(out))


def _parsed(arguments: Sequence[str]) -> tuple[str | None, dict[str, float]]:
    """Return the algorithm before the parameters, if there is one, and the parameters."""
    if arguments and not arguments[0].startswith("--"):
        return arguments[0], _parameters(arguments[1:])
    return None, _parameters(arguments)


def _given(algorithm: str | None, rule: str | None) -> str | dict[str, Any]:
    """Return the name of an algorithm, or the table of a rule."""
    if (algorithm is None) == (rule is None):
        raise click.UsageError(
            "give an algorithm, such as new-aimd, my_cc.bpf.o or my.rule, or --rule 'TEXT'"
        )
    if rule is not None:
        return Candidate.from_rule(rule).resolved
    if algorithm is not None and algorithm.endswith(".rule"):
        return Candidate.parse(algorithm).resolved
    return algorithm or ""


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
    """List the congestion controls of the kernel. Those that ackclock loaded have their parameters."""
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
    """Unload algorithms that ackclock loaded.

    Connections that use one keep it until they end.
    """
    if everything == bool(names):
        raise click.UsageError("give the names of algorithms, or --all")
    wanted = [entry.name for entry in kernel.listing() if entry.algorithm] if everything else names
    for name in wanted:
        kernel.unload(name)
        say(f"unloaded {name}")
