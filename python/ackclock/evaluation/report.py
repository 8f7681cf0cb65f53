"""Writes the report: one page without external resources, and its data files."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ackclock.evaluation import Evaluation
from ackclock.evaluation.distributions import completion_curves, delay_curves
from ackclock.evaluation.explanation import explain, group_rows
from ackclock.evaluation.export import FOLDER, TABLES, StoredRun, csv_name, stored_runs, tables, write_tables
from ackclock.evaluation.own import Own, own_page, scenario_path, scenarios
from ackclock.evaluation.present import (
    ranking_notes,
    rivals_notes,
)
from ackclock.evaluation.rivals import STARVED
from ackclock.evaluation.score import Result, Score
from ackclock.evaluation.scoreboard import missing_scores
from ackclock.evaluation.series import Drawn, lines_of, points_per_line, run_series, runs_drawn
from ackclock.evaluation.verdict import worst_result
from ackclock.files.writing import keeping_runs, write_whole
from ackclock.page import render
from ackclock.page.embedded import RENDERER, bundle
from ackclock.page.interactive import Kept, interactive, packed
from ackclock.page.lines import Axes, lines
from ackclock.page.lines import csv_of as curves_csv
from ackclock.running.backend import title as backend_title
from ackclock.running.cells import SCENARIOS, Cell, short, write_cells
from ackclock.running.cells import command as cell_command
from ackclock.running.kept import kept
from ackclock.running.store import Store
from ackclock.scenario import Scenario

_TEMPLATES = Path(__file__).parent / "templates"


def write_report(evaluation: Evaluation, folder: Path, *, command: str, is_interactive: bool = False) -> Path:
    """Write `report.html`, `scoreboard.json` and `data/` into the folder that holds the runs.

    `is_interactive`: the page can rerun its cells. Returns the path of the page. Raises `StoreError`. Raises
    `InputError` if an interactive page lacks the module for browsers.
    """
    path = folder / "report.html"
    cells = cells_of(evaluation)
    with Store(folder) as store:
        runs = list(stored_runs(evaluation, store))
        frames = tables(evaluation, store)
        again = _kept(evaluation, cells, store) if is_interactive else {}
    with keeping_runs(path):
        write_whole(
            folder / "scoreboard.json",
            (json.dumps(evaluation.document, indent=2) + "\n").encode(),
        )
        write_tables(frames, folder)
        write_cells(folder, cells)
        (folder / SCENARIOS).mkdir(exist_ok=True)
        for environment, text in scenarios(evaluation).items():
            write_whole(scenario_path(folder, environment), text.encode())
        own = own_page(evaluation, folder)
        text = page(evaluation, runs, folder, own=own, command=command, is_interactive=is_interactive)
        write_whole(path, (interactive(text, again) if is_interactive else text).encode())
    return path


def page(
    evaluation: Evaluation,
    runs: Sequence[StoredRun],
    folder: Path,
    *,
    own: Own | None,
    command: str,
    is_interactive: bool = False,
) -> str:
    """Return the text of the page in a folder.

    `own`: the section about the best candidate. `is_interactive`: with buttons that rerun cells.
    """
    board = evaluation.board
    worst = worst_result(board)
    drawn = runs_drawn(len(board.results))
    made = [
        _Card(
            evaluation,
            at,
            [run for run in runs if run.environment == each.environment.id],
            drawn,
            folder,
        )
        for at, each in enumerate(board.results)
    ]
    points = points_per_line(sum(len(card.places) * lines_of(len(card.groups)) for card in made))
    cards = [card.shown(worst[1] if worst and worst[0] is card.result else None) for card in made]
    environments = [card.drawn(points) for card in made]
    return render(
        _TEMPLATES / "report.html.jinja",
        board=board,
        no_stored_scores=missing_scores(board),
        own=own,
        ranking=evaluation.ranking,
        is_ranked=len(evaluation.ranking.entries) > 1 or evaluation.ranking.budget is not None,
        ranking_notes=ranking_notes(evaluation.ranking),
        rivals_found=evaluation.competitors,
        rivals_notes=rivals_notes(evaluation),
        columns=_columns(min(drawn, len(board.candidates))),
        cards=cards,
        worst=next((card for card in cards if card["worst"]), None),
        verdict=evaluation.verdict,
        starved_below=f"{STARVED:g}",
        backend=backend_title(evaluation.first[0][0][0].backend),
        invalid=f"{evaluation.invalid} of {evaluation.runs} runs missed their times"
        if evaluation.invalid
        else "",
        is_interactive=is_interactive,
        data=packed(
            {
                "evaluation": {"document": evaluation.document, "overview": evaluation.overview},
                "environments": environments,
                "heat": _commands(evaluation, folder) | {"runs_here": is_interactive},
                "csv": _of_figures(cards, "csv"),
                # An interactive page contains the simulator, so its drawings are packed.
                "svg": _of_figures(cards, "svg") if is_interactive else {},
            }
        ),
        vendored={name: _text(f"vendor/uplot/{name}") for name in ("uPlot.iife.min.js", "uPlot.min.css")},
        style=_text("report.css"),
        renderer=bundle(RENDERER),
        script=_text("report.js"),
        command=command,
        replicates=max(len(score.values) for result in board.results for score in result.scores[0]),
        folder=FOLDER,
        tables=TABLES,
        csv_name=csv_name,
    )


class _Card:
    """The data of one environment, for the template and its charts."""

    def __init__(
        self,
        evaluation: Evaluation,
        index: int,
        runs: Sequence[StoredRun],
        drawn: int,
        folder: Path,
    ) -> None:
        self.board, self.evaluation, self.folder = evaluation.board, evaluation, folder
        self.backend = evaluation.first[index][0][0].backend
        self.index = index
        self.result: Result = evaluation.board.results[index]
        self.row = evaluation.first[index]
        self.labels = [candidate.label for candidate in evaluation.board.candidates]
        self.places = _drawn(len(self.labels), evaluation.board.reference, drawn)
        self.runs = runs
        job, outcome = self.row[0]
        scenario, self.document = json.loads(job.scenario_json), json.loads(outcome.result_json)
        #: The relative ranges from which replicates draw their rates and delays.
        self.shares: dict[str, float] = scenario.pop("replicates", {})
        #: The network of the scenario file.
        self.described = Scenario.from_dict(scenario).describe()
        self.groups = {flow["name"]: flow["group"] for flow in self.document["flows"]}

    def shown(self, worst: Score | None) -> dict[str, Any]:
        """Return the data of the template. `worst` is the score that makes this environment the worst."""
        return {
            "result": self.result,
            "place": self.index,
            "first": self.labels[0],
            "figures": self._figures(),
            "drawn": self._drawn_labels(),
            "undrawn": len(self.places) < len(self.labels),
            "groups": group_rows([run for run in self.runs if run.cc in self._drawn_labels()]),
            "facts": self._facts(),
            "shared": self._shared(),
            "varies": self._varies(),
            "worst": worst,
            "explanation": explain(self.board, self.result, worst, self.runs) if worst else [],
        }

    def drawn(self, points: int) -> dict[str, Any]:
        """Return the data of the charts. The algorithms share scales."""
        watch = self.result.environment.watch
        drawn = Drawn(
            link=self.described["bottleneck"],
            varies=self._varies(),
            warmup_s=self.described["warmup_s"],
            fairness=self.result.environment.fairness,
            watched=watch.group if watch else None,
            groups=self.groups,
            points=points,
        )
        runs = [run_series(self.row[place][1], drawn) for place in self.places]
        found = [run for run in runs if run is not None]
        capacity_mbps = self._capacity_mbps()
        return {
            "id": self.result.environment.id,
            "title": self.result.environment.title,
            "duration_s": self.described["duration_s"],
            "warmup_s": drawn.warmup_s,
            "capacity_mbps": capacity_mbps,
            "tops": {
                kind: nice(max((_top(run, kind, drawn.warmup_s) for run in found), default=1.0))
                for kind in ("cwnd", "queue", "rtt")
            }
            | {
                "throughput": nice(1.02 * capacity_mbps),
                "phase": nice(_phase_top(found, capacity_mbps, drawn)),
            },
            "labels": self._drawn_labels(),
            "runs": runs,
            "scenario": json.loads(self.row[0][0].scenario_json),
            "commands": [
                (name, cell_command(self.folder, name, self.backend))
                for label, name in zip(
                    labels_of(self.evaluation),
                    cell_names(self.evaluation, self.result.environment.id),
                    strict=True,
                )
                if label in self.labels
            ],
        }

    def _drawn_labels(self) -> list[str]:
        return [self.labels[place] for place in self.places]

    def _figures(self) -> list[dict[str, str]]:
        """Return the distributions of delays and completion times."""
        environment = self.result.environment
        figures: list[dict[str, str]] = []
        delays = delay_curves(self.runs, self._drawn_labels())
        times = completion_curves(self.runs, self._drawn_labels())
        for name, unit, caption, curves in (
            ("queueing-delay", "ms", "Queueing delay of all data packets (CDF)", delays),
            ("completion-time", "s", "Completion times of finished flows (CDF)", times),
        ):
            if curves:
                axes = Axes(f"{name.replace('-', ' ')}, {unit}", "share", y_ends=(0.0, 1.0), marked=False)
                svg = lines(curves, axes, f"{caption} in {environment.title}")
                figures.append(
                    {"name": name, "svg": svg, "csv": curves_csv(curves, unit), "caption": caption}
                )
        return figures

    def _shared(self) -> bool:
        return self.result.environment.fairness and len(self.groups) > 1

    def _varies(self) -> bool:
        return "varies" in self._bottleneck()

    def _bottleneck(self) -> dict[str, Any]:
        name = self.described["bottleneck"]
        link: dict[str, Any] = next(link for link in self.described["links"] if link["name"] == name)
        return link

    def _capacity_mbps(self) -> float:
        """Return the rate of the bottleneck in the first replicate."""
        link = self._bottleneck()
        drawn = self.document.get("drawn", {}).get("links", ())
        rates = {each["name"]: each["rate_bps"] for each in drawn}
        return float(rates.get(link["name"], link["rate_bps"]) or 0) / 1e6

    def _within(self, what: str) -> str:
        """Return the relative range of replicates, to append to a value."""
        share = self.shares.get(what, 0.0)
        return f" ± {100 * share:g} %" if share else ""

    def _facts(self) -> list[tuple[str, str]]:
        """Return the names and values of the configuration."""
        link = self._bottleneck()
        flows = self.described["flows"] if self.shares.get("rtt") else self.document["flows"]
        base_rtts = sorted({flow["base_rtt_s"] for flow in flows if flow["base_rtt_s"] is not None})
        rtts = " and ".join(f"{1e3 * rtt:.4g}" for rtt in base_rtts[:3])
        facts = [
            ("bottleneck", f"{float(link['rate_bps'] or 0) / 1e6:g} Mbit/s{self._within('rate')}"),
            ("base RTT", f"{rtts} ms{self._within('rtt')}"),
            ("queue", link["queue"]),
            ("flows", str(len(self.groups))),
            ("duration", f"{self.described['duration_s']:g} s"),
        ]
        if "varies" in link:
            facts.insert(1, ("available capacity", link["varies"]))
        if link["loss"] != "none":
            facts.insert(3, ("random loss", link["loss"]))
        if link["impairments"]:
            facts.insert(3, ("impairments", ", ".join(link["impairments"])))
        return facts


def _drawn(count: int, reference: int, most: int) -> list[int]:
    """Return the places of the candidates with charts: the first, the reference, then the others."""
    order = [0, *([reference] if reference else []), *(at for at in range(1, count) if at != reference)]
    return sorted(order[:most])


def labels_of(evaluation: Evaluation) -> list[str]:
    """Return the labels of all algorithms: the ranking, then the rest of the panel."""
    return [each["label"] for each in evaluation.overview["algorithms"]]


def cell_names(evaluation: Evaluation, environment: str) -> list[str]:
    """Return the names of the cells of an environment, one per algorithm."""
    return [f"{environment}/{short(label, at)}" for at, label in enumerate(labels_of(evaluation))]


def cells_of(evaluation: Evaluation) -> dict[str, Cell]:
    """Return the runs of each cell of the heat map."""
    entries = (*evaluation.ranking.entries, *evaluation.ranking.rest_of_panel)
    found = {}
    for result in evaluation.board.results:
        environment = result.environment
        for entry, name in zip(entries, cell_names(evaluation, environment.id), strict=True):
            replicates = 1 if environment.id in entry.exact else entry.replicates
            found[name] = Cell(
                f"{entry.candidate.label} in {environment.title}",
                entry.hashes[environment.id],
                evaluation.board.seed,
                replicates,
            )
    return found


def _kept(evaluation: Evaluation, cells: dict[str, Cell], store: Store) -> dict[str, Kept]:
    """Return the stored parts of each cell. Failed algorithms have fewer stored runs."""
    watched = {
        name: result.environment.watch.group
        for result in evaluation.board.results
        if result.environment.watch is not None
        for name in cell_names(evaluation, result.environment.id)
    }
    return kept(store, cells, evaluation.first[0][0][0].backend, watched)


def _commands(evaluation: Evaluation, folder: Path) -> dict[str, Any]:
    """Return the names of the cells, and the command that reruns one."""
    return {
        "names": [cell_names(evaluation, result.environment.id) for result in evaluation.board.results],
        "command": cell_command(folder, "CELL", evaluation.first[0][0][0].backend),
    }


def _of_figures(cards: Sequence[dict[str, Any]], what: str) -> dict[str, str]:
    """Return the drawings or the data of all cards, by the names of the figures."""
    return {
        f"{card['result'].environment.id}-{figure['name']}": figure[what]
        for card in cards
        for figure in card["figures"]
    }


def nice(value: float) -> float:
    """Return the end of a scale: the next round number, at most 25 % above the value."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * step for step in (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if power * step >= value)


def _top(run: dict[str, Any], kind: str, warmup_s: float) -> float:
    """Return the largest value after the warm-up."""
    lines = [run[kind]] if kind == "queue" else run[kind]
    return max(
        (
            value
            for line in lines
            for time_s, value in zip(run["x"], line, strict=True)
            if value is not None and time_s >= warmup_s
        ),
        default=0.0,
    )


def _phase_top(runs: Sequence[dict[str, Any]], capacity_mbps: float, drawn: Drawn) -> float:
    """Return the end of both axes of a phase plot, which contains all rates after the warm-up."""
    tops = [0.0]
    for run in runs:
        if (phase := run["phase"]) is not None:
            counted = [at for at, time_s in enumerate(run["bins"]) if time_s >= drawn.warmup_s]
            tops += [phase[axis][at] for axis in ("x", "y") for at in counted]
            tops.append(phase["part"] * capacity_mbps)
    return min(capacity_mbps, max(tops))


def _columns(charts: int) -> int:
    """Return the number of charts in a row, so that rows have equal lengths if possible."""
    return charts if charts < 4 else 2 if charts == 4 else 3


def _text(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
