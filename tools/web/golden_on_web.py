"""Compares runs in WebAssembly, in Node or Chromium, with the committed hashes of native runs.

    python tools/web/golden_on_web.py                      all runs of bench/golden, in Node
    python tools/web/golden_on_web.py --in chromium        the same in a page
    python tools/web/golden_on_web.py --only environments  those whose names have this in them

It needs `make web`, node and Chromium. It prints the names of runs that differ, and then ends with 1.
"""

import argparse
import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars

from ackclock.scenario import Scenario

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools" / "bench"))

from chromium import chromium, files  # noqa: E402

import golden  # noqa: E402

PROGRAMS = ROOT / "web" / "tests"
MODULE = ROOT / "web" / "module" / "ackclock_bg.wasm"
TYPES = {"f64": np.float64, "u64": np.uint64, "u32": np.uint32, "u8": np.uint8, "bool": np.bool_}
#: Number of runs of one Node process. Their results are on disk at the same time.
BATCH = 12


class Place(NamedTuple):
    """Where runs are made: the beginning of a command, and how many of them at once."""

    command: tuple[str, ...]
    at_once: int


def missing(place: str = "node") -> str | None:
    """Return the missing requirements of the comparison in this place."""
    if shutil.which("node") is None:
        return "node is not installed"
    if place == "chromium" and chromium() is None:
        return "chromium is not installed"
    if not MODULE.exists():
        return "the module is not built: make web"
    return None


@contextlib.contextmanager
def opened(place: str) -> Iterator[Place]:
    """Return the program that runs scenarios in this place."""
    if place == "node":
        yield Place(("node", str(PROGRAMS / "golden.mjs"), str(MODULE)), 2)
        return
    browser = chromium()
    assert browser is not None
    with files() as address:
        yield Place(("node", str(PROGRAMS / "golden_chromium.mjs"), browser, address), 1)


def frame(columns: Sequence[dict[str, Any]], data: memoryview) -> tuple[polars.DataFrame, memoryview]:
    """The table of some columns at the start of the data, and the data after it."""
    series = []
    for column in columns:
        kind = TYPES[column["kind"]]
        size = column["length"] * np.dtype(kind).itemsize
        values = polars.Series(column["name"], np.frombuffer(data[:size], kind))
        data = data[size:]
        if column["names"] is not None:
            names = dict(enumerate(column["names"]))
            values = values.replace_strict(names, default=None, return_dtype=polars.String)
        elif kind is np.float64:
            values = values.fill_nan(None)
        series.append(values)
    return polars.DataFrame(series), data


def digest(path: Path) -> str:
    """The hash of a result that was left there."""
    result = json.loads(path.read_text(encoding="utf-8"))
    data = memoryview(path.with_suffix(".bin").read_bytes())
    tables = []
    for columns in result["tables"]:
        table, data = frame(columns, data)
        tables.append(table)
    return golden.digest_of(json.loads(result["document"]), result["histograms"], tables)


def run(place: Place, scenarios: Sequence[Scenario]) -> list[str]:
    """The hashes of runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trees = [json.loads(scenario.resolved_json) for scenario in scenarios]
        (folder / "runs.json").write_text(json.dumps(trees), encoding="utf-8")
        subprocess.run([*place.command, str(folder / "runs.json"), name], check=True, timeout=1200)
        return [digest(folder / f"{index}.json") for index in range(len(scenarios))]


def measured(chosen: Iterable[tuple[str, Scenario]], place: str = "node") -> dict[str, str]:
    """The hash of each run in WebAssembly, by name."""
    names, scenarios = zip(*chosen, strict=True)
    batches = [scenarios[start : start + BATCH] for start in range(0, len(scenarios), BATCH)]
    with opened(place) as runs, ThreadPoolExecutor(runs.at_once) as pool:
        hashes = [value for batch in pool.map(partial(run, runs), batches) for value in batch]
    return dict(zip(names, hashes, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="part of the names of runs")
    parser.add_argument("--in", dest="place", choices=("node", "chromium"), default="node")
    options = parser.parse_args()
    problem = missing(options.place)
    if problem is not None:
        print(f"golden: skipped, {problem}")
        return 77
    chosen = [(name, scenario) for name, scenario in golden.scenarios() if options.only in name]
    new = measured(chosen, options.place)
    old = {name: value for name, value in golden.committed().items() if name in new}
    changed = golden.differences(old, new)
    print(*changed, f"{len(new)} runs in WebAssembly, {len(changed)} differ from native ones", sep="\n")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
