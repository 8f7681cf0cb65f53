"""Measures the cost of user-supplied algorithms: the speed of W1 with rule text, C, eBPF and Python classes.

    python tools/bench/own.py [--rounds N] [--candidates N] [--json]

The unit is ACKs per CPU second of the whole engine. Each round runs every kind once, and the medians count.
The last row counts the candidates of rule text that two threads read, check and run for a simulated second.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ackclock
from ackclock.cli.console import progress, show
from ackclock.errors import AckclockError
from ackclock.foreign.process import become_worker
from ackclock.kernel import object_of
from ackclock.running.job import Job
from ackclock.running.store import Store
from ackclock.running.work import Study, run_study
from ackclock.scenario import Scenario
from ackclock.text.table import Column, Table

ROOT = Path(__file__).resolve().parents[2]
CLASSES = """
import ackclock

class Five(ackclock.CongestionControl):
    def on_ack(self, ack):
        cwnd = self.cwnd
        if ack.in_recovery or not ack.cwnd_limited:
            return
        if ack.queue_delay > 1e9 or ack.rtt > 1e9:
            return
        self.cwnd = cwnd + (ack.acked if cwnd < self.ssthresh else ack.acked / cwnd)

class NoOp(ackclock.CongestionControl):
    def on_ack(self, ack):
        pass
"""
#: The goal of each kind: a share of the built-in AIMD's speed, or ACKs per CPU second.
GOALS = {
    "rule text": ("built-in", 0.60),
    "shared object": ("built-in", 0.85),
    "eBPF": ("built-in", 0.25),
    "eBPF, JIT": ("built-in", 0.50),
    "Python, five fields": ("acks", 500_000.0),
    "Python, no-op": ("acks", 800_000.0),
}


def algorithms(folder: Path) -> dict[str, str]:
    """Return the algorithms by kind, as arguments of `--set`."""
    (folder / "classes.py").write_text(CLASSES)
    found = {
        "built-in AIMD": "aimd",
        "rule text": '{ kind = "rule", grow = "1 / w", cut = "w / 2" }',
        "Python, five fields": f"{folder / 'classes.py'}:Five",
        "Python, no-op": f"{folder / 'classes.py'}:NoOp",
        "eBPF": f'{{ kind = "bpf", object = "{object_of("aimd")}" }}',
        "eBPF, JIT": f'{{ kind = "bpf", object = "{object_of("aimd")}", jit = true }}',
    }
    if compiler := shutil.which("cc"):
        library, source = folder / "gentle.so", ROOT / "examples/own/gentle.c"
        command = [
            compiler,
            "-O2",
            "-shared",
            "-fPIC",
            "-I",
            ackclock.include_dir(),
            str(source),
            "-o",
            str(library),
        ]
        subprocess.run(command, check=True)
        found["shared object"] = f'{{ kind = "library", path = "{library}", left = 0.5 }}'
    return found


def acks_per_cpu_s(scenario: Scenario) -> float:
    """ACKs that a sender gets in a second of CPU time: the packets of the bottleneck."""
    document = json.loads(scenario._core.run(samples=False).to_json())
    return float(document["packets_forwarded"] / document["engine_cpu_s"])


def measure(rounds: int) -> dict[str, float]:
    """Return the ACKs per CPU second of each kind."""
    path = ROOT / "bench/w1.toml"
    with tempfile.TemporaryDirectory() as folder:
        scenarios = {
            name: Scenario.from_file(path, [f"flows.test.cc={cc}"])
            for name, cc in algorithms(Path(folder)).items()
        }
        # Measured in this process, because transfers to another process are not part of the engine.
        become_worker()
        runs: dict[str, list[float]] = {name: [] for name in scenarios}
        with progress("runs") as tell:
            for turn in range(rounds):
                for done, (name, scenario) in enumerate(scenarios.items()):
                    tell(turn * len(scenarios) + done, rounds * len(scenarios))
                    runs[name].append(acks_per_cpu_s(scenario))
    return {name: statistics.median(speeds) for name, speeds in runs.items()}


def search(count: int) -> tuple[int, int, float]:
    """Candidates that ran, those that were refused, and the seconds that all of them took."""
    path = ROOT / "examples/two-flows.toml"
    base = Scenario.from_file(path, ["duration=1 s", "warmup=0 s", "flows.test.start=0 s"])
    started, refused = time.perf_counter(), 0
    jobs: list[Job] = []
    for number in range(count):
        grow, cut = f"{1 + number % 97 / 10} / w", f"w * {0.3 + number % 101 / 200}"
        # One in ten has a mistake.
        line = f"grow = {grow}; cut = {cut}{' * nothing' * (number % 10 == 9)}"
        try:
            jobs += Study.of(base.with_algorithm(line), samples=False).jobs
        except AckclockError:
            refused += 1
    study = Study(tuple(jobs))
    with Store(None) as store:
        done = len(run_study(study, store, workers=2))
    return done, refused, time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--candidates", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    speeds = measure(arguments.rounds)
    done, refused, took_s = search(arguments.candidates)
    if arguments.json:
        json.dump(
            {"acks_per_cpu_s": speeds, "candidates": {"ran": done, "refused": refused, "s": took_s}},
            sys.stdout,
        )
        return
    table = Table(
        "algorithm", Column("M ACKs per CPU second", right=True), Column("of built-in %", right=True), "goal"
    )
    for name, speed in speeds.items():
        kind, goal = GOALS.get(name, ("", 0.0))
        told = {"": "", "built-in": f"{100 * goal:.0f} %", "acks": f"{goal / 1e6:g} M"}[kind]
        table.add_row(name, f"{speed / 1e6:.2f}", f"{100 * speed / speeds['built-in AIMD']:.0f}", told)
    show(table)
    print(
        f"{done} candidates of rule text ran, {refused} were refused, in {took_s:.1f} s (goal: 10000 in 60 s)"
    )


if __name__ == "__main__":
    main()
