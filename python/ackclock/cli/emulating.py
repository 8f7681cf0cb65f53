"""Options and messages of commands whose runs may be emulations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.console import talk
from ackclock.errors import InputError
from ackclock.running.backend import chosen as chosen_backend
from ackclock.running.backend import faults
from ackclock.running.job import BACKENDS, KERNEL, LINUX, SIM, Programs, kernel_of, kind_of

if TYPE_CHECKING:
    from ackclock.scenario import Scenario
    from ackclock.text.table import Table

#: The synchronous model, which only `run` offers.
MODEL = "model"
_BACKEND_HELP = (
    "sim simulates, linux runs this kernel in real time, kernel runs a kernel in virtual time "
    "(docs/learn/simulator-model-kernel.md)"
)
KERNEL_HELP = (
    "Kernel of --backend kernel: a version, a name or a path (`ackclock kernel list`). "
    "Default: the kernel that was built last."
)
_kernel_option = click.option("--kernel", metavar="VERSION|PATH", help=KERNEL_HELP)
_kernels_option = click.option(
    "--kernel",
    "kernels",
    metavar="VERSION|PATH",
    multiple=True,
    help=f"{KERNEL_HELP} Several kernels are compared.",
)


def backend_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the backend to a command that runs many scenarios."""
    option = click.option(
        "--backend",
        type=click.Choice(BACKENDS),
        default=SIM,
        show_default=True,
        help=f"Backend: {_BACKEND_HELP}.",
    )
    return option(_kernel_option(command))


def backend_of(backend: str, kernel: str | None, option: str = "--backend") -> str:
    """Return the backend of the options, as jobs contain it.

    `option` is the name of the option that selects it. Raises `UsageError` for `--kernel` without its
    backend, or `InputError` without such a kernel.
    """
    if kernel is not None and backend != KERNEL:
        raise click.UsageError(f"--kernel needs {option} {KERNEL}")
    return chosen_backend(backend, kernel)


def emulation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of emulations to a command that runs one scenario."""
    options = (
        click.option(
            "--backend",
            "backends",
            type=click.Choice((*BACKENDS, MODEL)),
            multiple=True,
            help=f"Backend: {_BACKEND_HELP}. Another one is model, the synchronous model "
            "(docs/reference/synchronous-model.md). Several backends are compared.",
        ),
        _kernels_option,
        click.option(
            "--exec",
            "command",
            metavar="COMMAND",
            help="Run a shell command behind the scenario instead of the flows under test. The server is at "
            "$ACKCLOCK_SERVER. The run ends when the command ends.",
        ),
        click.option(
            "--shell",
            is_flag=True,
            help="Open a shell behind the scenario. The run ends when the shell ends.",
        ),
        click.option("--serve", metavar="COMMAND", help="Run a shell command on the host of the receivers."),
    )
    for option in reversed(options):
        command = option(command)
    return command


#: The longest time for which a shell stays open.
_SHELL_LASTS = "duration=12 h"


def programs_of(
    scenario: Scenario, groups: list[str], command: str | None, shell: bool, serve: str | None
) -> tuple[Scenario, Programs | None]:
    """Return the programs of the options, and the scenario behind which they run.

    Raises `UsageError`, or `InputError` where the scenario has no flow that they could replace.
    """
    if command is not None and shell:
        raise click.UsageError("--exec and --shell exclude each other")
    if command is None and not shell:
        if serve is not None:
            raise click.UsageError("--serve needs --exec or --shell")
        return scenario, None
    if not groups:
        raise InputError(f"{scenario.name}: has no TCP flow that a program could replace")
    group = "test" if "test" in groups else groups[0]
    if command is None:
        scenario = scenario.with_sets([_SHELL_LASTS, "warmup=0 s"])
    return scenario, Programs(group, command or "exec ${SHELL:-/bin/sh} -i", serve)


def chosen(backends: tuple[str, ...], kernels: tuple[str, ...], is_program: bool) -> tuple[str, ...]:
    """Return the backends of a run, each once. A kernel alone selects its backend.

    Raises `UsageError` for a program that is not in real time, or `--kernel` without its backend. Raises
    `InputError` if the kernel is not built.
    """
    default = LINUX if is_program else KERNEL if kernels else SIM
    given = tuple(dict.fromkeys(backends)) or (default,)
    if is_program and given != (LINUX,):
        other = next(backend for backend in given if backend != LINUX)
        raise click.UsageError(f"--exec and --shell run in real time; leave out --backend {other}")
    if kernels and KERNEL not in given:
        raise click.UsageError(f"--kernel needs --backend {KERNEL}")
    each = {
        backend: [backend_of(backend, kernel) for kernel in kernels or (None,)]
        if backend == KERNEL
        else [backend]
        for backend in given
    }
    return tuple(dict.fromkeys(backend for backends in each.values() for backend in backends))


def names_of(backends: tuple[str, ...]) -> dict[str, str]:
    """Return the names of compared backends. Several kernels have their versions, or their full names."""
    kernels = [kernel_of(backend) for backend in backends if kernel_of(backend)]
    versions = {kernel: kernel.rpartition("-")[0] for kernel in kernels}
    if len(set(versions.values())) < len(kernels):
        versions = {kernel: kernel for kernel in kernels}
    return {
        backend: versions[kernel_of(backend)] if len(kernels) > 1 and kernel_of(backend) else kind_of(backend)
        for backend in backends
    }


#: Keys of a flow that the emulator sets in the kernel or refuses, and keys outside the transport.
_OF_EMULATOR = {
    *("name", "count", "cc", "stack", "traffic", "in_profile", "start", "stop", "rtt", "profile", "protocol"),
    *("mss", "header", "framing", "timestamps", "ecn", "recovery", "peer_sack", "max_window"),
    # The links apply it.
    "send_jitter",
}
#: The most keys that a message names.
_NAMED = 4


def tell_kernels_keys(scenario: Scenario, backend: str) -> None:
    """Print to stderr the transport keys that a kernel ignores and whose values differ from Linux."""
    from ackclock.scenario import Scenario as Made

    topology = {"kind": "dumbbell", "rate": "1 Mbit/s", "delay": "1 ms"}
    made = Made(duration="1 s", topology=topology, flows=[{"name": "linux", "cc": "reno"}])
    (linux,) = json.loads(made.resolved_json)["flows"]
    resolved = json.loads(scenario.resolved_json)["flows"]
    flows = [flow for flow in resolved if "cc" in flow and flow.get("stack") != "simulated"]
    differ = [
        key
        for key, value in linux.items()
        if key not in _OF_EMULATOR and any(flow.get(key, value) != value for flow in flows)
    ]
    if differ:
        more = f" and {len(differ) - _NAMED} more" if len(differ) > _NAMED else ""
        talk(
            f"warning: ignored with --backend {backend}, as the kernel uses its own: "
            f"{', '.join(differ[:_NAMED])}{more} (docs/how-to/same-scenario-on-linux.md)"
        )


def tell_faults(document: dict[str, Any]) -> None:
    """Print to stderr why a run is not valid, if so."""
    if reasons := faults(document):
        talk(
            f"warning: NOT VALID: {'; '.join(reasons)}. Free a core, or pin other work to other cores, "
            "and run it again (docs/how-to/same-scenario-on-linux.md)"
        )


def tell_invalid(invalid: int, runs: int) -> None:
    """Print to stderr how many runs are not valid, if any."""
    if invalid:
        talk(f"warning: {invalid} of {runs} emulations are invalid: the machine was too busy")


def kernel_line(document: dict[str, Any]) -> str:
    """Return the kernel, the algorithms and the cost of a run in virtual time."""
    emulation = document["emulation"]
    algorithms = ", ".join(f"{name} for {group}" for group, name in emulation["algorithms"].items())
    speed = document["duration_s"] / document["engine_cpu_s"]
    return f"{emulation['kernel']}: {algorithms}; seed {document['seed']}; {speed:.0f} times real time"


def fidelity_table(emulation: dict[str, Any]) -> Table:
    """Return a table of the time errors of an emulation."""
    from ackclock.text.table import Column, Table

    verdict = "valid" if emulation["valid"] else f"NOT VALID: {'; '.join(emulation['reasons'])}"
    table = Table("emulation", Column("value", right=True), "unit", title=f"{emulation['kernel']}: {verdict}")
    steal = emulation["steal_share"]
    rows = (
        ("lateness of packets, 50 %", f"{1e3 * emulation['lateness_p50_s']:.3f}", "ms"),
        ("lateness of packets, 99 %", f"{1e3 * emulation['lateness_p99_s']:.3f}", "ms"),
        ("lateness of packets, longest", f"{1e3 * emulation['lateness_max_s']:.3f}", "ms"),
        ("stalls of hosts", str(emulation["stalls"]), ""),
        ("longest stall", f"{1e3 * emulation['longest_stall_s']:.3f}", "ms"),
        ("packets that TUN devices dropped", str(emulation["tun_overflows"]), ""),
        ("CPU of forwarding", f"{100 * emulation['cpu_share']:.1f}", "%"),
        ("CPU that the hypervisor took", "-" if steal is None else f"{100 * steal:.1f}", "%"),
        ("held back by hosts", f"{100 * emulation['host_limited_share']:.1f}", "%"),
    )
    for row in rows:
        table.add_row(*row)
    return table
