"""Writes the page of a coexistence matrix, its data, and the cells that can be rerun."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.coexistence.matrix import Coexistence, Pair
from ackclock.coexistence.networks import LEAST_DEPTHS, series
from ackclock.files.writing import keeping_runs, write_whole
from ackclock.page import render
from ackclock.page.lines import Axes, Line, lines
from ackclock.page.notebook import alone, drawer
from ackclock.page.plots import Plot
from ackclock.running.backend import title as backend_title
from ackclock.running.cells import command as cell_command
from ackclock.running.cells import write_cells
from ackclock.statistics.estimates import CONFIDENCE, Estimate, estimate_json

PAGE, DATA = "coexist.html", "coexist.json"
_SCHEMA = 1
_TEMPLATES = Path(__file__).parent / "templates"


def write_report(found: Coexistence, folder: Path, *, command: str) -> Path:
    """Write page, data and cells into the folder of the runs, and return the path of the page."""
    path = folder / PAGE
    with keeping_runs(path):
        write_cells(folder, found.cells)
        write_whole(folder / DATA, (json.dumps(document(found), indent=2) + "\n").encode())
        write_whole(path, page(found, folder, command).encode())
    return path


def document(found: Coexistence) -> dict[str, Any]:
    """Return everything as JSON. Units are in the names."""
    return {
        "schema": _SCHEMA,
        "build": _core.BUILD,
        "seed": found.seed,
        "replicates": found.replicates,
        "sets": list(found.sets),
        "backend": found.backend,
        "confidence": CONFIDENCE,
        "algorithms": list(found.algorithms),
        "warnings": [each.json("networks") for each in found.warnings],
        "networks": [asdict(network) for network in found.networks],
        "pairs": [
            {
                "network": each.network.id,
                "first": each.first,
                "second": each.second,
                "fair_share_ratio": estimate_json(each.share),
                "model_fair_share_ratio": found.model_share(each),
                "harm": estimate_json(each.harm),
                "own_harm": estimate_json(each.own_harm),
                "excess_harm": estimate_json(each.excess),
                "delay_harm": estimate_json(each.delay_harm),
                "loss_rate": estimate_json(each.loss_rate),
                "completion_time_s": estimate_json(each.completion_s),
                "judgement": each.judgement,
                "cell": each.cell,
            }
            for each in found.pairs
        ],
        "failed": [
            {
                "network": each.network.id,
                "first": each.first,
                "second": each.second,
                "message": each.message,
            }
            for each in found.failed
        ],
    }


def sentences(found: Coexistence) -> list[str]:
    """Return the finding in sentences: which algorithm harms which, the worst first."""
    harmed: dict[tuple[str, str], list[Pair]] = {}
    for each in found.worst:
        if each.judgement == "more":
            harmed.setdefault((each.first, each.second), []).append(each)
    told = []
    for (first, second), places in harmed.items():
        worst, count = places[0], f"{len(places)} of {len(found.networks)} networks"
        told.append(
            f"{first} harms {second} more than {second} harms itself in {count}. "
            f"The worst is “{worst.network.title}”, with a harm of {worst.harm.mean:.2f} instead of "
            f"{worst.own_harm.mean:.2f}."
        )
    if found.replicates == 1:
        told.append("One replicate shows no significant difference. Use --replicates 2 or more.")
    elif not told:
        told.append("No algorithm harms another significantly more than the other harms itself.")
    if found.failed:
        told.append(f"{len(found.failed)} pairs have no figures, because a run failed.")
    return told


def page(found: Coexistence, folder: Path, command: str) -> str:
    """Return the text of the page."""
    paired = {(each.first, each.second) for each in found.pairs}
    firsts = [name for name in found.algorithms if any(first == name for first, _ in paired)]
    seconds = [name for name in found.algorithms if any(second == name for _, second in paired)]
    return render(
        _TEMPLATES / "coexist.html.jinja",
        found=found,
        firsts=firsts,
        seconds=seconds,
        columns=[(first, second) for first in firsts for second in seconds if (first, second) in paired],
        sentences=sentences(found),
        charts=[
            (title, f"depth-{at}", alone(lines(*_drawing(drawn, title))), _csv(drawn))
            for at, (title, drawn) in enumerate(charts(found))
        ],
        cell=found.find,
        text=_text,
        again=lambda each: cell_command(folder, each.cell, found.backend),
        backend=backend_title(found.backend),
        command=command,
    )


def _text(value: Estimate | None, factor: float = 1.0, digits: int = 2) -> str:
    """Return a mean with the half of its interval."""
    if value is None:
        return "\N{EN DASH}"
    half = value.half_width
    # Zero has no sign.
    mean = f"{round(factor * value.mean, digits) + 0.0:.{digits}f}"
    return mean if half is None else f"{mean} ± {factor * half:.{digits}f}"


def charts(found: Coexistence) -> Iterator[tuple[str, list[Line]]]:
    """Return the share of each pair over the depth of the buffer, with a line per RTT and the model's."""
    for first in found.algorithms:
        for second in found.algorithms:
            drawn: list[Line] = []
            for rtt, networks in series(found.networks).items():
                pairs = (found.find(network, first, second) for network in networks)
                over = [each for each in pairs if each is not None]
                if len(over) >= LEAST_DEPTHS:
                    drawn += list(_lines(found, over, f"{rtt:g} ms"))
            if drawn:
                yield f"{first} against {second}", drawn


def _lines(found: Coexistence, over: list[Pair], name: str) -> Iterator[Line]:
    known = [(each.network.buffer_bdp, each.share) for each in over if each.share is not None]
    bounds = [
        None if share.low is None or share.high is None else (share.low, share.high) for _, share in known
    ]
    yield Line(name, [depth for depth, _ in known], [share.mean for _, share in known], bounds)
    told = [(each.network.buffer_bdp, found.model_share(each)) for each in over]
    model = [(depth, share) for depth, share in told if share is not None]
    if model:
        yield Line(f"{name}, model", [depth for depth, _ in model], [share for _, share in model])


def _drawing(drawn: list[Line], title: str) -> tuple[list[Line], Axes, str]:
    axes = Axes("buffer, BDP", "fair-share ratio", logarithmic=True, y_ends=(0.0, 2.0))
    return drawn, axes, title


def _csv(drawn: list[Line]) -> str:
    rows = [f"{line.name},{x:g},{y:.6g}" for line in drawn for x, y in zip(line.x, line.y, strict=True)]
    return "\n".join(["line,buffer_bdp,fair_share_ratio", *rows])


class Picture:
    """The share of the first pair over the depth of the buffer."""

    def __init__(self, found: Coexistence) -> None:
        self._charts = list(charts(found))

    def svg(self) -> bytes:
        """Return the drawing as standalone SVG."""
        title, drawn = self._charts[0]
        return alone(lines(*_drawing(drawn, title))).encode()

    def png(self) -> bytes:
        """Return the drawing as PNG. Raises `InputError` without matplotlib."""
        title, drawn = self._charts[0]
        shown, axes, name = _drawing(drawn, title)
        figure: Plot = drawer().lines([("", shown)], axes, name)
        return figure.png()

    @property
    def is_empty(self) -> bool:
        """Whether no pair has figures for several depths of the buffer."""
        return not self._charts
