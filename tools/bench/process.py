"""Runs a command within a budget and reports its cost.

The largest size of a process begins with the size of its parent. Therefore this file runs once more in
between, as an empty Python, which is smaller than every measured process.
"""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass


class OverBudget(Exception):
    """The command used up its CPU seconds."""


class Failed(Exception):
    """The command ended with an error."""


@dataclass(frozen=True)
class Usage:
    """The output of a process, and its cost."""

    stdout: str
    cpu_s: float
    wall_s: float
    peak_mib: float


def measure(command: Sequence[str], cpu_limit_s: int | None = None) -> Usage:
    """Run a command to its end.

    Raises `OverBudget`, or `Failed` with the last line that it had to say.
    """
    report, write = os.pipe()
    with os.fdopen(report) as numbers:
        between = [sys.executable, "-I", "-S", __file__, str(write), str(cpu_limit_s or 0)]
        done = subprocess.run([*between, *command], pass_fds=[write], capture_output=True, text=True)
        os.close(write)
        status, cpu_s, wall_s, peak_mib = map(float, numbers.read().split())
    if status == -signal.SIGXCPU:
        raise OverBudget(f"more than {cpu_limit_s} s of CPU time")
    if status:
        last = (done.stderr.strip() or done.stdout.strip() or "without a word").splitlines()[-1]
        raise Failed(f"{command[0]}: status {status:.0f}: {last}")
    return Usage(done.stdout, cpu_s, wall_s, peak_mib)


def in_between(report: int, cpu_limit_s: int, command: list[str]) -> None:
    """Start the command, wait, and write down status, CPU seconds, wall seconds and largest size."""
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.close(report)
        if cpu_limit_s:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit_s, cpu_limit_s + 1))
        os.execvp(command[0], command)
    _, status, usage = os.wait4(child, 0)
    wall_s = time.perf_counter() - started
    numbers = (
        os.waitstatus_to_exitcode(status),
        usage.ru_utime + usage.ru_stime,
        wall_s,
        usage.ru_maxrss / 1024,
    )
    os.write(report, " ".join(map(str, numbers)).encode())


if __name__ == "__main__":
    in_between(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
