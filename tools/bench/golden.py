"""Compares the hash of each run's result with the committed one.

    python tools/bench/golden.py            compare; exit code 1 and the names of runs that differ
    python tools/bench/golden.py --write    write all hashes

`bench/golden/runs.toml` lists the runs, and `bench/golden/hashes.txt` contains a line for each. A hash covers
the whole visible result: metrics, histograms, every sample, every packet of a trace. It omits the machine's
work, so a faster engine passes, and a different result fails.
"""

import argparse
import hashlib
import json
import os
import sys
import tomllib
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars

from ackclock import _core
from ackclock.evaluation.suite import Suite
from ackclock.scenario import Scenario

FOLDER = Path(__file__).resolve().parents[2] / "bench" / "golden"
HASHES = FOLDER / "hashes.txt"
#: Keys of a result that do not describe the simulation. The hash of a scenario changes with every new key.
NOT_PHYSICS = ("scenario", "scenario_hash", "backend", "engine_cpu_s", "events")
#: Metrics of flows and of the summary that are newer than the hashes.
NEWER = ("rtt_min_s", "congestion_events", "delay_score")


def scenarios() -> Iterator[tuple[str, Scenario]]:
    """Name and scenario of every run."""
    tables: dict[str, Any] = tomllib.loads((FOLDER / "runs.toml").read_text(encoding="utf-8"))
    suites = tables.pop("suites")
    for file, runs in tables.items():
        for name, sets in runs.items():
            yield f"{Path(file).stem}/{name}", Scenario.from_file(FOLDER / file, sets)
    algorithms = suites["algorithms"]
    for name, sets in suites["set"].items():
        suite = Suite.load(name)
        for environment in suite.environments:
            title = f"{name}/{environment.id}"
            # By its name, so that a new environment changes the algorithm of no other.
            algorithm = algorithms[zlib.crc32(title.encode()) % len(algorithms)]
            yield title, environment.scenario(algorithm, suite.subject, sets)


def digest(scenario: Scenario) -> str:
    """The hash of a run's whole result, 16 hexadecimal digits."""
    run = _core.Scenario.from_json(scenario.resolved_json).run()
    tables = [polars.DataFrame(table) for table in (run.flow_samples, run.link_samples, run.packets)]
    return digest_of(json.loads(run.to_json()), run.histograms_json(), tables)


def digest_of(document: dict[str, Any], histograms: str, tables: Sequence[polars.DataFrame]) -> str:
    """The hash of a result: its document, histograms as JSON, samples of flows and of links, and packets."""
    physics = {key: value for key, value in document.items() if key not in NOT_PHYSICS}
    for row in (*physics["flows"], physics["summary"]):
        for key in NEWER:
            row.pop(key, None)
    parts = [json.dumps(physics, sort_keys=True), histograms]
    for frame in tables:
        # Only a trace in which a timer goes off has anything in this column.
        if "timer" in frame.columns and frame["timer"].is_null().all():
            frame = frame.drop("timer")
        parts.append(frame.write_csv())
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def measured() -> dict[str, str]:
    """The hash of every run, by name."""
    names, subjects = zip(*scenarios(), strict=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(digest, subjects), strict=True))


def committed() -> dict[str, str]:
    """The hashes of the file."""
    lines = HASHES.read_text(encoding="utf-8").splitlines() if HASHES.exists() else []
    return {name: value for name, value in map(str.split, lines)}


def differences(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """Return the differences, a line for each run."""
    words = {
        (True, True): "another result",
        (True, False): "no such run any more",
        (False, True): "a new run",
    }
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return [f"{name}: {words[name in old, name in new]}" for name in names]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write all hashes")
    options = parser.parse_args()
    new = measured()
    changed = differences(committed(), new)
    for line in changed:
        print(line)
    print(f"{len(new)} runs, {len(changed)} differ from {HASHES.relative_to(FOLDER.parents[1])}")
    if options.write:
        HASHES.write_text("".join(f"{name} {value}\n" for name, value in new.items()), encoding="utf-8")
        return 0
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
