"""Measures the overhead of a run of a study, and the growth of memory with the runs.

    python tools/bench/overhead.py [--runs N]

Each size runs in its own process with one worker. The overhead is the time of `ackclock study`, including
its start and summary, minus the engine's CPU time of all runs. The output also shows the largest size of
the process. Runs are tiny: two flows for 0.2 s, and ten replicates per point.
"""

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCENARIO = """\
schema = 1
duration = "200 ms"
warmup = "100 ms"
[topology]
kind = "dumbbell"
rate = "2 Mbit/s"
delay = "5 ms"
queue = { kind = "drop-tail", limit = "10 packets" }
[[flows]]
name = "test"
count = 2
cc = "aimd"
start = { uniform = ["0 s", "20 ms"] }
"""
STUDY = """\
scenario = "scenario.toml"
samples = "none"
replicates = 10
[grid]
"flows.test.cc.increase" = [{increases}]
"""


def measure(runs: int) -> tuple[float, float]:
    """Return the overhead per run in milliseconds, and the largest size of the process in MiB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scenario.toml").write_text(SCENARIO)
        increases = ", ".join(str(1 + step / runs) for step in range(runs // 10))
        (folder / "study.toml").write_text(STUDY.format(increases=increases))
        command = [str(Path(sys.executable).parent / "ackclock"), "study", str(folder / "study.toml")]
        started = time.perf_counter()
        process = subprocess.Popen(
            [*command, "--workers", "1", "--out", str(folder / "out")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # The size of this child alone.
        _, status, usage = os.wait4(process.pid, 0)
        elapsed_s = time.perf_counter() - started
        if status:
            raise SystemExit(f"ackclock study failed with status {status}")
        index = sqlite3.connect(folder / "out" / "runs.sqlite")
        count, engine_s = index.execute(
            "SELECT count(*), sum(json_extract(result_json, '$.engine_cpu_s')) FROM runs"
        ).fetchone()
        index.close()
        assert count == runs, f"{count} runs instead of {runs}"
    return 1e3 * (elapsed_s - engine_s) / runs, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10_000, help="the larger size (default: %(default)s)")
    options = parser.parse_args()
    print(f"{'runs':>8} {'overhead, ms per run':>30} {'largest size, MiB':>20}")
    for runs in (options.runs // 10, options.runs):
        per_run_ms, size_mib = measure(runs)
        print(f"{runs:>8} {per_run_ms:>30.2f} {size_mib:>20.1f}")


if __name__ == "__main__":
    main()
