"""Whether runs in WebAssembly, in Node, give the results of native runs, by the committed hashes.

    python tools/web/golden_in_node.py                     all runs of bench/golden
    python tools/web/golden_in_node.py --only environments those whose names have this in them

Needs `make web` and node; ends with 1 and the names of runs that differ.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars

from ackclock.scenario import Scenario

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools" / "bench"))

import golden  # noqa: E402

PROGRAM = ROOT / "web" / "tests" / "golden.mjs"
MODULE = ROOT / "web" / "module" / "ackclock_bg.wasm"
TYPES = {"f64": np.float64, "u64": np.uint64, "u32": np.uint32, "u8": np.uint8, "bool": np.bool_}
#: Runs that one process of Node makes; their results are on disk at once.
BATCH = 12


def missing() -> str | None:
    """What the comparison needs and is not there."""
    if shutil.which("node") is None:
        return "node is not installed"
    if not MODULE.exists():
        return "the module is not built: make web"
    return None


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
    """The hash of a result that Node left."""
    result = json.loads(path.read_text(encoding="utf-8"))
    data = memoryview(path.with_suffix(".bin").read_bytes())
    tables = []
    for columns in result["tables"]:
        table, data = frame(columns, data)
        tables.append(table)
    return golden.digest_of(json.loads(result["document"]), result["histograms"], tables)


def run(scenarios: Sequence[Scenario]) -> list[str]:
    """The hashes of runs in Node."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trees = [json.loads(scenario.resolved_json) for scenario in scenarios]
        (folder / "runs.json").write_text(json.dumps(trees), encoding="utf-8")
        command = ["node", str(PROGRAM), str(MODULE), str(folder / "runs.json"), name]
        subprocess.run(command, check=True, timeout=1200)
        return [digest(folder / f"{index}.json") for index in range(len(scenarios))]


def measured(chosen: Iterable[tuple[str, Scenario]]) -> dict[str, str]:
    """The hash of each run in WebAssembly, by name."""
    names, scenarios = zip(*chosen, strict=True)
    batches = [scenarios[start : start + BATCH] for start in range(0, len(scenarios), BATCH)]
    with ThreadPoolExecutor(2) as pool:
        hashes = [value for batch in pool.map(run, batches) for value in batch]
    return dict(zip(names, hashes, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="part of the names of runs")
    options = parser.parse_args()
    problem = missing()
    if problem is not None:
        print(f"golden: skipped, {problem}")
        return 77
    new = measured((name, scenario) for name, scenario in golden.scenarios() if options.only in name)
    old = {name: value for name, value in golden.committed().items() if name in new}
    changed = golden.differences(old, new)
    print(*changed, f"{len(new)} runs in WebAssembly, {len(changed)} differ from native ones", sep="\n")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
