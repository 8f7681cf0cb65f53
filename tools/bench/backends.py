"""ackclock, ns-2 and ns-3 on a workload: the packets that each forwards, and the cost."""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).resolve().parents[1] / rival) for rival in ("ns2", "ns3"))

import ns2
import ns3_program
import process
from scenario import arguments
from workloads import Workload

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ACKCLOCK = shutil.which("ackclock", path=str(Path(sys.executable).parent)) or "ackclock"
#: Flows share so many pairs of hosts in ns-2 and ns-3, because setup time there grows with hosts squared.
HOSTS = 32
NS3_SOURCE = HERE / "ns3" / "dumbbell.cc"
NS3_PROGRAM = ROOT / "target" / "bench" / "ns3-dumbbell"
#: The arguments of `dumbbell.tcl` that `dumbbell.cc` also accepts.
NS3_KEYS = (
    *("flows", "duration", "rate", "delay", "queue", "limit", "access_rate", "access_delay"),
    *("start_max", "payload", "initial_window", "min_rto", "red_min", "red_max", "red_max_p", "red_weight"),
)
NS3_MODULES = ("applications", "internet", "point-to-point", "traffic-control", "network", "core")


@dataclass(frozen=True)
class Measurement:
    """A run of a workload."""

    simulated_s: float
    #: Packets that the bottleneck forwarded. Each also crossed its other links, and its ACK returned.
    packets: float
    #: CPU time of the events alone, without setup and output.
    cpu_s: float
    setup_cpu_s: float
    wall_s: float
    peak_mib: float
    events: float | None = None

    @property
    def packets_per_cpu_s(self) -> float:
        """The speed."""
        return self.packets / self.cpu_s


def in_ackclock(workload: Workload, topology: str, cpu_limit_s: int | None = None) -> Measurement:
    """Run it by the command. A run of one nanosecond measures the setup."""
    sets = workload.settings(topology)
    words = [f"--set={text}" for text in sets]
    usage = process.measure([ACKCLOCK, "run", str(workload.path), *words, "--json"], cpu_limit_s)
    run = json.loads(usage.stdout)
    empty = ("duration=1 ns", "flows.test.start=0 s", "sampling.interval=none")
    setup = process.measure([sys.executable, str(HERE / "one_run.py"), str(workload.path), *sets, *empty])
    return Measurement(
        simulated_s=run["duration_s"],
        packets=run["packets_forwarded"],
        cpu_s=run["engine_cpu_s"],
        setup_cpu_s=float(setup.stdout),
        wall_s=usage.wall_s,
        peak_mib=usage.peak_mib,
        events=run["events"],
    )


def in_ns2(workload: Workload, topology: str, cpu_limit_s: int | None = None) -> Measurement:
    """Run it in `dumbbell.tcl`, without the monitors of the comparison of results."""
    words = {**arguments(workload.scenario(topology, "ns-2")), "monitors": 0, "seed": ns2.seed(0)}
    if topology == "hosts":
        words["hosts"] = HOSTS
    return _measured(process.measure(ns2.command(words), cpu_limit_s), words)


def in_ns3(workload: Workload, topology: str, cpu_limit_s: int | None = None) -> Measurement:
    """Run it in `dumbbell.cc`, with the same arguments as ns-2."""
    words = arguments(workload.scenario(topology, "ns-3"))
    # ns-2 counts the packet that arrives at a drop-tail queue.
    words["limit"] = round(float(str(words["limit"]))) - (words["queue"] == "DropTail")
    options = [f"--{key}={words[key]}" for key in NS3_KEYS if key in words]
    usage = process.measure([str(NS3_PROGRAM), f"--hosts={HOSTS}", *options], cpu_limit_s)
    return _measured(usage, words)


def _measured(usage: process.Usage, words: dict[str, Any]) -> Measurement:
    """Return the measurement in the `key=value` line of another simulator."""
    left = {key: float(value) for key, value in (pair.split("=") for pair in usage.stdout.split())}
    return Measurement(
        simulated_s=float(words["duration"]),
        packets=left["departures"],
        cpu_s=left["run_cpu_s"],
        setup_cpu_s=left["setup_cpu_s"],
        wall_s=usage.wall_s,
        peak_mib=usage.peak_mib,
        events=left.get("events"),
    )


Backend = Callable[[Workload, str, int | None], Measurement]


def available() -> tuple[dict[str, Backend], list[str]]:
    """The backends that can run here, and a line for each that cannot."""
    backends: dict[str, Backend] = {"ackclock": in_ackclock}
    missing = []
    if shutil.which("ns"):
        backends["ns-2"] = in_ns2
    else:
        missing.append("ns-2 is left out: it is not installed (Debian: apt-get install ns2)")
    problem = ns3_program.compiled(NS3_SOURCE, NS3_PROGRAM, NS3_MODULES)
    if problem is None:
        backends["ns-3"] = in_ns3
    else:
        missing.append(f"ns-3 is left out: {problem}")
    return backends, missing
