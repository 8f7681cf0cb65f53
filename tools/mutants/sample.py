"""Changes the core in places that cargo-mutants chooses, and counts the changes that tests detect.

    python tools/mutants/sample.py                every hundredth of ten thousand changes, two hours
    python tools/mutants/sample.py --shard 7/100  others: those with number 7 modulo 100
    python tools/mutants/sample.py --least 90     exit code 1 if tests detect less than 90 %

`.cargo/mutants.toml` lists the sources. The unit tests of the changed module run first. If they pass, the
contract suites, small networks and exchange scripts run. The changes are made in a copy in `target/dozen`.
A change that does not compile does not count.
"""

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dozen

#: Integration tests that run if the unit tests detect nothing.
SLOW = ("contract", "network", "exchange", "ecn", "queues", "stepping", "traces")
#: Seconds after which a test counts as failed. A change can make a loop endless.
LIMIT_S = 300
UNVIABLE, KILLED, SURVIVED = "does not compile", "killed", "SURVIVES"


@dataclass(frozen=True)
class Place:
    """A change: the text between two places of a file has a replacement. Lines and columns begin at 1."""

    file: str
    name: str
    start: tuple[int, int]
    end: tuple[int, int]
    replacement: str

    def applied(self, source: str) -> str:
        """Return the file with the change."""
        lines = source.splitlines(keepends=True)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        begin, end = (starts[line - 1] + column - 1 for line, column in (self.start, self.end))
        return f"{source[:begin]}{self.replacement}{source[end:]}"

    @property
    def tests(self) -> str:
        """The filter of the unit tests of the changed module."""
        parts = self.file.removeprefix(f"{dozen.SOURCES}/").removesuffix(".rs").split("/")
        return "::".join(part for part in parts[:2] if part != "mod") + "::"


def places(shard: str) -> list[Place]:
    """Return the changes of a shard, in a fixed order."""
    words = ["cargo", "mutants", "--list", "--json", "--sharding=round-robin", f"--shard={shard}"]
    listed = subprocess.run(words, cwd=dozen.ROOT, capture_output=True, encoding="utf-8", check=False)
    if listed.returncode != 0:
        raise dozen.Unusable(listed.stderr.strip())
    return [_place(each) for each in json.loads(listed.stdout)]


def _place(listed: dict[str, Any]) -> Place:
    start, end = (
        (listed["span"][which]["line"], listed["span"][which]["column"]) for which in ("start", "end")
    )
    return Place(listed["file"], listed["name"], start, end, listed["replacement"])


def outcome(place: Place) -> str:
    """Make a change in the copy, run the tests, and undo the change."""
    path = dozen.FOLDER / place.file
    source = path.read_text(encoding="utf-8")
    path.write_text(place.applied(source), encoding="utf-8")
    try:
        if dozen.cargo(dozen.FOLDER, "--lib", "--no-run").returncode != 0:
            return UNVIABLE
        if _fails("--lib", "--", place.tests) or _fails("--test=integration", "--", *SLOW):
            return KILLED
        return SURVIVED
    finally:
        path.write_text(source, encoding="utf-8")


def _fails(*words: str) -> bool:
    try:
        return dozen.cargo(dozen.FOLDER, *words, limit_s=LIMIT_S).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def interval(killed: int, viable: int) -> tuple[float, float]:
    """Return the 95 % interval of the detected share in percent (Wilson 1927)."""
    share, z2 = killed / viable, 1.96**2
    middle = (share + z2 / (2 * viable)) / (1 + z2 / viable)
    half = math.sqrt(z2 * share * (1 - share) / viable + z2**2 / (4 * viable**2)) / (1 + z2 / viable)
    return 100 * (middle - half), 100 * (middle + half)


def summary(outcomes: Sequence[str]) -> str:
    """Return the counts, and the detected share with its interval."""
    killed, survived = outcomes.count(KILLED), outcomes.count(SURVIVED)
    low, high = interval(killed, killed + survived)
    counts = f"{killed + survived} mutants: {killed} killed, {survived} survive"
    rest = f"{outcomes.count(UNVIABLE)} more do not compile"
    share = 100 * killed / (killed + survived)
    return f"{counts}, {rest}. Detected: {share:.1f} % (95 % interval {low:.1f} to {high:.1f} %)"


def main() -> int:
    """Try all changes of a shard, and print a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--shard", default="0/100", metavar="I/N", help="changes with number I modulo N")
    parser.add_argument("--least", type=float, default=0.0, metavar="PERCENT")
    options = parser.parse_args()
    chosen = places(options.shard)
    dozen.copy(dozen.FOLDER)
    outcomes = []
    for place in chosen:
        outcomes.append(outcome(place))
        print(f"{outcomes[-1]}: {place.name}", flush=True)
    if not outcomes or set(outcomes) == {UNVIABLE}:
        raise dozen.Unusable(f"no change of the shard {options.shard} compiles")
    print(summary(outcomes))
    viable = len(outcomes) - outcomes.count(UNVIABLE)
    return 1 if 100 * outcomes.count(KILLED) < options.least * viable else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (dozen.Unusable, OSError) as error:
        sys.exit(f"sample.py: {error}")
