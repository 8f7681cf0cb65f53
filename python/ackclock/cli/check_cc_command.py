"""`ackclock check-cc`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from ackclock.cli.console import emit, say, show
from ackclock.cli.options import json_option
from ackclock.contract import Finding, check_cc
from ackclock.kernel import KernelError, compiled
from ackclock.scenario import probe_scenario
from ackclock.text.table import Column, Table


@click.command("check-cc")
@click.argument("cc")
@json_option
def command(cc: str, as_json: bool) -> int:
    """Check that the algorithm CC keeps the contract of TCP.

    CC is a file such as my_cc.py:MyCc, my_cc.so or my-cc.rule, rule text, or a name. Each contract violation
    is explained, with the smallest sequence of events that shows it. The exit code is then 1.
    For a rule, the command says whether it compiles for the Linux kernel.
    """
    cc = cc.removeprefix("rule ")
    findings = check_cc(cc)
    kernel = _kernel(cc)
    if as_json:
        found = {"cc": cc, "findings": [asdict(finding) for finding in findings], "kernel": kernel}
        emit(json.dumps(found, indent=2))
    else:
        for finding in findings:
            _tell(finding)
        say(_verdict(findings))
        if kernel is not None:
            say(_of_kernel(kernel))
    return 1 if findings else 0


def _kernel(cc: str) -> dict[str, Any] | None:
    """Return whether a rule compiles for the kernel, and why not. None for other algorithms."""
    algorithm = probe_scenario().with_algorithm(cc).resolved["flows"][0]["cc"]
    if algorithm["kind"] != "rule":
        return None
    try:
        compiled(algorithm)
    except KernelError as error:
        return {"compiles": False, "reason": str(error)}
    return {"compiles": True, "reason": None}


def _of_kernel(kernel: Mapping[str, Any]) -> str:
    if kernel["compiles"]:
        return "kernel: the rule compiles for Linux (ackclock cc load)"
    return f"kernel: the rule does not compile for Linux: {kernel['reason']}"


def _tell(finding: Finding) -> None:
    say(f"{finding.promise}: {finding.broken}; {finding.advice}")
    if finding.fault is not None:
        say(finding.fault)
    if finding.steps:
        table = Table(
            Column("time s", right=True),
            "event",
            Column("cwnd segments", right=True),
            Column("ssthresh segments", right=True),
        )
        for step in finding.steps:
            table.add_row(f"{step.time_s:.6f}", step.event, _number(step.cwnd), _number(step.ssthresh))
        show(table)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def _verdict(findings: list[Finding]) -> str:
    if not findings:
        return (
            "contract checks passed (77 cases). They do not test whether the algorithm performs well "
            "or is fair: run `ackclock evaluate`."
        )
    return f"{len(findings)} contract violation{'s' if len(findings) > 1 else ''}"
