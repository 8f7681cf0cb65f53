"""`ackclock check-cc`."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from ackclock.cli.console import emit, say, show
from ackclock.cli.options import json_option
from ackclock.contract import Finding, check_cc
from ackclock.text.table import Column, Table


@click.command("check-cc")
@click.argument("cc")
@json_option
def command(cc: str, as_json: bool) -> int:
    """Check that the algorithm CC keeps the contract of TCP.

    CC is a file such as my_cc.py:MyCc, my_cc.so or my-cc.rule, rule text, or a name. Each contract violation
    is explained, with the smallest sequence of events that shows it. The exit code is then 1.
    """
    findings = check_cc(cc)
    if as_json:
        emit(json.dumps({"cc": cc, "findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        for finding in findings:
            _tell(finding)
        say(_verdict(findings))
    return 1 if findings else 0


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
