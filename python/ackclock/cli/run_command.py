"""`ackclock run`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ackclock.cli.capturing import Wanted, pcap_options
from ackclock.cli.comparing import Side, comparison, comparison_table, windows
from ackclock.cli.console import emit, say, show, show_widest, talk
from ackclock.cli.emulating import (
    MODEL,
    chosen,
    emulation_options,
    fidelity_table,
    programs_of,
    tell_faults,
    tell_kernels_keys,
)
from ackclock.cli.options import json_option, seed_option, set_option
from ackclock.cli.plotting import check_picture, write_picture
from ackclock.cli.shorthand import Shorthand, optional_file, shorthand_options
from ackclock.errors import InputError, writing_error
from ackclock.files.writing import write_whole
from ackclock.metrics.declared import METRICS
from ackclock.metrics.frames import samples_frame
from ackclock.metrics.shares import groups_of, shares_of
from ackclock.metrics.summary import coverage, headline, shown, significant
from ackclock.running.backend import faults, prepare
from ackclock.running.cells import Found, find
from ackclock.running.job import LINUX, Outcome
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.scenario import Scenario
from ackclock.text.cells import csv_text

if TYPE_CHECKING:
    from ackclock.page.over_time import Drawing
    from ackclock.text.table import Table


@click.command("run")
@optional_file
@shorthand_options
@click.option(
    "--from",
    "report",
    type=click.Path(readable=False),
    metavar="REPORT",
    help="Run a cell of this report again; FILE is then the name of the cell, such as slow-1/cubic, or "
    "slow-1/cubic#3 for replicate 3.",
)
@seed_option
@set_option
@json_option
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Print every metric with 4 decimals; by default the headline metrics with 3 significant digits.",
)
@click.option("--out", type=click.Path(file_okay=False), help="Folder for the result and its samples.")
@click.option(
    "--csv",
    "csv_folder",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Folder for samples over time, flows.csv and links.csv.",
)
@click.option(
    "--plot",
    "picture",
    metavar="FILE",
    help="Draw window, RTT, goodput and queue over time into this file (.svg, .png) or the terminal (term); "
    "of several backends the windows over one another.",
)
@emulation_options
@pcap_options
def command(
    file: str | None,
    report: str | None,
    seed: int | None,
    sets: tuple[str, ...],
    as_json: bool,
    out: str | None,
    csv_folder: str | None,
    picture: str | None,
    backends: tuple[str, ...],
    command: str | None,
    shell: bool,
    serve: str | None,
    everything: bool,
    **others: Any,
) -> int:
    """Run the scenario FILE once and print its metrics.

    Without FILE the scenario is one bottleneck, which --rate, --trace, --rtt, --queue, --limit and --loss
    describe, and the flows of --flows through it; --save writes it.

    --out writes the result (`summary.json`), the resolved scenario (`scenario.json`) and samples over time
    (Parquet files in `samples/`). --pcap writes packets as Wireshark and tshark read them, --qlog what
    senders do as qvis reads it; both replace a file that is there. With --backend linux the run takes as long
    as the scenario says; what did not keep its times is marked as not valid. --backend model gives the
    synchronous model of the scenario, and says what it leaves out. --from runs a cell of a report again, and
    writes its exact scenario into `scenarios/` beside the report.
    """
    chosen_backends = chosen(backends, command is not None or shell)
    for backend in chosen_backends:
        prepare(backend)
    shorthand = Shorthand(*map(others.pop, Shorthand._fields))
    if report is None:
        cell, scenario = None, shorthand.scenario(file, sets)
    else:
        cell = _cell_of(report, file, sets, shorthand)
        scenario = cell.scenario
    if cell is not None and seed is None:
        seed = cell.seed
    for warning in scenario.warnings:
        talk(f"warning: {warning}")
    if LINUX in chosen_backends:
        tell_kernels_keys(scenario)
    wanted = Wanted(**others)
    capture = wanted.wanted(scenario)
    groups = [flow["name"] for flow in json.loads(scenario.resolved_json)["flows"] if "cc" in flow]
    scenario, programs = programs_of(scenario, groups, command, shell, serve)
    if picture is not None:
        check_picture(picture, "--plot")
    if capture is not None and set(chosen_backends) == {MODEL}:
        raise InputError("the model has no packets: --pcap and --qlog need another backend")
    samples = bool(out or csv_folder or picture or len(chosen_backends) > 1)
    with Store(out) as store:
        done = {
            backend: run_study(_last(study), store, workers=1)[0]
            for backend in chosen_backends
            if backend != MODEL
            for study in [
                Study.of(
                    scenario,
                    seed=seed,
                    replicates=1 if cell is None else cell.replicate + 1,
                    samples=samples,
                    capture=capture,
                    backend=backend,
                    programs=programs,
                )
            ]
        }
        sides = [_side(scenario, done.get(backend)) for backend in chosen_backends]
        documents = [side.document for side in sides]
        document = _with_groups(documents[0]) if len(documents) == 1 else comparison(sides)
        if out is not None:
            store.write_file("summary.json", json.dumps(document, indent=2) + "\n")
            store.write_file("scenario.json", json.dumps(json.loads(scenario.resolved_json), indent=2) + "\n")
    if csv_folder is not None:
        for backend, outcome in done.items():
            folder = Path(csv_folder)
            _write_csv(folder if len(documents) == 1 else folder / backend, outcome)
    if picture is not None:
        write_picture(picture, _drawing(sides, done))
    for run in documents:
        tell_faults(run)
        if "model" in run:
            talk(f"the model leaves out: {'; '.join(run['model']['left_out'])}")
        for group in run.get("transfers", ()):
            if group["refused"]:
                talk(f"warning: {_refused(group)}")
    if as_json:
        emit(json.dumps(document, indent=2))
    elif len(documents) > 1:
        show(comparison_table(sides))
    else:
        _show(document, scenario.is_random, everything)
    if out is not None:
        talk(f"kept in {out}")
    # Last, so that a disk that is full loses nothing else.
    for outcome in list(done.values())[:1]:
        wanted.write(outcome)
    program_exit = documents[0].get("emulation", {}).get("program_exit")
    return int(program_exit or 0)


def _with_groups(document: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a run with its groups of flows, where there are several."""
    groups = groups_of(document)
    return {**document, "groups": groups} if len(groups) > 1 else document


def _last(study: Study) -> Study:
    """Return its last replicate alone; where nothing is random there is only one."""
    return Study(study.jobs[-1:])


def _cell_of(report: str, name: str | None, sets: Sequence[str], shorthand: Shorthand) -> Found:
    """Return the run that a cell of a report names, tell which it is, and write it where `--save` says."""
    shorthand.check(f"--from {report}")
    if name is None:
        raise InputError(f"--from {report}: which cell? such as: ackclock run --from {report} slow-1/cubic")
    found = find(report, name, sets)
    talk(f"{found.title}, replicate {found.replicate}, seed {found.seed}")
    if found.path is not None:
        talk(f"scenario: {found.path}")
    shorthand.keep(found.scenario.resolved, "scenario")
    return found


def _drawing(sides: Sequence[Side], done: Mapping[str, Outcome]) -> Drawing:
    """Return one run over time, or the windows of several backends."""
    if len(sides) > 1 or not done:
        return windows(sides)
    from ackclock.page.over_time import over_time

    (outcome,), document = done.values(), sides[0].document
    faulty = "NOT VALID: " if faults(document) else ""
    title = f"{faulty}{document['scenario']}: seed {document['seed']}"
    return over_time(
        samples_frame(outcome.flow_samples),
        samples_frame(outcome.link_samples),
        document["duration_s"],
        title,
    )


def _side(scenario: Scenario, outcome: Outcome | None) -> Side:
    """Return what a backend gave; the model, where there was no run."""
    warmup_s = scenario.describe(0)["warmup_s"]
    if outcome is None:
        from ackclock.synchronous.modelled import modelled

        model = modelled(scenario)
        return Side(model.document, model.windows, warmup_s)
    windows: dict[str, list[tuple[float, float]]] = {}
    if outcome.flow_samples is not None:
        frame = samples_frame(outcome.flow_samples)
        for time_ns, flow, window in frame.select("time_ns", "flow", "cwnd_segments").iter_rows():
            windows.setdefault(flow, []).append((1e-9 * time_ns, window))
    return Side(json.loads(outcome.result_json), windows, warmup_s)


def _write_csv(folder: Path, outcome: Outcome) -> None:
    samples = {"flows.csv": outcome.flow_samples, "links.csv": outcome.link_samples}
    for name, content in samples.items():
        assert content is not None, "samples were asked for"
        frame = samples_frame(content)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, csv_text(frame).encode())
        except OSError as error:
            message = f"{folder / name}: cannot be written: {error.strerror}"
            raise writing_error(message, error) from None
    talk(f"samples in {folder}")


def _refused(group: dict[str, Any]) -> str:
    arrived = group["refused"] + group["started"]
    return (
        f"{group['group']}: {group['refused']} of {arrived} transfers found all {group['flows']} slots taken "
        f"and were refused; a larger flows.{group['group']}.count takes them"
    )


class _Shown(NamedTuple):
    """A column of a table: which value of a row, its heading, and how it is shown."""

    key: str
    heading: str
    #: From the value to what the heading says; None for names.
    factor: float | None = 1
    digits: int = 0
    #: Whether it is left out where no row has a value.
    optional: bool = False
    #: Where a table is too wide, columns with a number go, the highest first.
    spare: int = 0

    def text(self, row: dict[str, Any]) -> str:
        """Return the cell of a row."""
        value = row.get(self.key)
        if self.factor is None:
            return "-" if value is None else str(value)
        return _scaled(value, self.factor, self.digits)


def _metric(of: str, key: str, digits: int = 0, *, optional: bool = False, spare: int = 0) -> _Shown:
    """Return the column of a metric of a list of the results."""
    metric = METRICS[of][key]
    return _Shown(key, metric.column, metric.factor, digits, optional, spare)


_FLOW_COLUMNS = (
    _Shown("name", "flow", None),
    _Shown("cc", "cc", None),
    _Shown("recovery", "recovery", None),
    _metric("flows", "goodput_bps", 4),
    _metric("flows", "loss_rate", 3),
    _metric("flows", "retransmits", spare=3),
    _metric("flows", "retransmit_rate", 3, spare=2),
    _metric("flows", "timeouts"),
    _metric("flows", "queue_delay_mean_s", 2, spare=1),
    _metric("flows", "rtt_mean_s", 2),
    _metric("flows", "cwnd_mean_segments", 2),
)
_TRANSFER_COLUMNS = (
    _Shown("group", "transfers", None),
    _metric("transfers", "goodput_bps", 4),
    _metric("transfers", "loss_rate", 3),
    _metric("transfers", "completed"),
    _metric("transfers", "refused"),
    _metric("transfers", "fct_mean_s", 1),
    _metric("transfers", "fct_p50_s", 1),
    _metric("transfers", "fct_p95_s", 1),
    _metric("transfers", "fct_p99_s", 1),
    _metric("transfers", "fct_max_s", 1),
    _metric("transfers", "late_rate", 2, optional=True),
    _metric("transfers", "stalls", optional=True),
    _metric("transfers", "stalled_s", 0, optional=True),
)
_DATAGRAM_COLUMNS = (
    _Shown("name", "datagrams", None),
    _metric("datagrams", "offered_bps", 4),
    _metric("datagrams", "delivered_bps", 4),
    _metric("datagrams", "leaves_bps", 4, optional=True),
    _metric("datagrams", "loss_rate", 3),
    _metric("datagrams", "lost_or_late_rate", 3, optional=True),
    _metric("datagrams", "delay_mean_s", 2),
    _metric("datagrams", "delay_p99_s", 2),
    _metric("datagrams", "jitter_s", 3),
)
_METER_COLUMNS = (
    _Shown("name", "meter", None),
    _metric("meters", "green_bps", 4),
    _metric("meters", "yellow_bps", 4),
    _metric("meters", "red_bps", 4),
    _metric("meters", "green"),
    _metric("meters", "yellow"),
    _metric("meters", "red"),
    _metric("meters", "policed"),
)
_NAME_OF_LINK = _Shown("name", "link", None)
_LINK_COLUMNS = (
    _NAME_OF_LINK,
    _metric("links", "utilization", 3),
    _metric("links", "arrivals"),
    _metric("links", "drops"),
    _metric("links", "marks"),
    _metric("links", "queue_delay_mean_s", 3),
)
#: Why queues drop and mark; only some count it.
_REASONS = (
    _metric("links", "early_drops"),
    _metric("links", "forced_drops"),
    _metric("links", "full_drops"),
    _metric("links", "early_marks"),
    _metric("links", "forced_marks"),
)
#: What happens after the transmitter; only impaired links count it.
_IMPAIRMENTS = (
    _metric("links", "losses"),
    _metric("links", "duplicates"),
    _metric("links", "corruptions"),
    _metric("links", "reordered"),
)
#: What stations of a channel tried.
_ATTEMPTS = (
    _metric("links", "forwarded"),
    _metric("links", "attempts"),
    _metric("links", "failed_attempts"),
    _metric("links", "losses"),
)
#: Rows shown; `--json` has all.
_MAX_ROWS = 20


def _show(document: dict[str, Any], is_random: bool, everything: bool) -> None:
    from ackclock.text.table import Column, Table

    title = f"{document['scenario']}: {coverage(document)}"
    summary = Table("metric", Column("value", right=True), "unit", title=title)
    for row in shown(document["summary"]) if everything else headline(document["summary"]):
        # Why a run has no value is not why the model has none.
        if "model" not in document or row[1] != "-":
            summary.add_row(*row)
    for share in shares_of(document):
        if (value := share.of(document)) is not None:
            summary.add_row(
                share.label,
                significant(share.factor * value) if not everything else f"{share.factor * value:.4f}",
                share.unit,
            )
    show(summary)
    _show_rows(_FLOW_COLUMNS, document["flows"], "flows")
    _show_rows(_TRANSFER_COLUMNS, document.get("transfers", ()), "groups")
    _show_rows(_DATAGRAM_COLUMNS, document.get("datagrams", ()), "rows")
    _show_rows(_METER_COLUMNS, document.get("meters", ()), "meters")
    _show_rows(_LINK_COLUMNS, document["links"], "links")
    for columns in (_REASONS, _IMPAIRMENTS, _ATTEMPTS):
        counting = [link for link in document["links"] if all(key in link for key, *_ in columns)]
        _show_rows((_NAME_OF_LINK, *columns), counting, "links")
    if "emulation" in document:
        show(fidelity_table(document["emulation"]))
        return
    if "model" in document:
        return
    randomness = (
        f"seed {document['seed']}" if is_random else "nothing is random; every run gives the same result"
    )
    speed = (
        document["packets_forwarded"] / document["engine_cpu_s"] / 1e6 if document["engine_cpu_s"] else 0.0
    )
    talk(f"{randomness}; {document['packets_forwarded']} packets, {speed:.1f} M per CPU second")


def _show_rows(columns: Sequence[_Shown], rows: Sequence[dict[str, Any]], what: str) -> None:
    """Show a table that fits: columns without a value are left out if they are optional."""
    if not rows:
        return
    given = [
        column
        for column in columns
        if not column.optional or any(row.get(column.key) is not None for row in rows)
    ]
    # From all columns down to those that no table goes without.
    steps = sorted({column.spare for column in given}, reverse=True)
    tables = [_table([column for column in given if column.spare <= step], rows) for step in steps]
    show_widest(tables, otherwise=tables[-1])
    if len(rows) > _MAX_ROWS:
        say(f"  and {len(rows) - _MAX_ROWS} more {what} (--json has all)")


def _table(columns: Sequence[_Shown], rows: Sequence[dict[str, Any]]) -> Table:
    from ackclock.text.table import Column, Table

    table = Table(*(Column(column.heading, right=column.factor is not None) for column in columns))
    for row in rows[:_MAX_ROWS]:
        table.add_row(*(column.text(row) for column in columns))
    return table


def _scaled(value: float | None, factor: float, digits: int) -> str:
    return "-" if value is None else f"{factor * value:.{digits}f}"
