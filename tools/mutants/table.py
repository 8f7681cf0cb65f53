"""Prints the number of mutants of each module that the tests notice, and the mutants that they miss.

    python tools/mutants/table.py [--least PERCENT] [FOLDER]

FOLDER contains the results of `two_passes.py`, `mutants.first` and `mutants.second`. Its default is `target`.
With `--least`, the exit code is 1 if the tests notice a smaller share.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = "crates/ackclock/src/"


def names(folder: Path, *outcomes: str) -> set[str]:
    """Return the mutants with one of these outcomes: `FILE:LINE:COLUMN: CHANGE`."""
    paths = [folder / f"{outcome}.txt" for outcome in outcomes]
    return {line for path in paths if path.exists() for line in path.read_text(encoding="utf-8").splitlines()}


def module(name: str) -> str:
    """The module that a mutant is in."""
    path = name.split(":")[0].removeprefix(SOURCES).removesuffix(".rs").removesuffix("/mod")
    return path.replace("/", "::")


def row(title: str, killed: int, viable: int) -> str:
    return f"| {title} | {viable} | {killed} | {killed / viable:.1%} |"


def main() -> int:
    """Print the table and the list."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "target")
    parser.add_argument("--least", type=float, default=0.0, metavar="PERCENT")
    options = parser.parse_args()
    folder: Path = options.folder
    passes = [folder / f"mutants.{which}" / "mutants.out" for which in ("first", "second")]
    noticed = names(passes[0], "caught", "timeout") | names(passes[1], "caught", "timeout")
    # The second pass retries the survivors of the first.
    missed = names(passes[0], "missed") - noticed
    killed, survived = Counter(map(module, noticed)), Counter(map(module, missed))
    print("| module | viable | killed | share |\n|---|---|---|---|")
    for title in sorted(killed | survived):
        print(row(f"`{title}`", killed[title], killed[title] + survived[title]))
    viable = len(noticed) + len(missed)
    if not viable:
        sys.exit(f"table.py: no mutants in {folder}")
    print(row("all", len(noticed), viable), end="\n\n")
    print(*sorted(missed), sep="\n")
    return 1 if 100 * len(noticed) < options.least * viable else 0


if __name__ == "__main__":
    sys.exit(main())
