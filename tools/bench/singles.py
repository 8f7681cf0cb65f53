"""Single figures of `speed.py`: start, initialisation, memory of idle flows, a whole reproduction."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import process
from backends import ACKCLOCK, HERE
from measured import Row, Single
from workloads import FOLDER

#: One flow for a second, written as a user would.
TRIVIAL = """\
schema = 1
duration = "1 s"
[topology]
kind = "dumbbell"
rate = "1 Mbit/s"
delay = "10 ms"
[[flows]]
cc = "aimd"
"""
#: Every flow starts in the last nanosecond, so that none does anything but exist.
IDLE = ("duration=1 s", "flows.test.start=999999999 ns", "sampling.interval=none")


def measure(rounds: int, quick: bool) -> Iterator[Single]:
    """Measure all that no workload shows."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "trivial.toml"
        file.write_text(TRIVIAL)
        command = [ACKCLOCK, "run", str(file)]
        walls = [process.measure(command).wall_s for _ in range(rounds)]
        yield Single("`ackclock run`, one flow for a second, the whole process", "s", {"ackclock": walls})
    for flows in (10_000,) if quick else (10_000, 100_000):
        sizes = [(_idle_mib(flows) - _idle_mib(1)) * 1024 / (flows - 1) for _ in range(rounds)]
        yield Single(f"memory of an idle flow, of {flows:,}", "KiB", {"ackclock": sizes})
    if not quick:
        with tempfile.TemporaryDirectory() as out:
            command = [ACKCLOCK, "reproduce", "reddy-linear", "--quick", "--workers=1", "--out", out]
            usage = process.measure(command)
        name = "W5: `ackclock reproduce reddy-linear --quick`, one worker"
        yield Single(name, "s", {"ackclock": [usage.wall_s]})


def _idle_mib(flows: int) -> float:
    """Return the largest size of a process with that many idle flows."""
    words = [str(FOLDER / "s.toml"), f"flows.test.count={flows}", *IDLE]
    return process.measure([sys.executable, str(HERE / "one_run.py"), *words]).peak_mib


def derived(rows: list[Row]) -> Iterator[Single]:
    """Figures that follow from the workloads: initialisation of 10,000 flows, and the cost of many flows."""
    found = {(row.workload, row.topology): row for row in rows}
    few, many = found.get(("S10", "routers")), found.get(("S10000", "routers"))
    if few is None or many is None:
        return
    setups = {name: many.values(name, lambda run: run.setup_cpu_s) for name in many.runs}
    yield Single("initialisation of 10,000 flows", "CPU s", setups)
    dearer = {}
    for name in many.runs:
        pairs = zip(few.speeds(name), many.speeds(name), strict=False)
        dearer[name] = [one / other for one, other in pairs]
    yield Single("cost of a packet at 10,000 flows over that at 10", "1", dearer)
