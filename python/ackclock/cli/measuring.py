"""`ackclock compare-capture` with the file of a tool that measures: iperf3, ss, Flent, or a qlog."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ackclock.captures import formats, proposal
from ackclock.captures.differences import MEASURED_ROWS, differences
from ackclock.captures.measured import Measured
from ackclock.captures.replay import with_sender
from ackclock.cli.capturing import write_capture
from ackclock.cli.console import emit, say, show, talk, warn
from ackclock.files.documents import as_toml_file
from ackclock.metrics.frames import samples_frame
from ackclock.running.reach import require_reached
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.scenario import Scenario
from ackclock.text.table import Column, Table

#: The reason for a changed key without effect.
REPLACED = "the replay or an option replaces it"


class Wanted(NamedTuple):
    """The options of the command."""

    file: str
    scenario: str | None
    profile: str | None
    cc: str | None
    flow: str | None
    sets: tuple[str, ...]
    seed: int | None
    as_json: bool
    out: str
    propose: str | None


class Replayed(NamedTuple):
    """A scenario that was run, and its figures."""

    scenario: Scenario
    measured: Measured


def compare(wanted: Wanted) -> None:
    """Print a measured transfer and its replay. Raises `InputError`, `ArgumentError` or `RunError`."""
    found = formats.read(Path(wanted.file), wanted.flow)
    measured = found.measured
    if wanted.flow is None and len(found.names) > 1:
        listed = ", ".join(f"{number} ({name})" for number, name in enumerate(found.names[:8], 1))
        talk(
            f"{wanted.file}: the largest of {len(found.names)} transfers; --flow takes another one: {listed}"
        )
    told = [f"measured by {measured.tool}", *measured.remarks]
    if wanted.scenario is None:
        replayed, said = _estimated(measured, wanted)
        told += said
    else:
        replayed = _over(wanted.scenario, measured, wanted)
        told.append(f"path and sender of {wanted.scenario}; the replay loses what its queues and links lose")
    if (part := replayed.measured.duration_s) < 0.99 * measured.duration_s:
        told.append(
            f"the replay is of {part:.3g} of {measured.duration_s:.3g} s: counts are scaled to the transfer"
        )
    before, after = measured.figures(), _scaled(replayed.measured, measured)
    rows = differences(before, after, MEASURED_ROWS)
    if wanted.propose is not None:
        write_proposal(Path(wanted.propose), replayed.scenario.written, [*told[1:], *errors(rows)])
    if wanted.as_json:
        emit(json.dumps(_document(measured, told, replayed.scenario, before, after, rows), indent=2))
    else:
        _show(measured, told, rows)
    from ackclock.page.comparison import draw

    (sender,) = json.loads(replayed.scenario.resolved_json)["flows"]
    title = f"{Path(wanted.file).name} and its replay by {sender['cc']['kind']}, profile {sender['profile']}"
    drawn = draw(
        measured.drawn(), replayed.measured.drawn(), title, window="Congestion window", name="measured"
    )
    write_capture(Path(wanted.out), drawn.encode(), "drawing")


def _estimated(measured: Measured, wanted: Wanted) -> tuple[Replayed, list[str]]:
    """Run the estimated scenario without random loss and with the measured loss, and keep the closer one."""
    path = proposal.estimate(measured)
    cc, said = proposal.algorithm(measured)
    tried = []
    for loss in (0.0, path.loss) if path.loss else (0.0,):
        tree = proposal.scenario(measured, path, cc, loss, "proposed")
        read = partial(Scenario.from_dict, tree, source="the estimated path")
        scenario = _with_options(read, lambda base: with_sender(base, wanted.cc, wanted.profile), wanted)
        tried.append((Replayed(scenario, _run(scenario, measured, wanted.seed)), loss))
    best, loss = min(tried, key=lambda each: _distance(measured, each[0].measured))
    warn(best.scenario.warnings)
    source = "the share of retransmitted packets" if loss else "the buffer alone loses about as much"
    again = measured.retransmissions
    told = (
        f"random loss {loss:.3g}: {source}"
        if again is not None
        else "random loss 0: the file does not report retransmissions"
    )
    return best, [*([] if wanted.cc else said), *path.said, told]


def _over(file: str, measured: Measured, wanted: Wanted) -> Replayed:
    """Run the scenario of a file for as long as the transfer took."""

    def replay(base: Scenario) -> Scenario:
        tree = json.loads(with_sender(base, wanted.cc, wanted.profile).resolved_json)
        tree |= {"duration": f"{max(measured.duration_s, 0.001) * 1e3:.3f} ms", "warmup": "0 s"}
        return Scenario.from_dict(tree, source=f"the replay of {base.name}")

    scenario = _with_options(partial(Scenario.from_file, file), replay, wanted)
    warn(scenario.warnings)
    return Replayed(scenario, _run(scenario, measured, wanted.seed))


def _with_options(
    read: Callable[[Sequence[str]], Scenario], replay: Callable[[Scenario], Scenario], wanted: Wanted
) -> Scenario:
    """Return the replay of a scenario with changed keys. Raises `ScenarioError` if the replay undoes one."""
    require_reached(wanted.sets, read, lambda scenario: [replay(scenario)], REPLACED)
    return replay(read(wanted.sets))


def _run(scenario: Scenario, measured: Measured, seed: int | None) -> Measured:
    with Store(None) as store:
        (outcome,) = run_study(Study.of(scenario, seed=seed, samples=True), store, workers=1)
    result = json.loads(outcome.result_json)
    (flow,) = result["flows"]
    (sender,) = json.loads(scenario.resolved_json)["flows"]
    mss = proposal.bytes_of(sender["mss"])
    samples = samples_frame(outcome.flow_samples)
    times = [1e-9 * time for time in samples["time_ns"]]
    return Measured(
        tool="replay",
        name=flow["name"],
        duration_s=result["duration_s"],
        goodput_bps=flow["goodput_bps"],
        retransmissions=flow["retransmits"],
        segments=flow["sent"],
        mss=mss,
        quic=measured.quic,
        least_rtt_s=flow["rtt_min_s"],
        rtt=[(at, 1e-9 * rtt) for at, rtt in zip(times, samples["srtt_ns"], strict=True) if rtt],
        window=[(at, cwnd * mss) for at, cwnd in zip(times, samples["cwnd_segments"], strict=True)],
    )


def _scaled(replayed: Measured, measured: Measured) -> dict[str, float | int | None]:
    """Return the figures of a replay with counts for as long as the transfer took."""
    figures = replayed.figures()
    factor = measured.duration_s / replayed.duration_s if replayed.duration_s else 1.0
    for key in ("segments", "retransmissions"):
        value = figures[key]
        figures[key] = None if value is None else value * factor
    return figures


def _distance(measured: Measured, replayed: Measured) -> float:
    """Return how far a replay is off in goodput, mean RTT and retransmissions, as logarithms of ratios."""
    before, after = measured.figures(), _scaled(replayed, measured)

    def off(key: str, least: float) -> float:
        return abs(math.log(((after[key] or 0) + least) / ((before[key] or 0) + least)))

    # Counts of retransmissions scatter more than means.
    return off("goodput_bps", 1.0) + off("rtt_mean_s", 1e-6) + 0.25 * off("retransmissions", 1.0)


def errors(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each figure that the replay of the proposal misses or meets."""
    parts = [
        f"{row['metric']} {row['relative']:+.1%}"
        for row in rows
        if row["relative"] is not None and row["capture"]
    ]
    return [f"error of the proposal, its replay against the measurement: {', '.join(parts)}"]


def write_proposal(path: Path, tree: Mapping[str, Any], told: Sequence[str]) -> None:
    """Write a scenario with sentences in front of it. Raises `StoreError`."""
    head = "".join(f"# {line}\n" for line in ("A proposal, estimated from a measurement.", *told))
    write_capture(path, (head + as_toml_file(tree)).encode(), "proposed scenario")


def _document(
    measured: Measured,
    told: Sequence[str],
    scenario: Scenario,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    return {
        "measured": {"tool": measured.tool, "name": measured.name, "cc": measured.cc, **before},
        "remarks": list(told),
        "differences": list(rows),
        "replay": dict(after),
        "scenario": json.loads(scenario.resolved_json),
    }


def _show(measured: Measured, told: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    heads = [Column(name, right=True) for name in ("measured", "replay", "difference")]
    table = Table(
        "metric", *heads, "unit", title=f"{measured.name}: measured by {measured.tool}, and its replay"
    )
    for row, each in zip(rows, MEASURED_ROWS, strict=True):
        cells = ["-" if row[key] is None else f"{row[key]:.{each.digits}f}" for key in ("capture", "replay")]
        shift = "-" if row["difference"] is None else f"{row['difference']:+.{each.digits}f}"
        part = "" if row["relative"] is None else f" ({row['relative']:+.1%})"
        table.add_row(each.label, *cells, shift + part, each.unit)
    show(table)
    for line in told:
        say(f"- {line}")
