"""Measures the speed-up of two workers over one: threads of this machine, and workers of a Dask cluster.

    python tools/bench/cluster.py [--runs N] [--rounds N]

Each figure is the time of a whole `ackclock study`, including its start and summary. Each worker has one
thread. The cluster is a scheduler with workers on loopback, started before the clock. One worker and two
take turns, so other load on the machine slows both. The output shows the ratio of each round with the load
average of the minute before it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

BIN = Path(sys.executable).parent
SCENARIO = """\
schema = 1
duration = "600 s"
warmup = "1 s"
[topology]
kind = "dumbbell"
rate = "10 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "50 packets" }
[[flows]]
name = "test"
count = 2
cc = "aimd"
start = { uniform = ["0 s", "500 ms"] }
"""
STUDY = 'scenario = "scenario.toml"\nsamples = "none"\nreplicates = {runs}\n'


@contextmanager
def dask(kind: str, folder: Path, *options: str) -> Iterator[None]:
    common = ("--host=127.0.0.1", "--no-dashboard", f"--scheduler-file={folder / 'scheduler.json'}")
    process = subprocess.Popen(
        [str(BIN / "dask"), kind, *common, *options], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def elapsed_s(folder: Path, *options: str) -> float:
    """Seconds that a study takes in a store of its own."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        started = time.perf_counter()
        command = [str(BIN / "ackclock"), "study", str(folder / "study.toml"), "--out", out, *options]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return time.perf_counter() - started


def on_threads(folder: Path) -> tuple[float, float]:
    one, two = (elapsed_s(folder, f"--workers={count}") for count in (1, 2))
    return one, two


def on_cluster(folder: Path) -> tuple[float, float]:
    """One worker, then two, each cluster new: nothing of the other is in the way."""
    times = []
    for count in (1, 2):
        with tempfile.TemporaryDirectory(dir=folder) as name:
            place = Path(name)
            worker = ("--nthreads=1", "--no-nanny", f"--local-directory={place}")
            with dask("scheduler", place, "--port=0", "--no-jupyter"):
                file = place / "scheduler.json"
                while not (file.exists() and file.read_text().endswith("}")):
                    time.sleep(0.05)
                address = json.loads(file.read_text())["address"]
                with ExitStack() as workers:
                    for _ in range(count):
                        workers.enter_context(dask("worker", place, *worker))
                    wait_for_workers(address, count)
                    times.append(elapsed_s(folder, "--dask", address))
    return times[0], times[1]


def wait_for_workers(address: str, count: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=400, help="runs of a study (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scenario.toml").write_text(SCENARIO)
        (folder / "study.toml").write_text(STUDY.format(runs=options.runs))
        print(f"{os.cpu_count()} cores")
        print(f"{'':>8} {'load':>6} {'one, s':>8} {'two, s':>8} {'ratio':>6}")
        for kind, measure in (("threads", on_threads), ("cluster", on_cluster)):
            ratios = []
            for _ in range(options.rounds):
                load = os.getloadavg()[0]
                one, two = measure(folder)
                ratios.append(one / two)
                print(f"{kind:>8} {load:>6.1f} {one:>8.2f} {two:>8.2f} {ratios[-1]:>6.2f}", flush=True)
            print(f"{kind:>8} {'median':>24} {statistics.median(ratios):>6.2f}")


if __name__ == "__main__":
    main()
