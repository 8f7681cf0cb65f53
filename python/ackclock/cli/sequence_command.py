"""`ackclock sequence`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ackclock.captures.observed import CaptureFile, is_capture
from ackclock.cli.capturing import SENDER, check_flows, check_target, write_capture
from ackclock.cli.console import talk, warn
from ackclock.cli.options import check_seed, file_argument, seed_option, set_option
from ackclock.errors import ArgumentValueError, InputError
from ackclock.running.job import Capture
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.scenario import Scenario

_NS = 1_000_000_000
#: Panels of a drawing.
_MOST = 8
#: Segments of a drawing of a capture.
_MOST_SEGMENTS = 300_000


@click.command("sequence")
@file_argument
@seed_option
@set_option
@click.option(
    "--flows",
    metavar="NAME,...",
    help="Flows or groups to draw, all by default. For a capture, the number or an end of a connection.",
)
@click.option("--from", "from_s", type=float, default=0.0, metavar="SECONDS", help="Beginning of the plot.")
@click.option("--to", "to_s", type=float, metavar="SECONDS", help="End of the plot. Default: the run's.")
@click.option("--out", default="sequence.svg", show_default=True, metavar="FILE", help="File for the plot.")
def command(
    file: str,
    seed: int | None,
    sets: tuple[str, ...],
    flows: str | None,
    from_s: float,
    to_s: float | None,
    out: str,
) -> None:
    """Draw time-sequence plots: all connections of the scenario FILE, or one of the capture FILE.

    A plot shows data, retransmissions and losses as they leave the sender. It shows ACKs and SACK blocks as
    they arrive, and the last byte that the window lets the sender send. For a capture (pcap or pcapng) it
    shows the packets at its place, without losses and the congestion window.
    """
    if is_capture(Path(file)):
        if seed is not None or sets:
            raise InputError(f"{file} is a capture: --seed and --set apply to scenarios only")
        _draw_capture(Path(file), flows, from_s, to_s, Path(out))
        return
    check_seed(sets, None if seed is None else "--seed")
    scenario = Scenario.from_file(file, sets)
    warn(scenario.warnings)
    check_target(Path(out), "--out")
    names = check_flows(scenario, SENDER, flows)
    within = _within(from_s, to_s)
    study = Study.of(scenario, seed=seed, samples=False, capture=Capture(SENDER, names, sequence_ns=within))
    with Store(None) as store:
        (outcome,) = run_study(study, store, workers=1)
    assert outcome.sequences_json is not None, "plots were asked for"
    plots = json.loads(outcome.sequences_json)
    if not plots:
        raise InputError("these flows sent nothing in this time; check --flows, --from and --to")
    if len(plots) > _MOST:
        warn([f"the first {_MOST} of {len(plots)} connections are drawn; --flows chooses others"])
    from ackclock.page.sequence import draw

    end = json.loads(outcome.result_json)["duration_s"] if to_s is None else to_s
    drawing = draw(plots[:_MOST], from_s, end, f"time-sequence plots of {scenario.name}")
    write_capture(Path(out), drawing.encode(), "time-sequence plot")


def _draw_capture(file: Path, flow: str | None, from_s: float, to_s: float | None, out: Path) -> None:
    """Draw a connection of a capture."""
    check_target(out, "--out")
    within = _within(from_s, to_s)
    capture = CaptureFile.from_file(file)
    chosen = capture.choose(flow, option="flows")
    for line in capture.left_out:
        talk(f"{file}: {line}")
    if flow is None and len(capture.connections) > 1:
        count = len(capture.connections)
        talk(f"{file}: the largest of {count} connections; --flows selects another one: {capture.listed()}")
    plot = capture.sequence(chosen, *within)
    if not plot["data"]:
        raise InputError("no data in this time; check --flows, --from and --to")
    if len(plot["data"]) > _MOST_SEGMENTS:
        raise InputError(
            f"{file}: {len(plot['data'])} segments are too many for a drawing (at most {_MOST_SEGMENTS}); "
            "choose a shorter time with --from and --to"
        )
    from ackclock.page.sequence import draw

    end = chosen.duration_s if to_s is None else to_s
    drawing = draw([plot], from_s, end, f"time-sequence plot of {file.name}")
    write_capture(out, drawing.encode(), "time-sequence plot")


def _within(from_s: float, to_s: float | None) -> tuple[int, int]:
    """Return the time in nanoseconds."""
    if not 0 <= from_s < 2**63 / _NS:
        raise ArgumentValueError("from", f"must be a time from 0 on, not {from_s:g}")
    if to_s is None:
        return round(from_s * _NS), 2**64 - 1
    if not from_s < to_s < 2**63 / _NS:
        raise ArgumentValueError("to", f"must be a time after --from, not {to_s:g}")
    return round(from_s * _NS), round(to_s * _NS)
