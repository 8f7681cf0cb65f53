"""Kills emulations at random moments, and searches for leftovers.

    python tools/kernel/kills.py                200 runs, five minutes; needs root
    python tools/kernel/kills.py --runs 5

Each run starts a program that sleeps for a minute, and the program starts a child. SIGKILL arrives at a
random moment within two seconds after the start of the command. In the end, no new network namespace,
device, process or congestion control may exist.

The exit code is 1 if anything is left, and 77 if a requirement is missing.
"""

import argparse
import os
import random
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from ackclock import _core, kernel

SCENARIO = """\
schema = 1
duration = "30 s"
[topology]
kind = "dumbbell"
rate = "10 Mbit/s"
delay = "10 ms"
[[flows]]
name = "test"
cc = "cubic"
[[flows]]
name = "other"
cc = "reno"
[[flows]]
name = "program"
cc = "new-aimd"
"""
#: Where the kernel takes no programs.
WITHOUT_PROGRAM = "flows.program.cc=reno"
#: How long the kernel may take to take a namespace down.
GRACE_S = 10.0
#: This marks the command line of a run's program, and the environment of all processes of a run.
MARK = "60.0625"
NAME = "ACKCLOCK_KILLED"


def left() -> set[str]:
    """Return network namespaces of processes of runs, devices, congestion controls, and programs of runs."""
    known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text(encoding="ascii")
    found = {f"congestion control {name}" for name in known.split()}
    found |= {f"device {entry.name}" for entry in Path("/sys/class/net").iterdir()}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            # Other programs, such as browsers, also make namespaces.
            if f"{NAME}={MARK}".encode() in (process / "environ").read_bytes():
                found.add(f"namespace {(process / 'ns/net').readlink()}")
            if MARK.encode() in (process / "cmdline").read_bytes():
                found.add(f"process {process.name}")
        except OSError:
            continue
    return found


def main() -> int:
    """Kill the runs, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    brief = ["duration=1 ms", "warmup=0 s"]
    try:
        _core.Scenario.from_toml(SCENARIO, "cell.toml", [*brief, WITHOUT_PROGRAM]).emulate()
    except _core.BackendError as error:
        print(f"no emulation here: {error}", file=sys.stderr)
        return 77
    options: list[str] = []
    try:
        _core.Scenario.from_toml(SCENARIO, "cell.toml", brief).emulate(objects=kernel.folder())
    except _core.BackendError as error:
        print(f"without programs for the kernel: {error}", file=sys.stderr)
        options = ["--set", WITHOUT_PROGRAM]
    before, moments = left(), random.Random(1)
    command = Path(sysconfig.get_path("scripts")) / "ackclock"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cell.toml"
        file.write_text(SCENARIO, encoding="utf-8")
        program = f"sleep {MARK} & sleep {MARK}"
        for _ in range(runs):
            with subprocess.Popen(
                [command, "run", file, "--exec", program, *options],
                env={**os.environ, NAME: MARK},
                stderr=subprocess.DEVNULL,
            ) as run:
                time.sleep(moments.uniform(0, 2))
                run.kill()
    deadline = time.monotonic() + GRACE_S
    while (remains := left() - before) and time.monotonic() < deadline:
        time.sleep(0.1)
    print(f"{runs} runs killed, {len(remains)} things left")
    for thing in sorted(remains):
        print(f"  {thing}")
    return 1 if remains else 0


if __name__ == "__main__":
    sys.exit(main())
