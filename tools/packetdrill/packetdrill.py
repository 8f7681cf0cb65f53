"""Runs packetdrill's public scripts that concern a sender, and lists those that pass.

    git clone https://github.com/google/packetdrill
    python tools/packetdrill/packetdrill.py packetdrill/gtests/net/tcp
    python tools/packetdrill/packetdrill.py packetdrill/gtests/net/tcp --write

The last one writes docs/validation/packetdrill.md.

It downloads nothing. The scripts are under the GPL and not part of this project. It also runs other folders,
such as `tools/testing/selftests/net/packetdrill` of Linux. There it runs the scripts whose topics are listed
below, with names such as `tcp_sack_NAME.pkt`.

The exit code is 1 if a result contradicts `reasons.toml`. A script without a reason must pass. A script with
a reason must fail at the stated line.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: Those that concern the sender.
TOPICS = (
    "cubic",
    "cwnd_moderation",
    "ecn",
    "fast_recovery",
    "fast_retransmit",
    "limited_transmit",
    "sack",
    "slow_start",
)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "validation" / "packetdrill.md"
REASONS = Path(__file__).with_name("reasons.toml")
MARKS = ("<!-- scripts -->", "<!-- end of scripts -->")


@dataclass(frozen=True)
class Result:
    """A script, by topic and name: `passed`, `failed`, `skipped` or `unreadable`, and where."""

    name: str
    status: str
    line: int | None
    message: str


@dataclass(frozen=True)
class Reason:
    """The reason why a script differs at a line, and the deciding rule."""

    line: int
    reason: str
    decides: str


def scripts(folder: Path) -> dict[str, Path]:
    """The scripts of a folder that concern a sender, by `topic/name`."""
    found: dict[str, Path] = {}
    for topic in TOPICS:
        found |= {f"{topic}/{path.stem}": path for path in sorted((folder / topic).glob("*.pkt"))}
        prefix = f"tcp_{topic}_"
        flat = sorted(folder.glob(f"{prefix}*.pkt"))
        found |= {f"{topic}/{path.stem.removeprefix(prefix)}": path for path in flat}
    return found


def run(found: dict[str, Path]) -> list[Result]:
    """Runs scripts with `ackclock exchange`."""
    command = [sys.executable, "-m", "ackclock", "exchange", "--json", *map(str, found.values())]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    reports = json.loads(output)["reports"]
    return [
        Result(name, report["status"], line_of(path, report["line"]), report["message"] or "")
        for (name, path), report in zip(found.items(), reports, strict=True)
    ]


def line_of(path: Path, line: int | None) -> int | None:
    """The number of a line, not counting the one with a licence that Linux puts before google's scripts."""
    return line and line - path.read_text().startswith("// SPDX-License-Identifier:")


def reasons() -> dict[str, Reason]:
    """The differences that are understood."""
    return {name: Reason(**entry) for name, entry in tomllib.loads(REASONS.read_text()).items()}


def complaints(results: Sequence[Result], known: dict[str, Reason]) -> list[str]:
    """Return the results that contradict `reasons.toml`."""
    found = []
    for result in results:
        reason = known.get(result.name)
        if result.status == "passed":
            if reason:
                found.append(f"{result.name}: passes, and {REASONS.name} says why it does not")
        elif reason is None:
            found.append(
                f"{result.name}: {result.status}, without a reason in {REASONS.name}: {result.message}"
            )
        elif reason.line != result.line:
            found.append(f"{result.name}: differs at line {result.line}, not {reason.line}: {result.message}")
    return found


def table(results: Sequence[Result], known: dict[str, Reason]) -> str:
    """The results in Markdown."""
    passed = sum(result.status == "passed" for result in results)
    lines = [f"{passed} of {len(results)} pass.", "", "| script | result | decided by |", "|---|---|---|"]
    for result in results:
        reason = known.get(result.name)
        if result.status == "passed" or reason is None:
            lines.append(f"| `{result.name}` | {result.status} | |")
        else:
            lines.append(f"| `{result.name}` | line {reason.line}: {reason.reason} | {reason.decides} |")
    return "\n".join(lines)


def renew(marks: tuple[str, str], text: str) -> None:
    """Renew the part of the page between two marks."""
    before, rest = PAGE.read_text().split(marks[0])
    after = rest.split(marks[1])[1]
    PAGE.write_text(f"{before}{marks[0]}\n{text}\n{marks[1]}{after}")


def main() -> int:
    """Run the scripts that the command line names."""
    parser = argparse.ArgumentParser(description="Runs packetdrill's public scripts that concern a sender.")
    parser.add_argument(
        "folder", type=Path, help="where the topics are, or scripts with names such as tcp_sack_NAME.pkt"
    )
    parser.add_argument("--write", action="store_true", help=f"renew the table of {PAGE.name}")
    arguments = parser.parse_args()
    found = scripts(arguments.folder)
    if not found:
        print(f"{arguments.folder}: no scripts of {', '.join(TOPICS)} in this folder", file=sys.stderr)
        return 2
    results, known = run(found), reasons()
    text = table(results, known)
    if arguments.write:
        renew(MARKS, text)
    else:
        print(text)
    wrong = complaints(results, known)
    for complaint in wrong:
        print(complaint, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
