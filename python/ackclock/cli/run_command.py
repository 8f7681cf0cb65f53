"""`ackclock run`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ackclock.cli.capturing import Wanted, pcap_options
from ackclock.cli.comparing import (
    LEAST_EVENTS,
    Side,
    comparison,
    comparison_table,
    differences,
    is_too_few,
    windows,
)
from ackclock.cli.console import emit, say, show, show_widest, talk, warn
from ackclock.cli.emulating import (
    MODEL,
    chosen,
    emulation_options,
    fidelity_table,
    kernel_line,
    names_of,
    programs_of,
    tell_faults,
    tell_kernels_keys,
)
from ackclock.cli.options import check_seed, json_option, metric_option, seed_option, set_option
from ackclock.cli.plotting import check_picture, write_picture
from ackclock.cli.shorthand import Shorthand, optional_file, shorthand_options
from ackclock.errors import ArgumentValueError, InputError, writing_error
from ackclock.files.writing import write_whole
from ackclock.metrics.declared import METRICS, Metric
from ackclock.metrics.frames import samples_frame
from ackclock.metrics.shares import groups_of, shares_of
from ackclock.metrics.summary import DIGITS, HEADLINE, SUMMARY, cells, coverage
from ackclock.running.backend import faults, prepare
from ackclock.running.cells import Found, find
from ackclock.running.job import KERNEL, LINUX, Outcome, kind_of
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.scenario import Scenario
from ackclock.studies.named import every_named
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
    help="Run a cell of this report again. FILE is then the name of the cell, such as slow-1/cubic. "
    "slow-1/cubic#3 is its replicate 3.",
)
@seed_option
@set_option
@json_option
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help=f"Print every metric with {DIGITS} decimals. Default: the headline metrics, 3 significant digits.",
)
@metric_option
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
    help="Draw window, RTT, goodput and queue over time, into a file (.svg, .png) or the terminal (term). "
    "For several backends, overlay their windows.",
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
    kernels: tuple[str, ...],
    command: str | None,
    shell: bool,
    serve: str | None,
    everything: bool,
    metrics: tuple[str, ...],
    **others: Any,
) -> int:
    """Run the scenario FILE once and print its metrics.

    Without FILE the scenario is one bottleneck with the flows of --flows. The options --rate, --trace, --rtt,
    --queue, --limit and --loss describe it, and --save writes it to a file.

    \b
    --out             writes the result (summary.json), the resolved scenario
                      (scenario.json) and samples over time (samples/*.parquet)
    --pcap            writes packets for Wireshark and tshark
    --qlog            writes events of senders for qvis
    --backend linux   runs in real time, and marks a run that missed its
                      deadlines as not valid
    --backend kernel  runs a built kernel in virtual time, which gives the same
                      result each time
    --kernel          selects a kernel, and several kernels are compared
    --backend model   computes the synchronous model of the scenario, and names
                      the features that it leaves out
    --from            runs a cell of a report again, and writes its scenario
                      into the folder scenarios of the report
    """
    chosen_backends = chosen(backends, kernels, command is not None or shell)
    for backend in chosen_backends:
        prepare(backend)
    check_seed(sets, "--seed" if seed is not None else "--from" if report is not None else None)
    if everything and metrics:
        raise click.UsageError("--all prints every metric; leave --metric out")
    shorthand = Shorthand(*map(others.pop, Shorthand._fields))
    if report is None:
        scenario, replicates = shorthand.scenario(file, sets), 1
    else:
        cell = _cell_of(report, file, sets, shorthand)
        scenario, replicates = cell.scenario, cell.replicate + 1
        seed = cell.seed if seed is None else seed
    named = _named(metrics, scenario)
    warn(scenario.warnings)
    for backend in dict.fromkeys(map(kind_of, chosen_backends)):
        if backend in (LINUX, KERNEL):
            tell_kernels_keys(scenario, backend)
    wanted = Wanted(**others)
    capture = wanted.wanted(scenario)
    scenario, programs = programs_of(scenario, scenario.groups, command, shell, serve)
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
                    replicates=replicates,
                    samples=samples,
                    capture=capture,
                    backend=backend,
                    programs=programs,
                )
            ]
        }
        names = names_of(chosen_backends)
        sides = [_side(name, scenario, done.get(backend), named) for backend, name in names.items()]
        documents = [side.document for side in sides]
        document = _completed(documents[0], named) if len(documents) == 1 else comparison(sides)
        if out is not None:
            store.write_file("summary.json", json.dumps(document, indent=2) + "\n")
            store.write_file("scenario.json", json.dumps(json.loads(scenario.resolved_json), indent=2) + "\n")
    if csv_folder is not None:
        for backend, outcome in done.items():
            folder = Path(csv_folder)
            _write_csv(folder if len(documents) == 1 else folder / names[backend], outcome)
    if picture is not None:
        write_picture(picture, _drawing(sides, done))
    for run in documents:
        tell_faults(run)
        if "model" in run:
            talk(f"the model leaves out: {'; '.join(run['model']['left_out'])}")
        warn(_refused(group) for group in run.get("transfers", ()) if group["refused"])
    if as_json:
        emit(json.dumps(document, indent=2))
    elif len(documents) > 1:
        show(comparison_table(sides))
        if any(is_too_few(sides, row) for row in differences(sides)):
            say(f"too few: fewer than {LEAST_EVENTS} events, whose relative difference is noise")
    else:
        _show(document, scenario, everything, named)
    if out is not None:
        talk(f"kept in {out}")
    # Last, so that a full disk loses nothing else.
    for outcome in list(done.values())[:1]:
        wanted.write(outcome)
    program_exit = documents[0].get("emulation", {}).get("program_exit")
    return int(program_exit or 0)


def _named(names: Sequence[str], scenario: Scenario) -> tuple[Metric, ...]:
    """Return the metrics of `--metric`. Raises `ArgumentValueError`."""
    try:
        return every_named(names, scenario.groups)
    except InputError as error:
        raise ArgumentValueError("metric", str(error)) from None


def _completed(document: dict[str, Any], named: Sequence[Metric]) -> dict[str, Any]:
    """Return the result of a run with its groups of flows, where there are several, and named metrics."""
    groups, values = groups_of(document), {metric.name: metric.of(document) for metric in named}
    return {
        **document,
        **({"groups": groups} if len(groups) > 1 else {}),
        **({"metrics": values} if values else {}),
    }


def _last(study: Study) -> Study:
    """Return only its last replicate. Without random inputs there is only one."""
    return Study(study.jobs[-1:])


def _cell_of(report: str, name: str | None, sets: Sequence[str], shorthand: Shorthand) -> Found:
    """Return the run of a cell of a report, print its title, and write its scenario to `--save`."""
    shorthand.check(f"--from {report}")
    if name is None:
        raise InputError(f"--from {report}: name a cell, such as: ackclock run --from {report} slow-1/cubic")
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


def _side(name: str, scenario: Scenario, outcome: Outcome | None, named: tuple[Metric, ...]) -> Side:
    """Return the result of a backend, or of the model if there was no run."""
    metrics = named or SUMMARY
    warmup_s = scenario.describe(0)["warmup_s"]
    if outcome is None:
        from ackclock.synchronous.modelled import modelled

        model = modelled(scenario)
        return Side(name, model.document, model.windows, warmup_s, metrics)
    windows: dict[str, list[tuple[float, float]]] = {}
    if outcome.flow_samples is not None:
        frame = samples_frame(outcome.flow_samples)
        for time_ns, flow, window in frame.select("time_ns", "flow", "cwnd_segments").iter_rows():
            windows.setdefault(flow, []).append((1e-9 * time_ns, window))
    return Side(name, json.loads(outcome.result_json), windows, warmup_s, metrics)


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
        f"{group['group']}: {group['refused']} of {arrived} transfers found no free slot "
        f"of {group['flows']} and were refused; a larger flows.{group['group']}.count admits them"
    )


class _Shown(NamedTuple):
    """A column of a table: its key, heading and number format."""

    key: str
    heading: str
    #: From the value to the unit of the heading. None for names.
    factor: float | None = 1
    digits: int = 0
    #: Whether the column is left out where no row has a value.
    optional: bool = False
    #: If a table is too wide, columns with the highest number are left out first.
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
#: Reasons for drops and marks. Each queue declares and counts its own.
_REASONS = tuple(
    _metric("links", key, optional=True)
    for key in METRICS["links"]
    if key.endswith(("_drops", "_marks")) and key != "in_profile_drops"
)
#: Events after the transmitter, which only impaired links count.
_IMPAIRMENTS = (
    _metric("links", "losses"),
    _metric("links", "duplicates"),
    _metric("links", "corruptions"),
    _metric("links", "reordered"),
)
#: Transmissions of the stations of a channel.
_ATTEMPTS = (
    _metric("links", "forwarded"),
    _metric("links", "attempts"),
    _metric("links", "failed_attempts"),
    _metric("links", "losses"),
)
#: Rows shown. `--json` prints all.
_MAX_ROWS = 20


#: Shares of the queueing delay at the bottleneck, and delays, below which a note names the other queues.
_LEAST_SHARE, _LEAST_DELAY_S = 0.5, 1e-3


def _notes(document: Mapping[str, Any], everything: bool) -> Iterator[str]:
    """Give explanations of figures that would surprise: above 100 %, or not of the bottleneck."""
    summary = document["summary"]
    if everything and (summary["delivery_ratio"] or 0) > 1:
        yield "delivery ratio above 100 %: data received out of order in the warm-up was delivered after it"
    if (summary["utilization"] or 0) > 1:
        yield "utilization above 100 %: a packet that the link began to send in the warm-up counts in full"
    whole, at_bottleneck = summary["queue_delay_mean_s"], summary["bottleneck_queue_delay_mean_s"]
    if not whole or at_bottleneck is None or whole < _LEAST_DELAY_S or at_bottleneck >= _LEAST_SHARE * whole:
        return
    drops = sum(flow.get("access_drops") or 0 for flow in document["flows"])
    lost = f", and {drops} segments were dropped at access links" if drops else ""
    yield f"{100 * (1 - at_bottleneck / whole):.0f} % of the queueing delay is not at the bottleneck{lost}"


def _recoveries(scenario: Scenario) -> dict[str, str]:
    """Return the loss recovery of groups whose senders use more than the scoreboard."""
    return {
        flow["name"]: f"{flow['recovery']}+rack"
        for flow in json.loads(scenario.resolved_json)["flows"]
        if flow.get("rack") and flow.get("recovery") == "sack"
    }


def _summary(document: dict[str, Any], everything: bool, named: Sequence[Metric]) -> Table:
    """Return a table of the named metrics, or of the headline or all metrics and the shares of groups."""
    from ackclock.text.table import Column, Table

    title = f"{document['scenario']}: {coverage(document)}"
    table = Table("metric", Column("value", right=True), "unit", title=title)
    digits = DIGITS if everything else None
    for metric in named or (*(SUMMARY if everything else HEADLINE), *shares_of(document)):
        value = metric.of(document)
        # The reasons for missing values describe runs and not the model, and shares have none.
        if value is not None or named or ("model" not in document and metric in SUMMARY):
            table.add_row(*cells(metric, value, digits))
    return table


def _show(document: dict[str, Any], scenario: Scenario, everything: bool, named: Sequence[Metric]) -> None:
    show(_summary(document, everything, named))
    recoveries = _recoveries(scenario)
    flows = [
        {**flow, "recovery": recoveries.get(flow["group"], flow["recovery"])} if "recovery" in flow else flow
        for flow in document["flows"]
    ]
    _show_rows(_FLOW_COLUMNS, flows, "flows")
    _show_rows(_TRANSFER_COLUMNS, document.get("transfers", ()), "groups")
    _show_rows(_DATAGRAM_COLUMNS, document.get("datagrams", ()), "rows")
    _show_rows(_METER_COLUMNS, document.get("meters", ()), "meters")
    _show_rows(_LINK_COLUMNS, document["links"], "links")
    reasons = {column.key for column in _REASONS}
    with_reasons = [link for link in document["links"] if reasons & link.keys()]
    _show_rows((_NAME_OF_LINK, *_REASONS), with_reasons, "links")
    for columns in (_IMPAIRMENTS, _ATTEMPTS):
        counting = [link for link in document["links"] if all(key in link for key, *_ in columns)]
        _show_rows((_NAME_OF_LINK, *columns), counting, "links")
    if document["backend"] == KERNEL:
        talk(kernel_line(document))
        return
    if "emulation" in document:
        show(fidelity_table(document["emulation"]))
        return
    if "model" in document:
        return
    for note in _notes(document, everything):
        talk(f"note: {note}")
    randomness = (
        f"seed {document['seed']}"
        if scenario.is_random
        else "nothing is random; every run gives the same result"
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
    # From all columns down to the columns that every table contains.
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
