"""Runs `dumbbell.tcl` in ns-2 and reads the line it prints."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

SCRIPT = Path(__file__).with_name("dumbbell.tcl")


class Ns2Error(Exception):
    """ns-2 is missing, or ended with an error."""


def require() -> str:
    """The path of ns-2's command.

    Raises:
        Ns2Error: if it is not installed; the message says what to install.
    """
    command = shutil.which("ns")
    if command is None:
        raise Ns2Error("ns-2 is not installed; on Debian and Ubuntu: apt-get install ns2")
    return command


def run(arguments: Mapping[str, object]) -> dict[str, float]:
    """Runs one simulation; `arguments` are keys of `dumbbell.tcl`. Returns its measures, without those per flow."""
    words = [str(word) for pair in arguments.items() for word in pair]
    done = subprocess.run([require(), str(SCRIPT), *words], capture_output=True, text=True, check=False)
    if done.returncode != 0 or "goodput_Bps=" not in done.stdout:
        raise Ns2Error(f"ns {SCRIPT.name} {' '.join(words)}: exit code {done.returncode}\n{done.stderr}{done.stdout}")
    return {key: float(value) for key, value in re.findall(r"(\w+)=([^\s,]+)(?=\s)", done.stdout)}
