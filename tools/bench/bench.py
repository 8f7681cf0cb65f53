"""How many packets the engine forwards in a second of CPU time, with ns-2 beside it.

    python tools/bench/bench.py [SCENARIO]... [--runs N] [--json]

A packet counts once, when the bottleneck forwards it; its other links, its ACK and the samples are part of
the work. ackclock's time is that of the engine's thread (`engine_cpu_s` of `ackclock run --json`), ns-2's the
user time of the process, without tracing and with its start, below 0.1 s. Runs alternate, so that both meet
the same machine; the figures are medians. A scenario without access links has its agents on the routers in
ns-2, too, which is ns-2's best case. ns-2 is left out where it is not installed.
"""

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "ns2"))

import ns2
from ackclock import _core
from scenario import arguments

ROOT = Path(__file__).resolve().parents[2]


def in_ackclock(scenario: Path) -> float:
    """Packets per engine CPU second of one run."""
    command = shutil.which("ackclock", path=str(Path(sys.executable).parent)) or "ackclock"
    done = subprocess.run([command, "run", str(scenario), "--json"], check=True, capture_output=True)
    run = json.loads(done.stdout)
    return float(run["packets_forwarded"] / run["engine_cpu_s"])


def in_ns2(scenario: Path) -> float:
    """Packets per user CPU second of one run."""
    words = arguments(_core.Scenario.from_toml(scenario.read_text(), str(scenario)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = ns2.run({**words, "warmup": 0, "seed": ns2.seed(0)})
    return run["departures"] / (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = [ROOT / "bench" / "w1.toml", ROOT / "bench" / "w1-access.toml"]
    parser.add_argument("scenarios", metavar="SCENARIO", type=Path, nargs="*", default=default)
    parser.add_argument("--runs", type=int, default=5, help="runs of each (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    backends = {"ackclock": in_ackclock}
    if shutil.which("ns"):
        backends["ns-2"] = in_ns2
    else:
        print("ns-2 is not installed: left out", file=sys.stderr)
    report = {}
    for scenario in options.scenarios:
        speeds: dict[str, list[float]] = {name: [] for name in backends}
        for _ in range(options.runs):
            for name, run in backends.items():
                speeds[name].append(run(scenario))
        report[scenario.stem] = speeds
        if not options.json:
            show(scenario.stem, speeds)
    if options.json:
        print(json.dumps({"packets_per_cpu_s": report}))


def show(scenario: str, speeds: dict[str, list[float]]) -> None:
    """One line per backend, and the ratio of the medians."""
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    for name, values in speeds.items():
        spread = f"{min(values) / 1e6:.2f} to {max(values) / 1e6:.2f}"
        print(f"{scenario:<10} {name:<9}{medians[name] / 1e6:7.2f} M packets per CPU second ({spread})")
    if "ns-2" in medians:
        print(f"{scenario:<10} ackclock is {medians['ackclock'] / medians['ns-2']:.1f} times as fast as ns-2")


if __name__ == "__main__":
    main()
