"""Makes pages that can rerun their cells: they contain the simulator and the stored runs."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.page.embedded import bundle, data, packed_module, script, with_policy

_FOLDER = Path(__file__).parent / "rerun"
STYLE = (_FOLDER / "rerun.css").read_text(encoding="utf-8")
#: The largest number of runs whose figures a page contains. Larger pages keep only the first replicates.
_MOST_FIGURES = 1300


@dataclass(frozen=True)
class Kept:
    """The stored parts of a cell in a page."""

    #: The title of the cell.
    title: str
    #: The scenario as JSON, with all defaults but the transport's.
    scenario: str
    scenario_hash: str
    seed: int
    replicates: int
    #: The stored summaries of its runs, by replicate.
    summaries: Mapping[int, Mapping[str, float | None]]
    #: The watched group of flows, if any.
    watched: str = ""
    #: The reason why the cell cannot run in a browser, if any.
    refusal: str = ""

    def document(self) -> dict[str, Any]:
        """Return the cell in the form of `panel.js`, without the scenario."""
        return {
            "title": self.title,
            "hash": self.scenario_hash,
            # Some seeds exceed the integers of JavaScript.
            "seed": str(self.seed),
            "replicates": self.replicates,
            "summaries": dict(self.summaries),
            "watched": self.watched,
            "refusal": self.refusal,
        }


def figures_kept(cells: int) -> int:
    """Return the number of replicates per cell whose summaries a page keeps."""
    return max(1, _MOST_FIGURES // max(1, cells))


def worker() -> str:
    """Return the script of the simulation worker. Raises `InputError` if the module is not built."""
    return bundle(_FOLDER / "simulation.js")


def widget() -> str:
    """Return the module of the notebook widget. Raises `InputError` if ackclock's module is not built."""
    return bundle(_FOLDER / "widget.js") + "\nexport default { render: entry.render };\n"


def interactive(page: str, cells: Mapping[str, Kept]) -> str:
    """Return a page that can rerun the cells. Its elements with `data-rerun="NAME"` open them.

    The page may only run its own scripts. Raises `InputError` if the module is not built.
    """
    document = {
        "scenarios": {cell.scenario_hash: cell.scenario for cell in cells.values()},
        "cells": {name: cell.document() for name, cell in cells.items()},
    }
    parts = [
        '<dialog id="rerun"></dialog>',
        data("rerun-module", packed_module()),
        data("rerun-cells", packed(document)),
        data("rerun-worker", worker()),
        script(bundle(_FOLDER / "report.js")),
    ]
    before, body, after = page.rpartition("</body>")
    styled = before.replace("</head>", f"<style>\n{STYLE}</style>\n</head>", 1)
    whole = styled + "\n".join([*parts, body]) + after
    return with_policy(whole, has_styles=True)


def packed(document: Any) -> str:
    """Return a document as JSON, gzip and base64."""
    text = json.dumps(document, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
