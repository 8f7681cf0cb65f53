"""Runs `dumbbell.tcl` in ns-2 and reads the line it prints."""

import random
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

SCRIPT = Path(__file__).with_name("dumbbell.tcl")
# What `dumbbell.tcl` prints of the process and not of the simulation: CPU seconds.
COSTS = ("setup_cpu_s", "run_cpu_s")


class Ns2Error(Exception):
    """ns-2 is missing, or ended with an error."""


def require() -> str:
    """The path of ns-2's command.

    Raises:
        Ns2Error: if it is not installed. The message names the package.
    """
    command = shutil.which("ns")
    if command is None:
        raise Ns2Error("ns-2 is not installed; on Debian and Ubuntu: apt-get install ns2")
    return command


def seed(replicate: int) -> int:
    """ns-2's seed of a replicate, spread over its range.

    ns-2's generator is linear in its seed. Seeds 1, 2, 3 draw u, 2u, 3u modulo 1 first.
    """
    return random.Random(replicate).randrange(1, 2**31 - 1)


def command(arguments: Mapping[str, object]) -> list[str]:
    """The words that run `dumbbell.tcl`."""
    return [require(), str(SCRIPT), *(str(word) for pair in arguments.items() for word in pair)]


def run(arguments: Mapping[str, object]) -> dict[str, float]:
    """Run one simulation and return its measures. Measures per flow give the least and the most.

    `arguments` are keys of `dumbbell.tcl`. CPU times are left out.
    """
    words = command(arguments)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0 or "goodput_Bps=" not in done.stdout:
        raise Ns2Error(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}{done.stdout}")
    # An agent may say what it was told, too.
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("goodput_Bps="))
    measures = dict(pair.split("=") for pair in line.split())
    flows = [float(goodput) for goodput in measures.pop("flows_Bps").split(",")]
    return {
        **{key: float(value) for key, value in measures.items() if key not in COSTS},
        "least_Bps": min(flows),
        "most_Bps": max(flows),
    }
