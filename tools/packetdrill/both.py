"""Runs packetdrill's public scripts against the simulator and a kernel, and lists both results.

    git clone https://github.com/google/packetdrill
    python tools/packetdrill/both.py packetdrill/gtests/net/tcp
    python tools/packetdrill/both.py packetdrill/gtests/net/tcp --write

The last one writes docs/validation/packetdrill.md. It needs a kernel of `ackclock kernel build`.

The table contains the scripts that both take. The exit code is 1 if a result contradicts `both.toml`. A
script without a reason must pass in both. A script with a reason must fail in the backends and at the lines
that the reason names.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packetdrill import PAGE, line_of, renew

REASONS = Path(__file__).with_name("both.toml")
MARKS = ("<!-- both -->", "<!-- end of both -->")
BACKENDS = ("sim", "kernel")
#: Results of scripts that a backend takes.
TAKEN = ("passed", "failed")


@dataclass(frozen=True)
class Script:
    """A script and its line of failure in each backend, or none where it passes."""

    name: str
    lines: dict[str, int | None]
    messages: dict[str, str]

    def passes(self, backend: str) -> bool:
        """Return whether the script passes in a backend."""
        return self.lines[backend] is None


@dataclass(frozen=True)
class Reason:
    """The lines at which a script fails, by backend, and why."""

    reason: str
    sim: int | None = None
    kernel: int | None = None


def run(folder: Path) -> list[Script]:
    """Run all scripts of a folder, and return those that both take."""
    files = sorted(folder.rglob("*.pkt"))
    options = [word for backend in BACKENDS for word in ("--backend", backend)]
    command = [sys.executable, "-m", "ackclock", "exchange", "--json", *options, *map(str, files)]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout
    backends = json.loads(output)["backends"]
    found = []
    for path, *reports in zip(files, *(backends[name]["reports"] for name in BACKENDS), strict=True):
        if any(report["status"] not in TAKEN for report in reports):
            continue
        failed = {
            name: line_of(path, report["line"]) if report["status"] == "failed" else None
            for name, report in zip(BACKENDS, reports, strict=True)
        }
        messages = {name: report["message"] or "" for name, report in zip(BACKENDS, reports, strict=True)}
        name = str(path.relative_to(folder).with_suffix(""))
        found.append(Script(name, failed, messages))
    return found


def reasons() -> dict[str, Reason]:
    """Return the differences that are understood."""
    return {name: Reason(**entry) for name, entry in tomllib.loads(REASONS.read_text()).items()}


def complaints(scripts: Sequence[Script], known: dict[str, Reason]) -> list[str]:
    """Return the results that contradict the reasons."""
    found = []
    for script in scripts:
        reason = known.get(script.name, Reason(""))
        for backend in BACKENDS:
            expected = getattr(reason, backend)
            if (line := script.lines[backend]) != expected:
                found.append(
                    f"{script.name}: {backend} differs at line {line}, expected {expected}: "
                    f"{script.messages[backend]}"
                )
    return found


def table(scripts: Sequence[Script], known: dict[str, Reason]) -> str:
    """Return the results in Markdown: the counts, and the scripts that fail in a backend."""
    both = sum(all(map(script.passes, BACKENDS)) for script in scripts)
    counts = ", ".join(
        f"{sum(script.passes(backend) for script in scripts)} with `--backend {backend}`"
        for backend in BACKENDS
    )
    lines = [
        f"Both take {len(scripts)} scripts. Of these, {both} pass in both, {counts}.",
        "",
        "| script | simulator | kernel | reason |",
        "|---|---|---|---|",
    ]
    for script in scripts:
        reason = known.get(script.name)
        results = ("passed" if line is None else f"line {line}" for line in script.lines.values())
        lines.append(f"| `{script.name}` | {' | '.join(results)} | {reason.reason if reason else ''} |")
    return "\n".join(lines)


def main() -> int:
    """Run the scripts that the command line names."""
    parser = argparse.ArgumentParser(description="Runs packetdrill's public scripts against both backends.")
    parser.add_argument("folder", type=Path, help="the folder of the scripts")
    parser.add_argument("--write", action="store_true", help=f"renew the table of {PAGE.name}")
    arguments = parser.parse_args()
    scripts, known = run(arguments.folder), reasons()
    if not scripts:
        print(f"{arguments.folder}: no script that both take", file=sys.stderr)
        return 2
    text = table(scripts, known)
    if arguments.write:
        renew(MARKS, text)
    else:
        print(text)
    wrong = complaints(scripts, known)
    for complaint in wrong:
        print(complaint, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
