"""`ackclock compare-capture`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from ackclock.captures.differences import ROWS, differences
from ackclock.captures.formats import is_measurement
from ackclock.captures.observed import CaptureFile, Connection, remarks
from ackclock.captures.replay import estimated, replay, with_sender
from ackclock.cli.capturing import SENDER, check_target, write_capture
from ackclock.cli.console import emit, say, show, talk, warn
from ackclock.cli.measuring import REPLACED, Wanted, compare, errors, write_proposal
from ackclock.cli.options import check_seed, file_argument, json_option, seed_option, set_option
from ackclock.running.job import Capture
from ackclock.running.reach import require_reached
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.scenario import Scenario

#: Headers and every option fit.
_SNAPLEN = 128
#: Of captures with several connections, those that are listed without --flow.
_FEW = 1


@click.command("compare-capture")
@file_argument
@click.option(
    "--scenario",
    "scenario_file",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Path and sender of the replay, one flow. Default: linux and cubic over an estimated path.",
)
@click.option("--profile", metavar="NAME", help="Profile of the sender: rfc, ns-2, linux or quic.")
@click.option("--cc", metavar="ALGORITHM", help="Algorithm of the sender, as flows.NAME.cc takes it.")
@click.option("--flow", metavar="NUMBER|ADDRESS:PORT", help="Connection. Default: the one with most data.")
@click.option(
    "--losses",
    type=click.Choice(["capture", "scenario"]),
    default="capture",
    show_default=True,
    help="Source of losses: the capture, by position, or the queues and links of the scenario.",
)
@set_option
@seed_option
@json_option
@click.option(
    "--propose",
    metavar="FILE",
    help="Write the estimated scenario with its error into this file (TOML).",
)
@click.option("--out", default="capture.svg", show_default=True, metavar="FILE", help="File for the drawing.")
def command(
    file: str,
    scenario_file: str | None,
    profile: str | None,
    cc: str | None,
    flow: str | None,
    losses: str,
    sets: tuple[str, ...],
    seed: int | None,
    as_json: bool,
    propose: str | None,
    out: str,
) -> None:
    """Compare a bulk transfer in FILE with a replay of it.

    FILE is a capture (pcap or pcapng, also compressed by gzip) or a measurement. Measurements are
    outputs of iperf3 --json and ss -tin, data files of Flent, and qlogs of QUIC stacks.

    Data in flight, RTTs and losses of the captured sender come from its packets, which do not contain its
    window. The replay sends over the path of the scenario and loses the same transmissions, by their numbers.
    The plot shows both over each other.
    """
    check_target(Path(out), "--out")
    check_seed(sets, None if seed is None else "--seed")
    if propose is not None:
        check_target(Path(propose), "--propose")
        if scenario_file is not None:
            raise click.UsageError("--propose writes the estimated scenario; leave --scenario out")
    if is_measurement(Path(file)):
        return compare(Wanted(file, scenario_file, profile, cc, flow, sets, seed, as_json, out, propose))
    capture = CaptureFile.from_file(Path(file))
    chosen = capture.choose(flow)
    for line in capture.left_out:
        talk(f"{file}: {line}")
    if flow is None and len(capture.connections) > _FEW:
        count = len(capture.connections)
        talk(f"{file}: the largest of {count} connections; --flow takes another one: {capture.listed()}")
    observed = capture.observe(chosen)
    read, path = _reader(scenario_file, observed, chosen)
    own_losses = [losses == "scenario", *([] if propose is None else [True])]

    def replays(scenario: Scenario) -> Iterator[Scenario]:
        sender = with_sender(scenario, cc, profile)
        return (replay(sender, observed, own_losses=each) for each in own_losses)

    require_reached(sets, read, replays, REPLACED)
    base = with_sender(read(sets), cc, profile)
    warn(base.warnings)
    told = [*remarks(observed), path]
    again = replay(base, observed, own_losses=own_losses[0])
    if losses == "capture":
        told.append(
            f"{observed['lost']} transmissions are lost by position; queues of the replay drop nothing"
        )
    replayed = _run(again, seed)
    rows = differences(observed, replayed)
    if propose is not None:
        _propose(Path(propose), base, observed, told, seed)
    if as_json:
        emit(json.dumps(_document(chosen, told, again, observed, replayed, rows), indent=2))
    else:
        _show(chosen, told, rows)
    from ackclock.page.comparison import draw

    (sender,) = json.loads(again.resolved_json)["flows"]
    title = f"{Path(file).name} and its replay by {sender['cc']['kind']}, profile {sender['profile']}"
    write_capture(Path(out), draw(observed, replayed, title).encode(), "drawing")


def _reader(
    file: str | None, observed: dict[str, Any], flow: Connection
) -> tuple[Callable[[Sequence[str]], Scenario], str]:
    """Return the function that reads the scenario of the replay with changed keys, and a remark on it."""
    if file is not None:
        remark = f"path and sender of {file}, with segments of {observed['mss']} B"
        return partial(Scenario.from_file, file), remark
    tree, remark = estimated(observed, flow.ipv6)
    return partial(Scenario.from_dict, tree, source="the estimated path"), remark


def _propose(path: Path, base: Scenario, observed: dict[str, Any], told: list[str], seed: int | None) -> None:
    """Write the estimated scenario, whose queue loses packets, with its error."""
    again = replay(base, observed, own_losses=True)
    rows = differences(observed, _run(again, seed))
    write_proposal(path, json.loads(again.resolved_json), [*told, *errors(rows)])


def _run(scenario: Scenario, seed: int | None) -> dict[str, Any]:
    """Run a replay, and return its packets in the form of a capture."""
    study = Study.of(scenario, seed=seed, samples=False, capture=Capture(SENDER, (), snaplen=_SNAPLEN))
    with Store(None) as store:
        (outcome,) = run_study(study, store, workers=1)
    assert outcome.pcapng is not None, "packets were asked for"
    packets = CaptureFile.from_bytes(outcome.pcapng, "the replay")
    return packets.observe(packets.choose(None))


def _document(
    flow: Connection,
    told: list[str],
    scenario: Scenario,
    observed: dict[str, Any],
    replayed: dict[str, Any],
    rows: list[dict[str, Any]],
) -> dict[str, Any]:
    return {
        "connection": flow.__dict__,
        "remarks": told,
        "differences": rows,
        "capture": observed,
        "replay": replayed,
        "scenario": json.loads(scenario.resolved_json),
    }


def _show(flow: Connection, told: list[str], rows: list[dict[str, Any]]) -> None:
    from ackclock.text.table import Column, Table

    heads = [Column(name, right=True) for name in ("capture", "replay", "difference")]
    table = Table("metric", *heads, "unit", title=f"{flow.name}: the capture and its replay")
    for row, each in zip(rows, ROWS, strict=True):
        cells = ["-" if row[key] is None else f"{row[key]:.{each.digits}f}" for key in ("capture", "replay")]
        shift = "-" if row["difference"] is None else f"{row['difference']:+.{each.digits}f}"
        part = "" if row["relative"] is None else f" ({row['relative']:+.1%})"
        table.add_row(each.label, *cells, shift + part, each.unit)
    show(table)
    for line in told:
        say(f"- {line}")
    say("- packets do not contain the window: in flight are data that were sent and not acknowledged")
