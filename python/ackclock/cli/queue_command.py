"""`ackclock queue`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.capturing import check_target, write_capture
from ackclock.cli.console import emit, say, show, talk
from ackclock.cli.options import first_seed_option, json_option
from ackclock.cli.plotting import TERMINAL, check_picture, write_picture
from ackclock.queues.alone import default_arrivals, queue

if TYPE_CHECKING:
    from ackclock.text.table import Table

_RATE, _RTT, _DURATION = "10 Mbit/s", "100 ms", "10 s"
_MS = 1e-6
_SOJOURNS = ("mean_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns")


@click.command("queue")
@click.argument("name", metavar="QUEUE")
@click.option(
    "--arrivals",
    "sources",
    multiple=True,
    metavar="SOURCE",
    help="Source of packets, such as 'poisson(9 Mbit/s, to=5 s)'. May be repeated.",
)
@click.option("--trace", metavar="FILE", help="Recorded arrivals: a CSV file with time_s, bytes, flow, ecn.")
@click.option("--rate", default=_RATE, show_default=True, metavar="RATE", help="Rate of the link.")
@click.option("--rtt", default=_RTT, show_default=True, metavar="TIME", help="Base RTT for sizes in BDP.")
@click.option("--duration", default=_DURATION, show_default=True, metavar="TIME", help="Length of the run.")
@click.option("--interval", metavar="TIME", help="Time between samples. Default: duration / 1000.")
@first_seed_option
@click.option(
    "--plot",
    "picture",
    default=TERMINAL,
    show_default=True,
    metavar="FILE",
    help=f"File for the plot over time (.svg, .png), or {TERMINAL} for lines of text.",
)
@click.option("--csv", "csv_file", metavar="FILE", help="File for the outcome of each packet.")
@json_option
def command(
    name: str,
    sources: tuple[str, ...],
    trace: str | None,
    rate: str,
    rtt: str,
    duration: str,
    interval: str | None,
    seed: int,
    picture: str,
    csv_file: str | None,
    as_json: bool,
) -> None:
    """Run a queue alone: counts, sojourn times and its state over time.

    QUEUE is a name (`ackclock list queue`), a label such as 'codel(target=10 ms)', or an inline table. The
    sources do not respond to drops and marks. SOURCE is one of these:

    \b
    cbr(RATE)                        equal intervals
    poisson(RATE)                    exponential intervals
    on-off(RATE, on=TIME, off=TIME)  equal intervals, with pauses
    burst(packets=N, every=TIME)     packets that arrive at once

    Each source takes size=1500 B, flows=1, ecn=not-ect, from=0 s and to=TIME. Without --arrivals and --trace,
    the load is 75 % of the rate, and 150 % in a fifth of the run.
    """
    check_picture(picture, "--plot")
    if csv_file is not None:
        check_target(Path(csv_file), "--csv")
    run = queue(
        name,
        arrivals=sources,
        trace=trace,
        rate=rate,
        rtt=rtt,
        duration=duration,
        interval=interval,
        seed=seed,
        packets=csv_file is not None,
    )
    if csv_file is not None:
        write_capture(Path(csv_file), run.packets.write_csv().encode(), "outcome of each packet")
    if as_json:
        emit(json.dumps({key: value for key, value in run.document.items() if key != "packets"}, indent=2))
        return
    labels = [*sources] if sources or trace else default_arrivals(rate, run.duration_s)
    labels += [trace] if trace is not None else []
    for table in _tables(run.document, labels):
        show(table)
    if picture == TERMINAL:
        say("")
    write_picture(picture, run.drawing("over time" if picture == TERMINAL else None))
    if picture != TERMINAL:
        talk(f"plot: {picture}")


def _tables(document: dict[str, Any], labels: list[str]) -> list[Table]:
    from ackclock.text.table import Column, Table

    counts = Table(
        "packets",
        *(Column(name, right=True) for name in ("arrived", "sent", "dropped", "marked", "queued")),
        title=f"{document['queue']}: utilization {100 * document['utilization']:.1f} %",
        caption=_reasons(document),
    )
    sojourns = Table(
        "sojourn time, ms",
        *(Column(name, right=True) for name in ("mean", "median", "95th pct", "99th pct", "largest")),
    )
    rows = [("all", document["total"])]
    if len(document["sources"]) > 1:
        rows += zip(labels, document["sources"], strict=True)
    for label, row in rows:
        counts.add_row(label, *(str(row[key]) for key in ("arrived", "sent", "dropped", "marked", "queued")))
        times = row["sojourn"]
        sojourns.add_row(label, *(f"{_MS * times[key]:.3f}" if times else "-" for key in _SOJOURNS))
    return [counts, sojourns]


def _reasons(document: dict[str, Any]) -> str:
    """Return the reasons of drops and marks, with their counts."""
    parts = [
        f"{verb} by reason: {', '.join(f'{reason} {count}' for reason, count in document[key].items())}"
        for key, verb in (("drops", "drops"), ("marks", "marks"))
        if document[key]
    ]
    return "; ".join(parts)
