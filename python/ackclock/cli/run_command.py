"""`ackclock run`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from ackclock.cli.options import file_argument, json_option, seed_option, set_option
from ackclock.metrics import SUMMARY
from ackclock.scenario import Scenario
from ackclock.store import Store
from ackclock.study import Study, run_study


@click.command("run")
@file_argument
@seed_option
@set_option
@json_option
@click.option(
    "--out", type=click.Path(file_okay=False), help="Keep the result and its samples in this folder."
)
def command(file: str, seed: int | None, sets: tuple[str, ...], as_json: bool, out: str | None) -> None:
    """Run the scenario FILE once and print its metrics.

    With --out the folder gets the result (`summary.json`), the resolved scenario (`scenario.json`) and
    Parquet files of samples over time (`samples/`).
    """
    scenario = Scenario.from_file(file, sets)
    for warning in scenario.warnings:
        click.echo(f"warning: {warning}", err=True)
    study = Study.of(scenario, seed=seed, samples=out is not None)
    with Store(out) as store:
        (outcome,) = run_study(study, store, workers=1)
        document = json.loads(outcome.result_json)
        if out is not None:
            store.write_file("summary.json", json.dumps(document, indent=2) + "\n")
            store.write_file("scenario.json", json.dumps(json.loads(scenario.resolved_json), indent=2) + "\n")
    for group in document.get("transfers", ()):
        if group["refused"]:
            click.echo(f"warning: {_refused(group)}", err=True)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        _show(document, scenario.is_random)
    if out is not None:
        click.echo(f"kept in {out}", err=True)


def _refused(group: dict[str, Any]) -> str:
    arrived = group["refused"] + group["started"]
    return (
        f"{group['group']}: {group['refused']} of {arrived} transfers found all {group['flows']} slots taken "
        f"and were refused; a larger flows.{group['group']}.count takes them"
    )


#: Why queues drop and mark: the key, and the heading above it.
_REASONS = {
    "early_drops": "early drops",
    "forced_drops": "forced drops",
    "full_drops": "full drops",
    "early_marks": "early marks",
    "forced_marks": "forced marks",
}
_MISHAPS = {
    "losses": "losses",
    "duplicates": "duplicates",
    "corruptions": "corruptions",
    "reordered": "reordered",
}
#: Flows shown; `--json` has all.
_MAX_FLOWS = 20


def _show(document: dict[str, Any], is_random: bool) -> None:
    from rich import box
    from rich.table import Table

    from ackclock.cli.console import show

    summary = Table(box=box.SIMPLE_HEAD, title=document["scenario"], title_justify="left")
    summary.add_column("metric")
    summary.add_column("value", justify="right")
    summary.add_column("unit")
    for metric in SUMMARY:
        summary.add_row(metric.label, f"{metric.factor * metric.of(document):.4f}", metric.unit)
    show(summary)
    flows = Table(box=box.SIMPLE_HEAD)
    flows.add_column("flow", overflow="fold")
    flows.add_column("cc")
    flows.add_column("recovery")
    for heading in ("goodput Mbit/s", "loss %", "rtx", "timeouts", "RTT ms", "cwnd segments"):
        flows.add_column(heading, justify="right")
    for flow in document["flows"][:_MAX_FLOWS]:
        rtt_s = flow["rtt_mean_s"]
        flows.add_row(
            flow["name"],
            flow["cc"],
            flow["recovery"],
            f"{1e-6 * flow['goodput_bps']:.4f}",
            f"{100 * flow['loss_rate']:.3f}",
            str(flow["retransmits"]),
            str(flow["timeouts"]),
            "-" if rtt_s is None else f"{1e3 * rtt_s:.2f}",
            f"{flow['cwnd_mean_segments']:.2f}",
        )
    if document["flows"]:
        show(flows)
    _more(document["flows"], "flows")
    _show_transfers(document.get("transfers", ()))
    _show_datagrams(document.get("datagrams", ()))
    links = Table(box=box.SIMPLE_HEAD)
    links.add_column("link", overflow="fold")
    for heading in ("utilization %", "arrivals", "drops", "marks", "queue delay ms"):
        links.add_column(heading, justify="right")
    for link in document["links"]:
        utilization = link["utilization"]
        links.add_row(
            link["name"],
            "-" if utilization is None else f"{100 * utilization:.3f}",
            str(link["arrivals"]),
            str(link["drops"]),
            str(link["marks"]),
            f"{1e3 * link['queue_delay_mean_s']:.3f}",
        )
    show(links)
    _show_counts(_REASONS, document["links"])
    _show_counts(_MISHAPS, document["links"])
    luck = f"seed {document['seed']}" if is_random else "nothing is random: every run is the same"
    speed = (
        document["packets_forwarded"] / document["engine_cpu_s"] / 1e6 if document["engine_cpu_s"] else 0.0
    )
    click.echo(f"{luck}; {document['packets_forwarded']} packets, {speed:.1f} M a CPU second", err=True)


def _more(rows: Sequence[Any], what: str) -> None:
    if len(rows) > _MAX_FLOWS:
        click.echo(f"  and {len(rows) - _MAX_FLOWS} more {what} (--json has all)")


def _show_transfers(groups: Sequence[dict[str, Any]]) -> None:
    """How long transfers took, group by group."""
    from rich import box
    from rich.table import Table

    from ackclock.cli.console import show

    if not groups:
        return
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("transfers", overflow="fold")
    counts, times = ("ended", "refused"), ("mean ms", "50 %", "95 %", "99 %", "longest")
    for heading in ("goodput Mbit/s", "loss %", *counts, *times):
        table.add_column(heading, justify="right")
    for group in groups[:_MAX_FLOWS]:
        table.add_row(
            group["group"],
            f"{1e-6 * group['goodput_bps']:.4f}",
            f"{100 * group['loss_rate']:.3f}",
            str(group["completed"]),
            str(group["refused"]),
            *(_ms(group[f"fct_{figure}_s"], 1) for figure in ("mean", "p50", "p95", "p99", "max")),
        )
    show(table)
    _more(groups, "groups")


def _show_datagrams(rows: Sequence[dict[str, Any]]) -> None:
    """What became of datagrams."""
    from rich import box
    from rich.table import Table

    from ackclock.cli.console import show

    if not rows:
        return
    leaves = any(row["leaves_bps"] is not None for row in rows)
    late = any("lost_or_late_rate" in row for row in rows)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("datagrams", overflow="fold")
    for heading in (
        "offered Mbit/s",
        "delivered",
        *(("leaves",) if leaves else ()),
        "loss %",
        *(("lost or late %",) if late else ()),
        "delay ms",
        "99 %",
        "jitter ms",
    ):
        table.add_column(heading, justify="right")
    for row in rows[:_MAX_FLOWS]:
        table.add_row(
            row["name"],
            f"{1e-6 * row['offered_bps']:.4f}",
            f"{1e-6 * row['delivered_bps']:.4f}",
            *((_scaled(row["leaves_bps"], 1e-6, 4),) if leaves else ()),
            f"{100 * row['loss_rate']:.3f}",
            *((_scaled(row.get("lost_or_late_rate"), 100, 3),) if late else ()),
            _ms(row["delay_mean_s"], 2),
            _ms(row["delay_p99_s"], 2),
            _ms(row["jitter_s"], 3),
        )
    show(table)
    _more(rows, "rows")


def _ms(seconds: float | None, digits: int) -> str:
    return _scaled(seconds, 1e3, digits)


def _scaled(value: float | None, factor: float, digits: int) -> str:
    return "-" if value is None else f"{factor * value:.{digits}f}"


def _show_counts(headings: dict[str, str], links: list[dict[str, Any]]) -> None:
    """Counters that only some links have, under their headings."""
    from rich import box
    from rich.table import Table

    from ackclock.cli.console import show

    counting = [link for link in links if all(key in link for key in headings)]
    if not counting:
        return
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("link", overflow="fold")
    for heading in headings.values():
        table.add_column(heading, justify="right")
    for link in counting:
        table.add_row(link["name"], *(str(link[key]) for key in headings))
    show(table)
