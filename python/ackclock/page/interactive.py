"""Pages whose runs can be run again in them: they carry the simulator, and what is stored of the runs."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.page.embedded import MODULE, bundle, data, packed_file, script, with_policy

_FOLDER = Path(__file__).parent / "rerun"
STYLE = (_FOLDER / "rerun.css").read_text(encoding="utf-8")
#: Runs whose figures a page carries; beyond that each cell has those of its first replicates.
_MOST_FIGURES = 1300


@dataclass(frozen=True)
class Kept:
    """What a page keeps of a cell."""

    #: What it is, in words.
    title: str
    #: The scenario, JSON, with every default that is not the transport's.
    scenario: str
    scenario_hash: str
    seed: int
    replicates: int
    #: The summaries of its runs by replicate, as far as they are kept.
    summaries: Mapping[int, Mapping[str, float | None]]
    #: The group of flows that is watched, if one is.
    watched: str = ""
    #: Why it does not run in a browser, if it does not.
    refusal: str = ""

    def document(self) -> dict[str, Any]:
        """Return it as `panel.js` reads it, without the scenario."""
        return {
            "title": self.title,
            "hash": self.scenario_hash,
            # JavaScript's numbers end below some seeds.
            "seed": str(self.seed),
            "replicates": self.replicates,
            "summaries": dict(self.summaries),
            "watched": self.watched,
            "refusal": self.refusal,
        }


def figures_kept(cells: int) -> int:
    """Return of how many replicates a page of so many cells keeps the summaries."""
    return max(1, _MOST_FIGURES // max(1, cells))


def worker() -> str:
    """Return the script of the worker that simulates. Raises `InputError` if the module is not built."""
    return bundle(_FOLDER / "simulation.js")


def widget() -> str:
    """Return the module of the notebook's widget. Raises `InputError` if ackclock's is not built."""
    return bundle(_FOLDER / "widget.js") + "\nexport default { render: entry.render };\n"


def interactive(page: str, cells: Mapping[str, Kept]) -> str:
    """Return a page in which the cells can be run again: its elements with `data-rerun="NAME"` open them.

    The page may run its own scripts and no others. Raises `InputError` if the module is not built.
    """
    document = {
        "scenarios": {cell.scenario_hash: cell.scenario for cell in cells.values()},
        "cells": {name: cell.document() for name, cell in cells.items()},
    }
    parts = [
        '<dialog id="rerun"></dialog>',
        data("rerun-module", packed_file(MODULE)),
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
