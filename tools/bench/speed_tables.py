"""The tables of `speed.py`, for a terminal and for a page."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import ackclock.text.table
from backends import Measurement
from measured import Report, Row, digits, ratio, spread
from workloads import SENDERS, parts

BACKENDS = ("ackclock", "ns-2", "ns-3")
MARKED = re.compile(r"(<!-- speed -->\n).*?(<!-- end of speed -->)", re.DOTALL)


@dataclass(frozen=True)
class Table:
    """Headings and rows of text."""

    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def for_terminal(self) -> ackclock.text.table.Table:
        """With a line under the headings."""
        name, *figures = self.headings
        columns = (ackclock.text.table.Column(heading, right=True) for heading in figures)
        table = ackclock.text.table.Table(name, *columns, title=self.title)
        for row in self.rows:
            table.add_row(*row)
        return table

    def for_page(self) -> str:
        """In Markdown."""
        lines = [self.headings, ("---",) * len(self.headings), *self.rows]
        return f"{self.title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def tables(report: Report) -> list[Table]:
    """All tables of a report that have rows."""
    found = [speeds(report), senders(report), costs(report), singles(report)]
    return [table for table in found if table.rows]


def speeds(report: Report) -> Table:
    """Packets per CPU second, and ratios."""
    rows = []
    for row in standard(report):
        ours = row.speeds("ackclock")
        cells = [_name(row), spread(row.speeds("ackclock", 1e6))]
        for rival, unit, figures in (("ns-2", 1e6, 3), ("ns-3", 1e3, 2)):
            cells.append(row.not_run.get(rival) or spread(row.speeds(rival, unit), figures))
            cells.append(ratio(ours, row.speeds(rival)))
        rows.append(tuple(cells))
    return Table(
        f"Packets per CPU second: median and range, rounds: {report.rounds}. M are millions, k thousands",
        ("workload", "ackclock, M", "ns-2, M", "times", "ns-3, k", "times"),
        rows,
    )


def senders(report: Report) -> Table:
    """Packets per CPU second of the senders that people run by default."""
    found: dict[str, dict[str | None, str]] = {}
    for row in report.rows:
        workload, sender = parts(row.workload)
        speed = spread(row.speeds("ackclock", 1e6))
        found.setdefault(_name(replace(row, workload=workload)), {})[sender] = speed
    rows = [
        (name, *(speeds.get(sender, "-") for sender in (None, *SENDERS)))
        for name, speeds in found.items()
        if set(SENDERS) & set(speeds)
    ]
    return Table(
        "Other senders: packets per CPU second in millions, median and range",
        ("workload", "standard", *SENDERS),
        rows,
    )


def standard(report: Report) -> list[Row]:
    """The rows of senders that ns-2 and ns-3 have as well."""
    return [row for row in report.rows if parts(row.workload)[1] is None]


def costs(report: Report) -> Table:
    """Return the other costs of a run, as medians."""
    rows = []
    for row in standard(report):
        packets = row.median("ackclock", lambda run: 1e-6 * run.packets)
        wall_s = row.median("ackclock", lambda run: run.wall_s)
        rows.append(
            (
                _name(row),
                _of_all(row, lambda run: run.simulated_s, "g"),
                _cell(packets),
                _cell(_events_per_packet(row)),
                _cell(wall_s),
                _of_all(row, lambda run: run.peak_mib, ".0f"),
                _of_all(row, lambda run: 1e3 * run.setup_cpu_s, ".0f"),
            )
        )
    return Table(
        "Medians. Time, size and initialisation are of ackclock/ns-2/ns-3, other columns of ackclock",
        ("workload", "time, s", "packets, M", "events", "wall, s", "size, MiB", "initialisation, ms"),
        rows,
    )


def singles(report: Report) -> Table:
    """Figures that belong to no workload."""
    rows = [
        (single.name, single.unit, *(spread(single.values.get(name, ())) for name in BACKENDS[:2]))
        for single in report.singles
    ]
    return Table("Other figures", ("quantity", "unit", "ackclock", "ns-2"), rows)


def _name(row: Row) -> str:
    return row.workload if row.topology == "routers" else f"{row.workload} {row.topology}"


def _of_all(row: Row, of: Callable[[Measurement], float], form: str) -> str:
    medians = (row.median(name, of) for name in BACKENDS)
    return "/".join("-" if value is None else format(value, form) for value in medians)


def _events_per_packet(row: Row) -> float | None:
    run = next(iter(row.runs.get("ackclock", ())), None)
    return None if run is None or run.events is None else run.events / run.packets


def _cell(value: float | None) -> str:
    return "-" if value is None else digits(value)


def write(page: Path, report: Report) -> None:
    """Renew the tables of a page, between its marks."""
    shown = f"On {report.machine}.\n\n" + "\n".join(table.for_page() for table in tables(report))
    text = page.read_text(encoding="utf-8")
    page.write_text(MARKED.sub(lambda found: f"{found[1]}\n{shown}\n{found[2]}", text), encoding="utf-8")
